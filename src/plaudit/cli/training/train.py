"""Training runs: `plaudit train`, `launch` for the trainers of others, `hack` with rewards that have a planted bug."""

import dataclasses
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text
from typer import Argument, Option

from plaudit import hacks, launching, training
from plaudit.cli import options
from plaudit.cli.app import INTERRUPTED, NOT_PASSED, SIGNAL
from plaudit.cli.console import StepProgress, print_message, print_text
from plaudit.errors import InvalidSettings, TrainingError, did_you_mean
from plaudit.hacks.hack import TRUE_SCORE
from plaudit.launching.openrlhf_flags import ForeignFlags, read_openrlhf_flags
from plaudit.launching.ray_jobs import Job, plaudit_command, submit_job
from plaudit.report.coverage import CoveredMean, format_mean
from plaudit.report.formatting import bare_table, count_noun
from plaudit.training.config.keys import flatten, read_config_file, write_value
from plaudit.training.config.reading import KEYS, document_config, load_config
from plaudit.training.config.schema import RunConfig
from plaudit.training.engine import Outcome, Progress
from plaudit.training.run_folder import RunFolder


def launch(
    trainer: Annotated[str, Argument(metavar="TRAINER", help="openrlhf, verl or trl.")],
    output: options.Output,
    arguments: Annotated[
        list[str] | None,
        Argument(
            metavar="[CONFIG.yaml] [KEY=VALUE]... [THEIR FLAGS]...",
            help="A config of `plaudit train`, keys that override it, and arguments of the trainer.",
        ),
    ] = None,
    out: Annotated[Path | None, options.out_folder("Where reward file, data and checkpoints go.")] = None,
    gpus: Annotated[int | None, Option("--gpus", min=1, help="GPUs of each node; 8 by default.")] = None,
    nodes: Annotated[int, Option("--nodes", min=1, help="Nodes.")] = 1,
    overwrite: options.Overwrite = False,
    ray: options.RayJob = None,
) -> int:
    """Print the training command of another trainer for a config.

    The reward is written as a file that keeps deadlines and worker processes, prompts in the form of the trainer.
    Arguments of the trainer are passed on as written. Keys without a counterpart are listed by name.
    """
    words = arguments or []
    ours = [word for word in words if _is_ours(word, trainer)]
    file, overrides, _ = options.split_config(ours)
    config = load_config(file, overrides)
    folder = out or Path(f"{config.output_dir}-{trainer}")
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InvalidSettings(f"{folder} is not empty; --overwrite replaces the reward file and the data in it")
    machines = None if gpus is None and nodes == 1 else launching.Machines(gpus or 8, nodes)
    extra = [word for word in words if word not in ours]
    planned = launching.plan_launch(config, trainer, folder, machines=machines, extra=extra)
    notes = {"wrote": planned.files, "not mapped": planned.unmapped, "differs": planned.notes}
    for kind, each in ((kind, each) for kind, listed in notes.items() for each in listed):
        output.note(f"wrote {each}" if kind == "wrote" else f"{kind}: {each}")
    output.show_text({**dataclasses.asdict(planned), "command": planned.command}, planned.command + "\n")
    return 0 if ray is None else run_job(ray, Job(planned.command))


def _is_ours(word: str, trainer: str) -> bool:
    """Whether a word is a config file or a key of ours, not an argument of the trainer's."""
    if word.startswith("--"):
        return False
    name, equals, _ = word.partition("=")
    if not equals:
        return word.endswith((".yaml", ".yml"))
    return trainer != "verl" or name.lstrip("+") in KEYS  # verl's own settings are written as ours are


def run_job(address: str, job: Job) -> int:
    """Submit a command, follow it to its end, and return an exit code; Ctrl-C ends the following, not the job."""
    submitted = submit_job(address, job)
    print_message(f"submitted to Ray at {address} as {submitted.id}")
    try:
        problem = submitted.follow(_show)
    except KeyboardInterrupt:
        print_message(f"{submitted.id} is still running; {submitted.commands}")
        return INTERRUPTED
    if problem is not None:
        print_message(f"{submitted.id} {problem}")
        return NOT_PASSED
    return 0


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


LINES = 12
"""The number of progress lines when the output is a pipe, in addition to evaluations."""
EVALUATIONS = {
    "eval/score": "score", "eval/greedy": "greedy score", "eval/reward": "reward",
    "eval/greedy_reward": "greedy reward", "eval/length": "length",
}  # fmt: skip


