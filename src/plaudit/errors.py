"""Every error plaudit raises, and the two helpers that make messages teach.

PlauditError
├── InvalidTrajectory (ValueError)    a sample that cannot be scored as given
├── InvalidOutput     (ValueError)    a reward gave something that is not a reward
├── InvalidSettings   (ValueError)    arguments or a config that make no sense: of a reward, a scorer, a sandbox, a run
├── ScoringFailed     (RuntimeError)  a reward raised while it was called directly
├── RewardNotLoaded   (ImportError)   a spec string that leads to no reward
├── RolloutsError     (ValueError)    a rollouts file that cannot be read or written
├── CasesError        (ValueError)    a case table that cannot be run
├── CacheError        (ValueError)    a cache of scores that cannot be opened
├── TrainingError     (RuntimeError)  a training run that cannot start, continue or be resumed
├── DataError         (ValueError)    prompts that cannot be trained on
├── SamplingFailed    (RuntimeError)  a sampler got no response
├── PolicyError       (ValueError)    a model that cannot be loaded, saved or trained as asked
├── InvalidAdvantage  (ValueError)    rewards that cannot be turned into advantages
├── AgentError        (ValueError)    an agent file without an agent, or an environment that answers wrongly
├── TransientError    (RuntimeError)  an endpoint failed in a way that may pass
├── SandboxError      (RuntimeError)  programs cannot be run, or not safely; says nothing about the program
└── MissingPackage    (ImportError)   an optional package is not installed
"""

import importlib
from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType

__all__ = [
    "AgentError",
    "CacheError",
    "CasesError",
    "DataError",
    "InvalidAdvantage",
    "InvalidOutput",
    "InvalidSettings",
    "InvalidTrajectory",
    "MissingGroundTruth",
    "MissingPackage",
    "PlauditError",
    "PolicyError",
    "RewardNotLoaded",
    "RolloutsError",
    "SamplingFailed",
    "SandboxError",
    "ScoringFailed",
    "TrainingError",
    "TransientError",
    "did_you_mean",
    "require",
]


class PlauditError(Exception):
    """Base of every error that plaudit raises on purpose."""


class InvalidTrajectory(PlauditError, ValueError):
    """A sample that cannot be scored as given."""


class MissingGroundTruth(InvalidTrajectory):
    """A sample without the ground truth that a reward needs: it is skipped."""

    @classmethod
    def among(cls, names: Iterable[str]) -> "MissingGroundTruth":
        """The error about a sample that has these columns instead."""
        return cls(f"the sample has no ground truth (it has {', '.join(names) or 'no further columns'})")


class InvalidOutput(PlauditError, ValueError):
    """A reward gave something that is not a reward."""


class InvalidSettings(PlauditError, ValueError):
    """Arguments or a config make no sense: of a reward, a scorer, a sandbox or a training run."""


class ScoringFailed(PlauditError, RuntimeError):
    """A reward failed while it was called directly, outside `plaudit.score`."""


class RewardNotLoaded(PlauditError, ImportError):
    """A spec string leads to no reward."""


class RolloutsError(PlauditError, ValueError):
    """A rollouts file cannot be read or written."""


class CasesError(PlauditError, ValueError):
    """A table of test cases cannot be run."""


class CacheError(PlauditError, ValueError):
    """A cache of scores cannot be opened."""


class TrainingError(PlauditError, RuntimeError):
    """A training run cannot start, continue or be resumed."""


class DataError(PlauditError, ValueError):
    """Prompts cannot be trained on: none at all, without text, or longer than the model's context."""


class SamplingFailed(PlauditError, RuntimeError):
    """A sampler got no response."""


class PolicyError(PlauditError, ValueError):
    """A model cannot be loaded, saved or trained."""


class InvalidAdvantage(PlauditError, ValueError):
    """Rewards that cannot be turned into advantages or into a loss as given."""


class AgentError(PlauditError, ValueError):
    """An agent file holds no agent that can be run, or an environment answers with something else than it should."""


class TransientError(PlauditError, RuntimeError):
    """An endpoint failed in a way that may pass; a guarded reward that raises this is tried again."""

    def __init__(self, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class SandboxError(PlauditError, RuntimeError):
    """Programs cannot be run, or not safely; the error is no statement about the program."""


class MissingPackage(PlauditError, ImportError):
    """An optional package is not installed."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`"; did you mean 'length'?"` when something known is close to `name`, else the empty string.

    >>> did_you_mean("lenght", ["length", "format"])
    "; did you mean 'length'?"
    """
    spelled = {candidate.lower(): str(candidate) for candidate in known}
    close = get_close_matches(name.lower(), spelled, n=1, cutoff=0.6)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""


def rename_hint(expected: str, names: Iterable[str]) -> str:
    """`"; rename 'reponse' to 'response'"` when one of `names` is close to the expected one, else the empty string.

    >>> rename_hint("response", ["prompt", "reponse"])
    "; rename 'reponse' to 'response'"
    """
    close = get_close_matches(expected, list(names), n=1, cutoff=0.6)
    return f"; rename {close[0]!r} to {expected!r}" if close else ""


def require(module: str, *, purpose: str, extra: str = "", package: str = "") -> ModuleType:
    """Import an optional package, or raise an error with the purpose and the package or extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingPackage(
            f"{purpose} needs {module.partition('.')[0]!r}: pip install '{package or f'plaudit[{extra}]'}'",
            name=error.name,
        ) from error
