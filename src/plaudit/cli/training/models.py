"""Tasks and trained models: `plaudit tasks`, `eval`, `sample` and `merge`."""

import inspect
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from rich.table import Column, Table
from rich.text import Text
from typer import Argument, Option

from plaudit import training
from plaudit.cli import options
from plaudit.cli.console import print_message
from plaudit.contract.function import RewardLike
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings, MissingPackage
from plaudit.report.coverage import format_mean
from plaudit.report.formatting import bare_table, escape_controls, shorten
from plaudit.rollouts import RolloutsWriter, ScoredRollout
from plaudit.trajectory import Trajectory

MAX_VALUE = 300


def tasks(
    output: options.Output,
    spec: Annotated[
        str | None,
        Argument(metavar="[TASK]", help="sort_digits, reasoning_gym:NAME, my_task.py:NAME, with (options=…)."),
    ] = None,
    count: Annotated[int, options.count("How many prompts to show.")] = 3,
) -> None:
    """List the tasks that can be named, or show what one of them asks, how hard that is, and what is right."""
    if spec is None:
        _list(output)
    else:
        _show(spec, count, output)


def _list(output: options.Output) -> None:
    summaries = {name: (inspect.getdoc(make) or "").partition("\n")[0] for name, make in training.TASKS.items()}
    missing: list[str] = []
    try:
        summaries |= {f"reasoning_gym:{name}": text for name, text in training.reasoning_task_names().items()}
    except MissingPackage as error:
        missing.append(str(error))
    headers = (
        Column("name", style="bold", no_wrap=True, min_width=max(map(len, summaries))),
        Column("what it asks", no_wrap=True, overflow="ellipsis"),
    )
    also = "\nAlso my_task.py:NAME. `plaudit tasks NAME` shows one of them."
    plain = [{"name": name, "summary": summary} for name, summary in summaries.items()]
    output.show(plain, bare_table(*headers, rows=summaries.items()), also)
    output.note(*missing)


def _show(spec: str, count: int, output: options.Output) -> None:
    task = training.find_task(spec)
    rows = [*task.prompts, *task.held_out]
    levels = training.Levels.of_usable(rows)
    per_level = {name: sum(levels.label(row) == name for row in rows) for name in levels.all}
    examples = [_plain(row, task) for row in _pick(task, levels, count)]
    plain = {
        "name": task.name, "prompts": len(task.prompts), "held_out": len(task.held_out), "reward": str(task.reward),
        "max_new_tokens": task.max_new_tokens, "difficulty": per_level, "notes": list(task.notes), "examples": examples,
    }  # fmt: skip
    facts = [
        ("prompts", f"{len(task.prompts):,} to train on, {len(task.held_out):,} held out"),
        ("reward", str(task.reward)),
        *(
            [("difficulty", ", ".join(f"{name}: {number:,}" for name, number in per_level.items()))]
            if per_level
            else []
        ),
        *(("note", note) for note in task.notes),
        *(
            line
            for example in examples
            for line in [("", ""), *((name, shorten(str(value).strip(), MAX_VALUE)) for name, value in example.items())]
        ),
    ]
    output.show(plain, Text(task.name, style="bold"), bare_table(Column(style="bold", no_wrap=True), "", rows=facts))


def _pick(task: "training.Task", levels: "training.Levels", count: int) -> list[Trajectory]:
    """Prompts to show: of each level in turn, from easy to hard."""
    names: list[str | None] = [*levels.all] or [None]
    by_level = [[row for row in task.prompts if levels.label(row) == name] for name in names]
    deepest = max(map(len, by_level), default=0)
    turns = (rows[turn] for turn in range(min(deepest, count)) for rows in by_level if turn < len(rows))
    return [row for row, _ in zip(turns, range(count), strict=False)]


def _plain(row: Trajectory, task: "training.Task") -> dict[str, Any]:
    values = {"prompt": row.prompt_text, "difficulty": row.columns.get("difficulty"), "right": task.respond(row)}
    return {name: value for name, value in values.items() if value is not None}


