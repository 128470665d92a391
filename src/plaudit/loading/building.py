"""Make a reward of the object that a spec names: build classes, call factories, wrap foreign conventions.

Brackets after a name mean a call: `file.py:Brief(limit=3)` builds a class or calls a function that makes a reward,
while `file.py:brief` uses the function itself as the reward. A foreign reward with settings, which its trainer reads
from a config, gets them in brackets: `file.py:compute_score(max_length=1024)`.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, overload

from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.contract.rules import Bounds
from plaudit.dialects import convention_of, dialects_of, recognise, stub_finder
from plaudit.dialects.dialect import ForeignReward
from plaudit.dialects.signatures import call_parameters
from plaudit.errors import InvalidSettings, RewardNotLoaded, did_you_mean
from plaudit.loading.execution.reaching import reach
from plaudit.loading.failures import explain_failures
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A reward, the convention it was written in, where it came from in words, and the spec it was loaded by."""

    reward: RewardFunction
    convention: str
    origin: str
    spec: str | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments in brackets after a name."""

    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpecTarget:
    """The object that a spec names, before it becomes a reward."""

    value: Any
    spec: str
    origin: str
    imports: frozenset[str] = frozenset()


class FunctionSettings(TypedDict, total=False):
    """The settings of `@reward`, as the docstring of `reward` explains them."""

    name: str | None
    scope: Scope
    max_batch: int | None
    bounds: Bounds | None
    deterministic: bool | None


@overload
def reward(function: Callable[..., Any], /, **settings: Unpack[FunctionSettings]) -> FunctionReward: ...
@overload
def reward(**settings: Unpack[FunctionSettings]) -> Callable[[Callable[..., Any]], FunctionReward]: ...
def reward(function: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
    """Make a reward of a function, as `@reward` or with settings as `@reward(bounds=(0.0, 1.0))`.

    The parameters of the function are filled by name: `response`, `prompt`, `ground_truth`, any column. A function of
    `completions`, as TRL and other trainers call it, is called as they call it.

    - `name`: the name in components, logs and messages; that of the function by default.
    - `scope`: what a function of lists gets in one call: "sample" (any samples), "group" (whole groups) or "batch"
      (all samples).
    - `max_batch`: the most samples that one call of a function of lists gets; None: no limit.
    - `bounds`: the range of the rewards, `(low, high)`; a reward outside it is reported.
    - `deterministic`: True if equal samples get equal rewards, so that scores may be cached; False if not; None:
      not declared.

    >>> @reward(bounds=(0.0, 1.0))
    ... def brief(response): return 1.0 if len(response.split()) < 50 else 0.0
    >>> brief("Hello")
    1.0
    """
    known = FunctionSettings.__annotations__
    for each in settings.keys() - known.keys():
        raise InvalidSettings(
            f"@reward has no parameter {each!r}{did_you_mean(each, known)} (it has {', '.join(known)})"
        )
    if function is None:
        return functools.partial(_reward_of, settings)
    return _reward_of(settings, function)


def _reward_of(settings: dict[str, Any], function: Callable[..., Any]) -> FunctionReward:
    if "completions" not in call_parameters(function):
        return FunctionReward(function, **settings)
    return _CompletionsReward(build(SpecTarget(function, "reward", "a function")).reward, function, **settings)


class _CompletionsReward(FunctionReward):
    """A function of `completions`, as trainers call it, with the settings of `@reward`."""

    def __init__(self, foreign: RewardFunction, function: Callable[..., Any], **settings: Any) -> None:
        super().__init__(function, **{**settings, "scope": "sample"})
        self.foreign, self.call_style = foreign, foreign.call_style
        self.scope = settings.get("scope", "sample")

    @property
    def is_async(self) -> bool:
        return self.foreign.is_async

    def compute_reward(self, trajectory: Trajectory) -> Any:
        return self.foreign.compute_reward(trajectory)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        return self.foreign.compute_rewards(trajectories)


def build(target: SpecTarget, arguments: Arguments | None = None, dialect: str | None = None) -> Loaded:
    """The reward that a spec names, or an error that names the kind of object found instead."""
    instance = _instantiate(target, arguments)
    if isinstance(instance, RewardFunction):
        return Loaded(instance, convention_of(instance), target.origin)
    convention = recognise(instance, target.imports, dialect)
    if convention is not None and (convention.of_class or not isinstance(instance, type)):
        reward = convention.to_reward(instance)
        _allow_stubs(reward, reach(instance).absent_packages)
        if dialect is not None:
            reward.load_options = {"dialect": dialect}
        return Loaded(reward, convention.convention, target.origin)
    if dialect is not None:
        raise RewardNotLoaded(f"{target.spec} is {_kind(instance)}, which is not how {dialect} writes rewards")
    if isinstance(instance, type) or not callable(instance):
        raise _no_reward(target, instance)
    try:
        return Loaded(FunctionReward(instance), "plaudit function", target.origin)
    except InvalidSettings as error:
        raise RewardNotLoaded(f"{target.spec} cannot be a reward: {error}") from error


def _allow_stubs(reward: RewardFunction, absent: Collection[str]) -> None:
    """Let the code of a foreign reward import stubs of absent packages while it runs."""
    stubs = frozenset(absent) & stub_finder().packages.keys() if absent else frozenset()
    for each in reward.parts if isinstance(reward, CompoundReward) else [reward]:
        if isinstance(each, ForeignReward):
            each.stubs = stubs


def is_reward_class(candidate: Any, imports: Iterable[str] = ()) -> bool:
    """True for what makes rewards when called: classes of ours or of a foreign convention, and spellings of them."""
    made = candidate.func if isinstance(candidate, functools.partial) else candidate
    return isinstance(made, type) and (issubclass(made, RewardFunction) or bool(dialects_of(made, imports)))


def signature_of(callable_: Any) -> inspect.Signature:
    """The parameters that a call of a class or a function takes; those of a spelling must be named."""
    if isinstance(callable_, functools.partial):
        parameters = inspect.signature(callable_).parameters.values()
        return inspect.Signature([each.replace(kind=each.KEYWORD_ONLY) for each in parameters])
    if not isinstance(callable_, type):
        return inspect.signature(callable_)
    made: Any = callable_
    if made.__init__ is object.__init__:
        return inspect.Signature()
    return inspect.Signature(list(inspect.signature(made.__init__).parameters.values())[1:])


def _instantiate(target: SpecTarget, arguments: Arguments | None) -> Any:
    # dialects are imported only for a class that plaudit does not define
    is_foreign = isinstance(target.value, type) and not issubclass(target.value, RewardFunction)
    if is_foreign and any(each.of_class for each in dialects_of(target.value, target.imports)):
        return target.value
    if is_reward_class(target.value, target.imports):
        return _call(target, arguments or Arguments())
    if isinstance(target.value, type):
        raise _no_reward(target, target.value)
    if arguments is None:
        return target.value
    if isinstance(target.value, RewardFunction) or not callable(target.value):
        raise RewardNotLoaded(
            f"{target.spec} is {_kind(target.value)} and takes no arguments; leave out the brackets: {target.spec}"
        )
    if arguments.keywords and not arguments.positional and (preset := _preset(target, arguments)) is not None:
        return preset
    return _call(target, arguments)


def _preset(target: SpecTarget, arguments: Arguments) -> Any:
    """The function with these parameters bound if the rest of its parameters make it a foreign reward, else None."""
    parameters = signature_of(target.value).parameters
    required = {name for name, each in parameters.items() if each.default is each.empty and each.kind not in _VARIADIC}
    if not set(arguments.keywords) <= set(parameters) or required <= set(arguments.keywords):
        return None
    preset: Any = functools.partial(target.value, **arguments.keywords)
    preset.__name__ = getattr(target.value, "__name__", "partial")
    return preset if dialects_of(preset, target.imports) else None


def _call(target: SpecTarget, arguments: Arguments) -> Any:
    _check(target, signature_of(target.value), arguments)
    answers = contextlib.nullcontext() if _is_built_in(target.value) else stub_finder()
    with answers, explain_failures(f"calling {target.spec}({_format_arguments(arguments)})"):
        return target.value(*arguments.positional, **arguments.keywords)


def _is_built_in(value: Any) -> bool:
    """Whether it is of this package, which imports nothing that is answered for."""
    made = value.func if isinstance(value, functools.partial) else value
    return str(getattr(made, "__module__", "")).startswith("plaudit.")


def _check(target: SpecTarget, signature: inspect.Signature, arguments: Arguments) -> None:
    takes = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    names = [p.name for p in takes]
    expected = f"it takes {_without_types(signature)}"
    for keyword in arguments.keywords:
        if keyword not in names and not takes_any:
            hint = did_you_mean(keyword, names)
            raise RewardNotLoaded(f"{target.spec} has no parameter {keyword!r}{hint} ({expected})")
    try:
        signature.bind(*arguments.positional, **arguments.keywords)
    except TypeError as error:
        needed = [f"{p.name}=…" for p in takes if p.default is p.empty]
        example = f"; write {target.spec}({', '.join(needed)})" if needed else ""
        raise RewardNotLoaded(f"{target.spec} needs other arguments: {error} ({expected}){example}") from None


def _without_types(signature: inspect.Signature) -> inspect.Signature:
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def _format_arguments(arguments: Arguments) -> str:
    parts = [repr(value) for value in arguments.positional]
    return ", ".join([*parts, *(f"{name}={value!r}" for name, value in arguments.keywords.items())])


def _kind(value: Any) -> str:
    if isinstance(value, RewardFunction):
        return "a reward already"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.ismodule(value):
        return f"the module {value.__name__}"
    if inspect.isfunction(value):
        return f"the function {value.__name__}{inspect.signature(value)}"
    return f"{type(value).__name__} {value!r:.60}"


def _no_reward(target: SpecTarget, value: Any) -> RewardNotLoaded:
    is_named = target.spec != type(value).__name__
    what = f"{target.spec} is {_kind(value)}, not a reward" if is_named else f"{value!r:.60} is not a reward"
    return RewardNotLoaded(
        f"{what}; a reward is a RewardFunction, a class with compute_reward(self, trajectory) or "
        "__call__(self, trajectories, ground_truths), or a function such as def my_reward(response, ground_truth)"
    )
