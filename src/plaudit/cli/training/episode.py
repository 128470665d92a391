"""`plaudit episode`: play episodes in the terminal, by a model, a server or yourself."""

import sys
from contextlib import ExitStack
from itertools import cycle
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from plaudit import training
from plaudit.agents import EpisodeLimits
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings
from plaudit.loading import load_agent
from plaudit.report.formatting import escape_controls
from plaudit.rollouts import Rollout, RolloutsWriter
from plaudit.trajectory import Trajectory

__all__ = ["episode"]

HUMAN = "human"
SHOWN = 300


def episode(
    environment: Annotated[
        str, typer.Argument(metavar="ENV", help="A built-in name, agent.py, agent.py:Class or module:Class.")
    ],
    prompts: Annotated[
        str | None, typer.Argument(metavar="[PROMPTS]", help="A file with prompts and ground truths.")
    ] = None,
    actor: Annotated[
        str, typer.Option("--actor", metavar="human|RUN|MODEL|URL", help="Who acts: you, a model, or a server.")
    ] = HUMAN,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many episodes.")] = 3,
    prompt: Annotated[str, typer.Option("--prompt", help="What to begin with, where no file is given.")] = "Go: ",
    truth: Annotated[str | None, typer.Option("--truth", help="The ground truth that goes with --prompt.")] = None,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, help="Turns of an episode.")] = 5,
    max_new_tokens: Annotated[int, typer.Option("--max-new-tokens", min=1, help="How long an action may be.")] = 64,
    temperature: options.Temperature = 1.0,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    seed: options.Seed = 0,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write the episodes here, as rollouts.")
    ] = None,
    served: options.ServedModel = None,
    json: options.Json = False,
) -> int:
    """Play episodes in ENV and show actions, feedback, rewards and masks; `-o` keeps them as rollouts."""
    if json and actor == HUMAN:
        raise InvalidSettings("--json leaves no place for questions: name a model or a server with --actor")
    agent = load_agent(environment)
    settings = training.SamplingSettings(max_new_tokens, temperature=temperature)
    sampler = _open_policy(actor, served, settings)
    host = agent.build_host(workers=1)
    player = training.EpisodeSampler(sampler, agent, EpisodeLimits(max_steps, deadline_s=deadline or None), host=host)
    scorer = training.EpisodeScorer()
    rows = [_begin(prompt, truth)] if prompts is None else list(training.read_prompts(prompts))
    failed = 0
    with ExitStack() as stack:
        stack.callback(host.close)
        writer = None if out is None else stack.enter_context(RolloutsWriter(out))
        for index, row in zip(range(count), cycle(rows), strict=False):
            [played] = player.sample([row], settings=msgspec.structs.replace(settings, seed=seed + index)).trajectories
            [scored] = scorer.score([played])
            failed += not scored.ok
            _show(index + 1, played, scored, as_json=json)
            if writer is not None:  # characters are no tokens that anything could be trained on
                is_text = isinstance(sampler, training.TextPolicySampler)
                kept = msgspec.structs.replace(played, tokens=None) if is_text else played
                writer.write(Rollout(kept, scored))
    return 1 if failed else 0


def _begin(prompt: str, truth: str | None) -> Trajectory:
    return Trajectory(prompt, "", ground_truth=truth)


def _open_policy(policy: str, served: str | None, settings: Any) -> Any:
    """What acts: a model with its own tokens, or a text policy for a server or a person."""
    if policy == HUMAN:
        return training.TextPolicySampler(_ask, settings)
    model = training.open_model(policy, model=served)
    if hasattr(model.sampler, "continue_from"):
        return model.sampler

    def respond(text: str, settings: Any) -> str:
        return str(model.sampler.sample([text], settings=settings).texts[0])

    return training.TextPolicySampler(respond, settings)


def _ask(text: str, _: Any) -> str:
    """What the person at the terminal says; the end of the input ends the command."""
    print_message(escape_controls(text, keep="\n\t"))
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.rstrip("\n")


def _show(number: int, played: Trajectory, scored: RewardOutput, *, as_json: bool) -> None:
    if as_json:
        print_json({**played.to_dict(), "reward_output": msgspec.to_builtins(scored)})
        return
    tokens = played.tokens
    chosen = f"{tokens.chosen} of {len(tokens)} tokens are the policy's" if tokens is not None else "no tokens"
    print_result(Text(f"episode {number}: {_verdict(scored)}; {chosen}", style="bold"))
    for index, step in enumerate(played.steps):
        first, last = step.metadata.get("tokens", (0, 0))
        earned = "no reward" if step.reward is None else f"reward {step.reward:g}"
        print_result(Text(f"  step {index + 1}: {earned}, mask 1 on tokens {first}-{last - 1}", style="dim"))
        print_result(Text(f"    action:   {_shorten(step.response)}"))
        if "feedback" in step.metadata:
            print_result(Text(f"    feedback: {_shorten(step.metadata['feedback'])}"))


def _verdict(scored: RewardOutput) -> str:
    if not scored.ok:
        return f"{scored.status.value}, {scored.reason}"
    score = "" if scored.score is None else f", score {scored.score:g}"
    return f"reward {scored.reward:g}{score}"


def _shorten(text: str) -> str:
    shown = repr(text)[1:-1]
    return escape_controls(shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…")
