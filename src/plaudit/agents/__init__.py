"""Agents: multi-turn episodes in environments, token-in-token-out.

Nothing here needs torch or a model: an engine that continues token ids is all that an episode asks for.
"""

from plaudit.agents.agent import Agent
from plaudit.agents.environment import AgentInstance
from plaudit.agents.episode import Episode, EpisodeLimits, Player
from plaudit.agents.executor import AgentExecutor
from plaudit.agents.generation import Action, Engine, SamplingParams
from plaudit.agents.lockstep import Request, Rounds

__all__ = [
    "Action",
    "Agent",
    "AgentExecutor",
    "AgentInstance",
    "Engine",
    "Episode",
    "EpisodeLimits",
    "Player",
    "Request",
    "Rounds",
    "SamplingParams",
]
