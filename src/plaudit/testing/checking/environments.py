"""`check_env`: check an environment given as a class, a spec or an agent."""

from collections.abc import Sequence
from pathlib import Path

from plaudit.agents.agent import Agent
from plaudit.agents.checking import check_agent
from plaudit.agents.environment import EpisodeStart
from plaudit.findings import Finding
from plaudit.loading import load_agent

__all__ = ["check_env"]


def check_env(
    env: type | str | Path | Agent,
    starts: Sequence[EpisodeStart] | None = None,
    *,
    actions: Sequence[str] = (),
    seed: int = 0,
    deadline_s: float = 5.0,
) -> list[Finding]:
    """What is wrong with an environment; the empty list when nothing was found.

    `env` is a class or a spec as `load_agent` takes it; one given by a spec runs in processes, where what hangs is
    killed. `starts` are prompts with ground truths that fit the environment, and `actions` good ones.

    >>> from plaudit.agents import TreasureHunt
    >>> check_env(TreasureHunt)
    []
    """
    agent = env if isinstance(env, Agent) else load_agent(env) if isinstance(env, str | Path) else Agent(env)
    return check_agent(agent, starts, actions=actions, seed=seed, deadline_s=deadline_s)
