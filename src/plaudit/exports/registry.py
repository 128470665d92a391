"""The exports of all trainers, by name: `verl`, `verl:batch`, …"""

import importlib
import pkgutil

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.exports import trainers
from plaudit.exports.convention import Export

__all__ = ["EXPORTS", "find_export"]

EXPORTS: dict[str, Export] = {
    export.name: export
    for found in pkgutil.iter_modules(trainers.__path__)
    for export in importlib.import_module(f"{trainers.__name__}.{found.name}").EXPORTS
}


def find_export(trainer: str) -> Export:
    """The export of a trainer's name, such as `verl` or `verl:batch`."""
    if trainer not in EXPORTS:
        hint = did_you_mean(trainer, EXPORTS)
        raise InvalidSettings(f"no export for {trainer!r}{hint} (there are {', '.join(EXPORTS)})")
    return EXPORTS[trainer]
