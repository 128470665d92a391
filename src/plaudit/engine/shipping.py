"""Send a reward to another process: as its spec where it has one, else by value.

A reward given as a spec is loaded anew in that process, exactly as in this one. Objects go by cloudpickle, which also
carries functions written in a notebook or a script; what lives in a file that was loaded by path goes by value too.
"""

import importlib
import sys
import warnings
from dataclasses import dataclass, field

import cloudpickle

from plaudit import loading  # its parts are imported when first used: a worker starts in less time
from plaudit.contract.function import RewardFunction, RewardLike
from plaudit.errors import InvalidSettings
from plaudit.loading.loaded_files import modules_by_path


@dataclass(frozen=True, slots=True)
class Shipment:
    """A reward in a form that can be sent; `open()` restores it in the receiving process.

    A reward that `was_loaded` by the sender has shown its warnings there: each warning is printed once.
    """

    spec: str | None = None
    pickled: bytes = b""
    search_path: list[str] = field(default_factory=list)
    was_loaded: bool = False

    @classmethod
    def of(cls, reward: "RewardLike | loading.Loaded | str") -> "Shipment":
        """A reward made ready to travel; raises InvalidSettings when it cannot. A spec is not loaded for it."""
        if isinstance(reward, str):
            return cls(spec=reward, search_path=list(sys.path))
        loaded = reward if isinstance(reward, loading.Loaded) else loading.resolve(reward)
        if loaded.spec is not None:
            return cls(spec=loaded.spec, search_path=list(sys.path), was_loaded=True)
        by_value = modules_by_path()
        for module in by_value:
            cloudpickle.register_pickle_by_value(module)
        try:
            return cls(pickled=cloudpickle.dumps(loaded.reward), search_path=list(sys.path))
        except (TypeError, AttributeError, ValueError, RecursionError, OSError) as error:
            raise InvalidSettings(
                f"{loaded.reward.name!r} cannot be sent to another process: {error}; keep models and "
                "connections out of __init__ and open them when first used, give the reward as 'file.py:name', or "
                "score with backend='inline'"
            ) from error
        finally:
            for module in by_value:
                cloudpickle.unregister_pickle_by_value(module)

    def as_given(self) -> RewardFunction | str:
        """The original argument, for a scorer of this process to pass on: its spec, or else the reward."""
        return self.open() if self.spec is None else self.spec

    def preload(self) -> None:
        """Import what `open` needs, but nothing of the user."""
        if self.spec is not None:
            importlib.import_module("plaudit.loading.resolving")

    def open(self) -> RewardFunction:
        """The reward, ready to score."""
        sys.path[:] = self.search_path or sys.path
        if self.spec is not None:
            with warnings.catch_warnings():
                if self.was_loaded:
                    warnings.simplefilter("ignore")
                return loading.load(self.spec)
        reward = cloudpickle.loads(self.pickled)
        assert isinstance(reward, RewardFunction)
        return reward