FIGURES = {
    "greedy": "greedy score", "greedy_reward": "greedy reward", "score": "mean score", "reward": "mean reward",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _PromptSet:
    """Prompts, and what judges the responses to them; a built-in task's own reward is quick and needs no deadline."""

    prompts: "training.Prompts"
    reward: RewardLike | str
    deadline_s: float | None


class PromptSets(options.Rows):
    """The prompts that a model is evaluated on: tasks, a data file, or the held-out prompts of the run."""

    tasks: Annotated[
        list[str] | None,
        Option("--task", metavar="TASK", help="A task of `plaudit tasks`; several are shown one by one."),
    ] = None
    data: Annotated[
        Path | None, options.file_option("--data", "Prompts with ground truths, as `data.path` takes them.")
    ] = None
    reward: Annotated[
        str | None, Option("--reward", metavar="REWARD", help="The reward that judges; a task has its own.")
    ] = None

    def find(self, model: str) -> list[_PromptSet]:
        """The prompts with what judges the responses to them."""
        if self.tasks and self.data is not None:
            raise InvalidSettings("--task and --data both name prompts: give one of them, not both")
        if self.data is not None:
            if self.reward is None:
                raise InvalidSettings(f"{self.data} has prompts but no reward: add --reward REWARD")
            columns = options.column_mapping(self.columns)
            prompts = training.read_prompts(self.data, columns=columns, limit=self.limit)
            return [_PromptSet(prompts, self.reward, options.DEFAULT_DEADLINE_S)]
        if self.tasks:
            return [self._of_task(training.find_task(name)) for name in self.tasks]
        run_task = training.load_run_task(model, self.reward)
        if run_task is None:
            known = ", ".join(training.TASKS)
            raise InvalidSettings(
                f"name the prompts: --task NAME ({known}, …: see `plaudit tasks`), or --data FILE with --reward REWARD"
            )
        if not run_task.held_out:
            raise InvalidSettings(
                f"the run in {model} held no prompts out; name the prompts: --data FILE with --reward REWARD"
            )
        return [self._of_task(run_task)]

    def _of_task(self, task: "training.Task") -> _PromptSet:
        rows = (msgspec.structs.replace(row, task=row.task or task.name) for row in task.held_out[: self.limit])
        judge = task.reward if self.reward is None else self.reward
        if judge is None:
            raise InvalidSettings(
                f"{task.name} is judged by an agent's environment; name a reward for it: --reward REWARD"
            )
        is_quick = self.reward is None and task.runs_inline
        return _PromptSet(training.Prompts(tuple(rows)), judge, None if is_quick else options.DEFAULT_DEADLINE_S)


def evaluate(
    model: options.Model,
    server: options.ServedModel,
    output: options.Output,
    sets: PromptSets,
    count: Annotated[int, options.count("How many responses to each prompt.")] = 8,
    pass_at: Annotated[
        list[int] | None, Option("--pass-at", "-k", metavar="K", help="pass@K; may be given several times.")
    ] = None,
    temperature: options.Temperature = 1.0,
    out: Annotated[Path | None, options.out_file("Keep every scored sample as a rollouts file.")] = None,
) -> int:
    """Evaluate a model: mean score, pass@k and the likeliest response, with 95 % intervals over the prompts."""
    prompt_sets = sets.find(model)
    settings = training.EvalConfig(
        samples_per_prompt=count, pass_at=tuple(pass_at or [1]), temperature=temperature, greedy=temperature > 0
    )
    trained = training.open_model(model, model=server.served, api_key_env=server.api_key_env)
    total = sum(len(prompt_set.prompts) for prompt_set in prompt_sets) * (count + settings.greedy)
    evaluated: list[training.EvaluatedTask] = []
    with ExitStack() as stack:
        tick = stack.enter_context(output.progress("evaluating", total))
        writer = None if out is None else stack.enter_context(RolloutsWriter(out))

        def keep(rollout: ScoredRollout) -> None:
            tick(rollout.output)
            if writer is not None:
                writer.write(rollout)

        for prompt_set in prompt_sets:
            backend = "inline" if prompt_set.deadline_s is None else "processes"
            with Scorer(prompt_set.reward, backend=backend, deadline_s=prompt_set.deadline_s) as scorer:
                options.check_truth(scorer.reward, prompt_set.prompts)
                evaluated += training.evaluate_model(trained, prompt_set.prompts, scorer, settings, keep)
    output.show([task.to_dict() for task in evaluated], _table(evaluated))
    if out is not None:
        output.note(f"every sample is in {out}")
    return 0


def _table(evaluated: "list[training.EvaluatedTask]") -> Table:
    rows: list[tuple[str, ...]] = []
    for task in evaluated:
        names = sorted(task.figures, key=lambda name: (name.endswith("reward"), name))
        for index, name in enumerate(names):
            figure = task.figures[name]
            interval = "unknown" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"
            first = ((task.task or "data"), f"{task.prompts:,}") if index == 0 else ("", "")
            rows.append((first[0], FIGURES.get(name, name), format_mean(figure.covered_mean), interval, first[1]))
        if task.unscored:
            rows.append(("", "not scored", f"{task.unscored:,} of {task.samples:,} samples", "", ""))
    return bare_table("task", "figure", "value", "95 % interval", "prompts", rows=rows)


def sample(
    model: options.Model,
    prompts: Annotated[list[str], Argument(metavar="PROMPT...", help="One or more prompts.")],
    server: options.ServedModel,
    output: options.Output,
    count: Annotated[int, options.count("How many responses to each prompt.")] = 1,
    temperature: options.Temperature = 0.0,
    max_new_tokens: options.MaxNewTokens = None,
    seed: options.Seed = 0,
) -> None:
    """Sample responses from a trained model; prompts go through the template that the run was trained with."""
    if count > 1 and temperature == 0:
        raise InvalidSettings(f"--count {count} at temperature 0 are {count} times the same; add --temperature 1")
    trained = training.open_model(model, model=server.served, api_key_env=server.api_key_env)
    settings = training.SamplingSettings(max_new_tokens or trained.max_new_tokens, temperature=temperature, seed=seed)
    answers = [{"prompt": prompt, "responses": trained.respond(prompt, count, settings=settings)} for prompt in prompts]
    lines: list[Text] = []
    for prompt, entry in zip(prompts, answers, strict=True):
        lines += [Text(escape_controls(prompt, keep="\n\t"), style="bold")] if len(prompts) > 1 else []
        lines += [Text(escape_controls(response, keep="\n\t")) for response in entry["responses"]]
    output.show(answers, *lines)


def merge(
    model: Annotated[str, Argument(metavar="RUN|ADAPTER", help="A run trained with LoRA, or an adapter folder.")],
    out: Annotated[Path, options.out_folder("Where to write the merged model.")],
) -> int:
    """Write the model of a LoRA run with its adapters built in."""
    training.merge_model(model, out)
    print_message(f'wrote {out}; transformers loads it: AutoModelForCausalLM.from_pretrained("{out}")')
    return 0
