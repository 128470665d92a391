"""Agents: multi-turn episodes in environments, token-in-token-out.

Nothing here needs torch or a model: an episode only needs a sampler that continues token ids.
"""

from plaudit.agents.agent import Agent, run_executor
from plaudit.agents.environment import AgentInstance
from plaudit.agents.episode import Episode, EpisodeLimits, Player, Segment
from plaudit.agents.executor import AgentExecutor
from plaudit.agents.generation import Action, ActionSampler, SamplingParams, get_param
from plaudit.agents.lockstep import ActionRequest, LockstepSampler

__all__ = [
    "Action",
    "ActionRequest",
    "ActionSampler",
    "Agent",
    "AgentExecutor",
    "AgentInstance",
    "Episode",
    "EpisodeLimits",
    "LockstepSampler",
    "Player",
    "SamplingParams",
    "Segment",
    "get_param",
    "run_executor",
]
