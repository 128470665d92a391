"""Find the reward in a module: the named one, or the only one.

Only names that the module itself defines count; imported rewards do not.
"""

import enum
import inspect
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.dialects import dialects_of
from plaudit.dialects.signatures import parameters
from plaudit.dialects.stub_packages import Missing
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.building import SpecTarget, is_reward_class, signature_of
from plaudit.loading.execution.statements import check_complete, failures_of, may_be_reward, refuse
from plaudit.loading.failures import explain_failures
from plaudit.loading.names import bound_names, read_imports

FAVOURED = ("reward", "reward_func")
MAX_LISTED = 10
_ABSENT = object()
_REWARD_METHODS = ("compute_reward", "compute_rewards", "__call__")


class _Rank(enum.IntEnum):
    """Candidate rank: the lowest wins, and a tie is an error."""

    OURS = 0
    FOREIGN = 1
    FUNCTION = 2
    NEEDS_ARGUMENTS = 3
    NOTHING = 4


@dataclass(frozen=True, slots=True)
class RewardModule:
    """A module with rewards, and how a spec names it."""

    module: ModuleType
    spec: str
    title: str
    imports: frozenset[str]
    imported_names: frozenset[str]

    @classmethod
    def of(cls, module: ModuleType, spec: str, title: str) -> "RewardModule":
        """Reads the module's file once more, for what it imports."""
        packages, names = read_imports(module)
        return cls(module, spec, title, packages, names)

    def find(self, name: str) -> SpecTarget:
        """The module's value for `name`."""
        with explain_failures(f"reading {self.spec}:{name}"):  # modules may make names on demand
            value = getattr(self.module, name, _ABSENT)
        if value is _ABSENT:
            failures, hint = failures_of(self.module), did_you_mean(name, self._public())
            binding = [failure for failure in failures if name in set().union(*bound_names([failure.node]))]
            if binding or (failures and not hint):  # the failure may be why the name is missing
                raise refuse((binding or failures)[0], f"reading {self.spec}:{name}")
            there = self._offers() or [each for each in self._public() if each not in self.imported_names]
            listed = f" (it has {', '.join(there)})" if there else " (it is empty)"
            raise RewardNotLoaded(f"no {name!r} in {self.spec}{hint}{listed}")
        check_complete(self.module, name, value, f"reading {self.spec}:{name}")
        return SpecTarget(value, f"{self.spec}:{name}", f"{name} in {self.title}", self.imports)

    def choose(self) -> SpecTarget:
        """The reward called `reward` or `reward_func`, or else the only one there is."""
        candidates = {name: self._rank(name, value) for name, value in list(vars(self.module).items())}
        favoured = {
            name: candidates[name] for name in FAVOURED if candidates.get(name, _Rank.NOTHING) <= _Rank.FUNCTION
        }
        possible = favoured or candidates
        best = min(possible.values(), default=_Rank.NOTHING)
        offered = {name for name, rank in candidates.items() if rank is not _Rank.NOTHING}
        for failure in failures_of(self.module):
            favours = bound_names([failure.node])[1] & set(FAVOURED)
            if best is _Rank.NOTHING or favours or may_be_reward(failure.node, offered, vars(self.module)):
                raise refuse(failure, f"importing {self.title}")
        if best is _Rank.NOTHING:
            raise self._no_reward()
        names = self._distinct([name for name, rank in possible.items() if rank is best])
        if best is _Rank.FUNCTION:
            names = self._without_helpers(names)
        if len(names) > 1:
            what = "functions, none plainly the reward" if best is _Rank.FUNCTION else "rewards"
            specs = ", ".join(f"{self.spec}:{name}" for name in names[:MAX_LISTED])
            raise RewardNotLoaded(f"{self.spec} has {len(names)} {what}; say which one: {specs}")
        return self.find(names[0])

    def _rank(self, name: str, value: Any) -> _Rank:
        if name.startswith("_") or name in self.imported_names or isinstance(value, Missing):
            return _Rank.NOTHING
        if isinstance(value, RewardFunction):
            return _Rank.OURS
        if isinstance(value, ModuleType | str | list | tuple | dict | set):  # data may be large: no dialect is asked
            return _Rank.NOTHING
        written_here = getattr(value, "__module__", None) == self.module.__name__
        if isinstance(value, type):
            return _class_rank(value, self.imports) if written_here else _Rank.NOTHING
        if inspect.isfunction(value) and not written_here:
            return _Rank.NOTHING
        if dialects_of(value, self.imports):
            return _Rank.FOREIGN
        return _Rank.FUNCTION if inspect.isfunction(value) and parameters(value) else _Rank.NOTHING

    def _offers(self) -> list[str]:
        return [name for name, value in vars(self.module).items() if self._rank(name, value) is not _Rank.NOTHING]

    def _public(self) -> list[str]:
        return [name for name in dict.fromkeys([*vars(self.module), *dir(self.module)]) if not name.startswith("_")]

    def _distinct(self, names: list[str]) -> list[str]:
        """Names of different things; of two names for one thing the first."""
        seen: dict[int, str] = {}
        for name in names:
            seen.setdefault(id(vars(self.module)[name]), name)
        return list(seen.values())

    def _without_helpers(self, names: list[str]) -> list[str]:
        """The functions that none of the others calls; all of them where each has a caller."""
        used = {
            called
            for name in names
            for called in getattr(getattr(vars(self.module)[name], "__code__", None), "co_names", ())
            if called != name
        }
        return [name for name in names if name not in used] or names

    def _no_reward(self) -> RewardNotLoaded:
        names = [name for name in self._public() if name not in self.imported_names]
        faults = [fault for name in names if (fault := _fault_of(name, vars(self.module)[name]))]
        listed = "; ".join(faults) or f"it has {', '.join(names) or 'no names'}"
        return RewardNotLoaded(
            f"{self.spec} holds no reward ({listed}); define one: def my_reward(response, ground_truth): ..."
        )


def _fault_of(name: str, value: Any) -> str:
    """The reason why a class is no reward: its base is not provided, or it has no method that computes a reward."""
    if isinstance(value, Missing):
        return f"{name} cannot be used: {value.error}"
    if not isinstance(value, type):
        return ""
    methods = [each for each, member in vars(value).items() if inspect.isfunction(member) and not each.startswith("__")]
    hints = [f"{each}{hint}" for each in methods if (hint := did_you_mean(each, _REWARD_METHODS))]
    wanted = " or ".join(_REWARD_METHODS)
    return f"the class {name} has no method {wanted}, but {', '.join(hints or methods) or 'no methods'}"


def _class_rank(candidate: type, imports: frozenset[str]) -> _Rank:
    if not is_reward_class(candidate, imports) or not _can_be_made(candidate):
        return _Rank.NOTHING
    required = [
        p
        for p in signature_of(candidate).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if required:
        return _Rank.NEEDS_ARGUMENTS
    return _Rank.OURS if issubclass(candidate, RewardFunction) else _Rank.FOREIGN


def _can_be_made(candidate: type) -> bool:
    """False for bases: abstract classes, and subclasses of ours that define no reward, which `__new__` refuses."""
    if not issubclass(candidate, RewardFunction):
        return not inspect.isabstract(candidate)
    try:
        candidate.__new__(candidate)
    except TypeError:
        return False
    return True
