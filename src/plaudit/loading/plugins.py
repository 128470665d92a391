"""Rewards that other packages offer under the entry point group `plaudit.rewards`.

They are found by reading package metadata alone and imported only when asked for, so a broken one breaks only itself.
"""

import warnings
from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points

from plaudit.errors import RewardNotLoaded
from plaudit.loading.building import Found
from plaudit.loading.explaining import Explaining

__all__ = ["GROUP", "find_plugin", "plugin_names"]

GROUP = "plaudit.rewards"


def plugin_names(taken: Collection[str]) -> list[str]:
    """The names of installed plug-ins; those that are taken by built-ins are left out with a warning."""
    offered = {point.name: point for point in entry_points(group=GROUP)}
    for name in sorted(offered.keys() & set(taken)):
        warnings.warn(
            f"the plug-in {name!r} of {_package(offered[name])} is left out: a built-in reward has that name",
            stacklevel=2,
        )
    return sorted(offered.keys() - set(taken))


def find_plugin(name: str) -> Found | None:
    """What a plug-in's entry point leads to, None where no package offers that name."""
    points = {point.value: point for point in entry_points(group=GROUP, name=name)}
    if not points:
        return None
    if len(points) > 1:
        offers = ", ".join(f"{_package(point)} ({point.value})" for point in points.values())
        raise RewardNotLoaded(f"several packages offer a reward named {name!r}: {offers}; uninstall all but one, or "
                              "name the module instead")  # fmt: skip
    point = next(iter(points.values()))
    with Explaining(f"importing the plug-in {name!r} of {_package(point)}"):
        return Found(point.load(), name, f"{name}, a plug-in of {_package(point)}")


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
