"""Every reward that can be named without a file: the built-ins, and what other packages offer as plug-ins.

Plug-ins are entry points of the group `plaudit.rewards`. They are listed from package metadata alone and imported only
when asked for, so a broken one breaks only itself. `importlib.metadata` is imported for them alone: it takes as long as
a tenth of what starts a worker process.
"""

import inspect
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plaudit import rewards
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.building import SpecTarget, is_reward_class, signature_of
from plaudit.loading.failures import explain_failures
from plaudit.rewards.built_ins import group_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "plaudit.rewards"
BUILT_IN = "built in"
PLUG_INS = "plug-ins"
_OF_JSON = {"true": "True", "false": "False", "null": "None"}


@dataclass(frozen=True, slots=True)
class Listing:
    """One line of `plaudit rewards`: a name, what it rewards, its parameters, and where it comes from."""

    name: str
    summary: str
    signature: str
    origin: str
    doc: str = ""
    group: str = ""
    """The title under which it is listed."""


def available() -> dict[str, Listing]:
    """All rewards by name; a plug-in that cannot be imported is listed with the reason."""
    listings = [_listing(name, _built_in(name)) for name in rewards.BUILT_INS]
    listings += [_plugin_listing(name) for name in _plugin_names()]
    return {listing.name: listing for listing in listings}


def listing_of(name: str) -> Listing:
    """The description of one reward; raises RewardNotLoaded for an unknown name."""
    target = find_named(name)
    if target is None:
        raise no_such_name(name)
    return _listing(name, target)


def find_named(name: str) -> SpecTarget | None:
    """A built-in or a plug-in by name; a built-in is never hidden by a plug-in."""
    return _built_in(name) if name in rewards.BUILT_INS else _plugin(name)


def no_such_name(name: str) -> RewardNotLoaded:
    """The error for an unknown name."""
    if name in _OF_JSON:
        return RewardNotLoaded(f"{name!r} is JSON; in a spec, write {_OF_JSON[name]}")
    listings = available().values()
    mentioning = [each.name for each in listings if re.search(rf"\b{name}\b", each.summary, re.IGNORECASE)]
    hint = did_you_mean(name, [each.name for each in listings])
    if not hint and mentioning:
        hint = f"; {', '.join(mentioning)} may be what you look for;"
    return RewardNotLoaded(
        f"no reward named {name!r}{hint or ';'} `plaudit rewards` lists them all; a function in another folder is "
        f"named with its file: folder/file.py:{name}"
    )


def _built_in(name: str) -> SpecTarget:
    value = rewards.BUILT_INS[name]
    return SpecTarget(value, name, f"{getattr(value, '__name__', name)}, {BUILT_IN}")


def _plugin_listing(name: str) -> Listing:
    try:
        target = _plugin(name)
    except RewardNotLoaded as error:
        return Listing(name, f"cannot be loaded: {error}", "", "plug-in", group=PLUG_INS)
    assert target is not None
    return _listing(name, target)


def _listing(name: str, target: SpecTarget) -> Listing:
    doc = (inspect.getdoc(target.value) or "").strip()
    summary, origin = doc.partition("\n")[0], target.origin.partition(", ")[2]
    signature = str(signature_of(target.value)) if is_reward_class(target.value) else ""  # a function takes no settings
    return Listing(name, summary, signature, origin, doc, group_of(name) or PLUG_INS)


def _plugin_names() -> list[str]:
    """The names of installed plug-ins; those that are taken by built-ins are left out with a warning."""
    offered = {point.name: point for point in _entry_points()}
    for name in sorted(offered.keys() & rewards.BUILT_INS.keys()):
        warnings.warn(
            f"the plug-in {name!r} of {_package(offered[name])} is left out: a built-in reward has that name",
            stacklevel=3,
        )
    return sorted(offered.keys() - rewards.BUILT_INS.keys())


def _plugin(name: str) -> SpecTarget | None:
    """The object of a plug-in's entry point; None if no package offers that name."""
    points = {point.value: point for point in _entry_points() if point.name == name}
    if not points:
        return None
    if len(points) > 1:
        offers = ", ".join(f"{_package(point)} ({point.value})" for point in points.values())
        raise RewardNotLoaded(f"several packages offer a reward named {name!r}: {offers}; uninstall all but one, or "
                              "name the module instead")  # fmt: skip
    point = next(iter(points.values()))
    with explain_failures(f"importing the plug-in {name!r} of {_package(point)}"):
        return SpecTarget(point.load(), name, f"{name}, a plug-in of {_package(point)}")


def _entry_points() -> "Iterable[EntryPoint]":
    from importlib.metadata import entry_points  # noqa: PLC0415 - see the module's docstring

    return entry_points(group=GROUP)


def _package(point: "EntryPoint") -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
