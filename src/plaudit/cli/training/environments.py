"""Environments: `plaudit world …` lists tasks and serves them, `plaudit episode` plays episodes in the terminal."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any

import msgspec
from rich.text import Text
from typer import Argument, Option

from plaudit import training
from plaudit.agents import EpisodeLimits
from plaudit.cli import options
from plaudit.cli.app import CommandGroup, OptionGroup
from plaudit.cli.console import print_message
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings, require
from plaudit.loading import load_agent
from plaudit.report.formatting import bare_table, escape_controls, shorten
from plaudit.rollouts import Rollout, RolloutsWriter
from plaudit.trajectory import Trajectory
from plaudit.worlds import McpEpisode, World, build_openenv_app, build_ors_app
from plaudit.worlds.mcp_server import serve_stdio

FIFTH = 5
Name = Annotated[str, Argument(metavar="WORLD", help="A ready-made world, bfcl, or world.py:Class.")]


def list_tasks(
    name: Name,
    output: options.Output,
    out: Annotated[Path | None, options.out_file("Write prompts and task ids here, for training.")] = None,
    held_out: Annotated[Path | None, options.file_option("--held-out", "Write every fifth task here instead.")] = None,
    demonstrations: Annotated[
        Path | None, options.file_option("--demonstrations", "Write actions for a warm start here.")
    ] = None,
    chat: Annotated[bool, Option("--chat", help="Write prompts as chat messages.")] = False,
) -> None:
    """List the tasks of WORLD; each was checked: its gold calls earn 1, doing nothing earns 0."""
    kind = _load(name)
    rows = kind.rows(chat=chat)
    held_out_rows = rows[FIFTH - 1 :: FIFTH] if held_out is not None else []
    trained = [row for row in rows if row not in held_out_rows]
    if chat and demonstrations is not None:
        raise InvalidSettings("demonstrations are texts, not chat messages; leave out --chat or --demonstrations")
    shown = kind.demonstrations(row["id"] for row in trained) if demonstrations is not None else []
    written = False
    for path, listed, what in (
        (out, trained, "tasks"), (held_out, held_out_rows, "tasks held out"), (demonstrations, shown, "actions shown"),
    ):  # fmt: skip
        if path is not None:
            options.check_output(path)
            path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in listed))
            output.note(f"{len(listed)} {what} in {path}")
            written = True
    if not written:
        listed_tasks = ((task.id, task.turns[0].user) for task in kind.tasks().values())
        output.show(rows, bare_table("task", "the user says first", rows=listed_tasks))
    output.note(*(f"left out: {task_id}: {reason}" for task_id, reason in kind.refused().items()))


def serve(
    name: Name,
    task: Annotated[
        str | None, Option("--task", metavar="ID", help="The task to play; `world tasks` lists them.")
    ] = None,
    port: Annotated[
        int | None, Option("--port", "-p", min=1, max=65535, help="Serve http://127.0.0.1:PORT/mcp; else stdio.")
    ] = None,
    out: Annotated[Path | None, options.out_file("Keep reward, calls and changes here, as JSON.")] = None,
    openenv: Annotated[bool, Option("--openenv", help="Serve OpenEnv's protocol; clients choose tasks.")] = False,
    ors: Annotated[bool, Option("--ors", help="Serve the Open Reward Standard; clients choose tasks.")] = False,
) -> int:
    """Offer one episode of WORLD as an MCP server: its tools, and `say` for messages to the user.

    With --openenv or --ors, offer all its tasks as a server of that protocol.
    """
    if openenv or ors:
        if port is None or task is not None or out is not None or (openenv and ors):
            raise InvalidSettings("--openenv or --ors needs --port, and neither --task nor --out: clients choose tasks")
        return _serve_http((build_openenv_app if openenv else build_ors_app)(_load(name)), port)
    if task is None:
        raise InvalidSettings("an MCP server plays one task; name it with --task")

    def keep(outcome: dict[str, Any]) -> None:
        if out is not None:
            out.write_bytes(msgspec.json.encode(outcome))

    episode = McpEpisode(_load(name), task, keep)
    server = episode.build_server()
    if port is not None:
        return _serve_http(server.streamable_http_app(), port)
    serve_stdio(server)
    sys.stderr.flush()
    return 0


def _serve_http(application: Any, port: int) -> int:
    uvicorn: Any = require("uvicorn", extra="serve", purpose="serving a world over HTTP")
    uvicorn.run(application, host="127.0.0.1", port=port, log_level="warning")
    return 0


def _load(name: str) -> type[World]:
    kind = load_agent(name).environment
    if not issubclass(kind, World):
        raise InvalidSettings(f"{name} is an environment without a state, not a world")
    return kind


world = CommandGroup(
    help="List the tasks of a world, and offer one over MCP.", commands={"tasks": list_tasks, "serve": serve}
)
HUMAN = "human"
SHOWN = 300


class SinglePrompt(OptionGroup):
    """What episodes begin with where there is no file of prompts."""

    prompt: Annotated[str, Option("--prompt", help="The prompt, where no file is given.")] = "Go: "
    truth: Annotated[str | None, Option("--truth", help="The ground truth that goes with --prompt.")] = None

    @property
    def row(self) -> Trajectory:
        """The prompt with its ground truth."""
        return Trajectory(self.prompt, "", ground_truth=self.truth)


class Turns(OptionGroup):
    """The length of an episode, and how its actions are sampled."""

    max_steps: Annotated[int, Option("--max-steps", min=1, help="Turns of an episode.")] = 5
    max_new_tokens: Annotated[int, Option("--max-new-tokens", min=1, help="The most tokens of an action.")] = 64
    temperature: options.Temperature = 1.0
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S
    seed: options.Seed = 0

    @property
    def limits(self) -> EpisodeLimits:
        """The limits of an episode."""
        return EpisodeLimits(self.max_steps, deadline_s=self.deadline or None)


def episode(
    environment: Annotated[
        str, Argument(metavar="ENV", help="A built-in name, agent.py, agent.py:Class or module:Class.")
    ],
    server: options.ServedModel,
    single: SinglePrompt,
    turns: Turns,
    output: options.Output,
    prompts: Annotated[str | None, Argument(metavar="[PROMPTS]", help="A file with prompts and ground truths.")] = None,
    actor: Annotated[
        str, Option("--actor", metavar="human|RUN|MODEL|URL", help="Who acts: you, a model, or a server.")
    ] = HUMAN,
    count: Annotated[int, options.count("How many episodes.")] = 3,
    out: Annotated[str | None, options.out_file("Write the episodes here, as rollouts.")] = None,
) -> int:
    """Play episodes in ENV and show actions, feedback, rewards and masks; `-o` keeps them as rollouts."""
    if output.json and actor == HUMAN:
        raise InvalidSettings("--json leaves no place for questions: name a model or a server with --actor")
    agent = load_agent(environment)
    settings = training.SamplingSettings(turns.max_new_tokens, temperature=turns.temperature)
    sampler = _open_policy(actor, server, settings)
    host = agent.build_host(workers=1)
    player = training.EpisodeSampler(sampler, agent, turns.limits, host=host)
    scorer = training.EpisodeScorer()
    rows = [single.row] if prompts is None else list(training.read_prompts(prompts))
    failed = 0
    with ExitStack() as stack:
        stack.callback(host.close)
        writer = None if out is None else stack.enter_context(RolloutsWriter(out))
        for index, row in zip(range(count), cycle(rows), strict=False):
            [played] = player.sample(
                [row], settings=msgspec.structs.replace(settings, seed=turns.seed + index)
            ).trajectories
            [scored] = scorer.score([played])
            failed += not scored.ok
            plain = {**played.to_dict(), "reward_output": msgspec.to_builtins(scored)}
            output.show(plain, *_describe(index + 1, played, scored))
            if writer is not None:  # nothing can be trained on character codes
                is_text = isinstance(sampler, training.TextPolicySampler)
                kept = msgspec.structs.replace(played, tokens=None) if is_text else played
                writer.write(Rollout(kept, scored))
    return 1 if failed else 0


def _open_policy(policy: str, server: options.ServedModel, settings: Any) -> Any:
    """The source of actions: a model with its own tokens, or a text policy for a server or a person."""
    if policy == HUMAN:
        return training.TextPolicySampler(_ask, settings)
    model = training.open_model(policy, model=server.served, api_key_env=server.api_key_env)
    if hasattr(model.sampler, "continue_from"):
        return model.sampler

    def respond(text: str, settings: Any) -> str:
        return str(model.sampler.sample([text], settings=settings).texts[0])

    return training.TextPolicySampler(respond, settings)


def _ask(text: str, _: Any) -> str:
    """The input of the person at the terminal; the end of the input ends the command."""
    print_message(escape_controls(text, keep="\n\t"))
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.rstrip("\n")


def _describe(number: int, played: Trajectory, scored: RewardOutput) -> Iterator[Text]:
    tokens = played.tokens
    chosen = f"{tokens.chosen} of {len(tokens)} tokens are the policy's" if tokens is not None else "no tokens"
    yield Text(f"episode {number}: {_verdict(scored)}; {chosen}", style="bold")
    for index, step in enumerate(played.steps):
        first, last = step.metadata.get("tokens", (0, 0))
        earned = "no reward" if step.reward is None else f"reward {step.reward:g}"
        yield Text(f"  step {index + 1}: {earned}, mask 1 on tokens {first}-{last - 1}", style="dim")
        yield Text(f"    action:   {_shorten(step.response)}")
        if "feedback" in step.metadata:
            yield Text(f"    feedback: {_shorten(step.metadata['feedback'])}")


def _verdict(scored: RewardOutput) -> str:
    if not scored.ok:
        return f"{scored.status.value}, {scored.reason}"
    score = "" if scored.score is None else f", score {scored.score:g}"
    return f"reward {scored.reward:g}{score}"


def _shorten(text: str) -> str:
    return escape_controls(shorten(repr(text)[1:-1], SHOWN))