def train(
    output: options.Output,
    arguments: Annotated[
        list[str] | None,
        Argument(
            metavar="[CONFIG.yaml] [KEY=VALUE]...",
            help="A config file, then keys that override it, such as optimizer.lr=1e-4 or "
            "+training.reward_function=my.py:name. OpenRLHF's flags, such as --remote_rm_url my.py, are taken too.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        Option("--resume", help="Continue from the newest checkpoint in output_dir; steps=N makes the run longer."),
    ] = False,
    overwrite: options.Overwrite = False,
    print_config: options.PrintConfig = False,
    ray: options.RayJob = None,
) -> int:
    """Train a policy with a reward; without arguments, a small model that learns to sort digits on this machine.

    The run folder gets config.yaml, metrics.jsonl, rollouts.jsonl, checkpoints, samples.md, report.html with the
    curves, and the model.
    """
    flags = read_openrlhf_flags(arguments or [])
    resume = resume or flags.resume
    os.environ.update(flags.environment)
    config = flags.complete(_config(flags, resume=resume), _count_prompts)
    output.note(*(() if print_config else flags.notes))
    if print_config:
        print_text(document_config(config))
        return 0
    if ray is not None:
        if output.json:
            raise InvalidSettings("--json is not for --ray: what the job prints is its log")
        switches = {"--resume": resume, "--overwrite": overwrite, "--quiet": output.quiet}
        command = plaudit_command(["train", *_as_arguments(config), *(name for name, on in switches.items() if on)])
        on_gpu = int(config.model.device.startswith("cuda"))
        return run_job(ray, Job(command, flags.environment, on_gpu))
    first = os.environ.get("RANK", "0") == "0"  # torchrun starts several processes; only the first prints
    with TrainingProgress(config, quiet=output.quiet or not first) as progress:
        outcome = training.train(config, resume=resume, overwrite=overwrite, progress=progress)
    if not first:
        return 0
    output.show(outcome.to_dict(), outcome_table(outcome))
    if outcome.stopped_by is not None:
        print_message(f"stopped by {outcome.stopped_by} after step {outcome.step}; --resume continues from there")
        return SIGNAL + signal.Signals[outcome.stopped_by]
    return 0


def _config(flags: ForeignFlags, *, resume: bool) -> RunConfig:
    """The config of the command line; a run that is resumed without a file continues with its own."""
    file, overrides, others = options.split_config(flags.rest)
    overrides = [*flags.overrides, *overrides]
    if others and others[0].lstrip("+") in KEYS:
        raise InvalidSettings(f"the key {others[0]!r} has no value; write {others[0]}=VALUE")
    if others:
        hint = did_you_mean(others[0], KEYS)
        raise InvalidSettings(f"no config file {others[0]!r}{hint} (overrides are written key=value)")
    config = load_config(file, overrides)
    folder = RunFolder(Path(config.output_dir))
    if resume and file is None and not folder.holds_run:
        raise TrainingError(f"there is no run in {folder.path} to resume; begin one without --resume")
    if resume and file is None:
        saved: dict[str, Any] = read_config_file(folder.config)
        return load_config(None, overrides, base=saved)
    return config


def _as_arguments(config: RunConfig) -> list[str]:
    """Every key that is not at its default, as `key=value`."""
    values = flatten(config.to_dict())
    plain = flatten(RunConfig().to_dict())
    return [
        f"{name}={value if isinstance(value, str) else write_value(value)}"
        for name, value in values.items()
        if value != plain.get(name)
    ]


def _count_prompts(config: RunConfig) -> int:
    return len(training.load_task(config, config.training.reward_function).prompts)


class TrainingProgress(StepProgress, Progress):
    """Shows a run of `plaudit train`."""

    def __init__(self, config: RunConfig, *, quiet: bool) -> None:
        super().__init__(lines=LINES, quiet=quiet)
        self._steps = config.steps

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A supervised step was taken."""
        self.show_live("warm start", step, steps, f"loss {loss:.3f}")
        if step == steps:
            self.note(f"warm start: {steps} supervised steps, loss {loss:.3f}")

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken."""
        results = _evaluation(metrics) if "eval/length" in metrics else ""
        numbers = _numbers(metrics)
        if numbers or results:  # step 0 has neither where no prompts are held out
            self.show_step("training", step, self._steps, numbers, results=results)


def outcome_table(outcome: Outcome) -> RenderableType:
    """The evaluations before and after, and where everything is."""
    passes = sorted(key for key in outcome.after if key.startswith("eval/pass@") and "_" not in key)
    rows = [
        (
            EVALUATIONS.get(key, key.removeprefix("eval/").removeprefix("task/").replace("/score", ": score")),
            _mean(outcome.before, key),
            _mean(outcome.after, key),
        )
        for key in (*EVALUATIONS, *passes, *_by_task(outcome.after))
        if key in outcome.after
    ]
    unscored = outcome.folder.unscored_share()
    note = f"{unscored:.1%} of the samples were not scored; " if unscored else ""
    text = Text(f"{note}{count_noun(outcome.step, 'step')}; everything is in {outcome.folder.path}")
    return Group(bare_table("held out", "before", "after", rows=rows), text) if rows else text


def _by_task(metrics: Mapping[str, float]) -> list[str]:
    """The keys of the metric of each of several tasks: scores, or rewards where there are none."""
    tasks = [key for key in metrics if key.startswith("eval/task/")]
    return [key for key in tasks if key.endswith("/score")] or [key for key in tasks if key.endswith("/reward")]


def _numbers(metrics: Mapping[str, float]) -> str:
    """The metrics that fit into a line of 80 columns; metrics.jsonl has all of them."""
    shown = [f"{name} {_mean(metrics, name)}" for name in ("reward", "score") if name in metrics]
    return ", ".join(shown) or ("no sample scored" if metrics.get("status/ok") == 0.0 else "")


def _evaluation(metrics: Mapping[str, float]) -> str:
    scores = [key for key in ("eval/score", "eval/greedy") if key in metrics]
    keys = scores or [key for key in ("eval/reward", "eval/greedy_reward") if key in metrics]
    return "held out: " + (", ".join(f"{EVALUATIONS[key]} {_mean(metrics, key)}" for key in keys) or "no sample scored")


def _mean(metrics: Mapping[str, float], key: str) -> str:
    mean = CoveredMean.from_metrics(metrics, key)
    return "" if mean is None else format_mean(mean)


def hack(
    output: options.Output,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="A hack or control; none lists them.")] = None,
    overrides: Annotated[
        list[str] | None, Argument(metavar="[KEY=VALUE]...", help="Keys of the training config.")
    ] = None,
    out: Annotated[Path | None, options.out_folder("The run folder; runs/hacks/NAME without it.")] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Train the embedded model with a reward that has a planted bug, and report when exploiting began and was noticed.

    The reward is audited first. The run folder gets report.html, metrics.jsonl and rollouts.jsonl; every sample has
    the true score in its metadata.
    """
    if name is None:
        declared = [{"name": each.name, "kind": each.kind, "about": each.about} for each in hacks.list_hacks()]
        headers = (Column("name", style="bold", no_wrap=True), Column("kind", no_wrap=True), "what the reward does")
        output.show(declared, bare_table(*headers, rows=(tuple(each.values()) for each in declared)))
        return
    chosen = hacks.find_hack(name)
    folder = out or Path("runs/hacks", name)
    output.note(f"{chosen.name} ({chosen.kind}): {chosen.about}")
    report = hacks.audit_hack(chosen)
    findings = sorted({each.operator for each in report.findings})
    output.note(f"audit: {', '.join(findings) or 'no finding'} ({report.calls:,} calls)")
    config = hacks.build_config(chosen, folder, overrides or ())
    with HackProgress(config, quiet=output.quiet) as progress:
        run = hacks.train_hack(chosen, folder, overrides=overrides or (), overwrite=overwrite, progress=progress)
    figures = {"reward": run.reward, "true score": run.true_score}
    rows = ((title, f"{before:.3f}", f"{after:.3f}") for title, (before, after) in figures.items())
    output.show(
        {**run.to_dict(), "audit": findings, "output_dir": str(folder)},
        bare_table("", "first steps", "last steps", rows=rows),
        f"onset: {_step(run.onset)}; first warning of watch: {_step(run.warned_at)}",
        f"the report is {folder / 'report.html'}",
    )


def _step(step: int | None) -> str:
    return "none" if step is None else f"step {step}"


class HackProgress(TrainingProgress):
    """Shows reward, true score and the onset of exploiting while a run is in progress; the signs of `watch` are notes
    of the run.
    """

    def __init__(self, config: RunConfig, *, quiet: bool) -> None:
        super().__init__(config, quiet=quiet)
        self._rewards: list[float] = []
        self._truths: list[float] = []
        self._onset: int | None = None

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken."""
        if TRUE_SCORE not in metrics:
            return
        self._rewards.append(metrics["reward"])
        self._truths.append(metrics[TRUE_SCORE])
        numbers = f"reward {self._rewards[-1]:.3f}, true score {self._truths[-1]:.3f}"
        self.show_step("training", step, self._steps, numbers)
        if self._onset is None:
            self._onset = hacks.find_onset(self._rewards, self._truths)
            if self._onset is not None:
                self.note(f"step {step}: onset: {numbers}")
