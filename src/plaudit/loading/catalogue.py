"""Every reward that can be named without a file: the built-ins and the plug-ins."""

import inspect
from dataclasses import dataclass
from typing import Any

from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.building import Found, signature_of
from plaudit.loading.plugins import find_plugin, plugin_names
from plaudit.rewards import BUILT_INS

__all__ = ["Listing", "available", "find_named", "listing_of", "no_such_name"]

BUILT_IN = "built in"


@dataclass(frozen=True, slots=True)
class Listing:
    """One line of `plaudit rewards`: a name, what it rewards, its parameters, and where it comes from."""

    name: str
    summary: str
    signature: str
    origin: str
    doc: str = ""


def available() -> dict[str, Listing]:
    """All rewards by name; a plug-in that cannot be imported is listed with the reason."""
    listings = [_listing(name, _built_in(name)) for name in BUILT_INS]
    listings += [_plugin_listing(name) for name in plugin_names(BUILT_INS)]
    return {listing.name: listing for listing in listings}


def listing_of(name: str) -> Listing:
    """What is known of one reward; raises RewardNotLoaded when nobody has that name."""
    found = find_named(name)
    if found is None:
        raise no_such_name(name)
    return _listing(name, found)


def find_named(name: str) -> Found | None:
    """A built-in or a plug-in by name; a built-in is never hidden by a plug-in."""
    return _built_in(name) if name in BUILT_INS else find_plugin(name)


def no_such_name(name: str) -> RewardNotLoaded:
    """The error for a name that nobody has."""
    known = [*BUILT_INS, *plugin_names(BUILT_INS)]
    return RewardNotLoaded(
        f"no reward named {name!r}{did_you_mean(name, known) or ';'} `plaudit rewards` lists them all"
    )


def _built_in(name: str) -> Found:
    value = BUILT_INS[name]
    return Found(value, name, f"{getattr(value, '__name__', name)}, {BUILT_IN}")


def _plugin_listing(name: str) -> Listing:
    try:
        found = find_plugin(name)
    except RewardNotLoaded as error:
        return Listing(name, f"cannot be loaded: {error}", "", "plug-in")
    assert found is not None
    return _listing(name, found)


def _listing(name: str, found: Found) -> Listing:
    doc = (inspect.getdoc(found.value) or "").strip()
    return Listing(name, doc.partition("\n")[0], _signature(found.value), found.origin.partition(", ")[2], doc)


def _signature(value: Any) -> str:
    """What the brackets behind the name may hold: the parameters of a class; a function takes none."""
    return str(signature_of(value)) if isinstance(value, type) else ""
