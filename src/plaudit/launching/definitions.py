"""What another trainer's command takes, by its own definitions: those of the installed package, else a pinned copy.

OpenRLHF and verl need GPUs to be imported, so their definitions are read without that: the part of OpenRLHF's script
that builds its argument parser is run alone, and verl's settings are a YAML file in its package. TRL's are the fields
of the dataclasses that its command parses.
"""

import argparse
import ast
import dataclasses
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from plaudit.errors import InvalidSettings, did_you_mean

__all__ = ["Definition", "Definitions", "find_definitions", "read_parser", "read_pinned", "read_settings"]

PINNED = {"openrlhf": "0.11.2", "verl": "0.9.1", "trl": "1.16.0"}
"""The version whose definitions hold where the package is not installed."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What one flag or setting takes."""

    arity: int | str = 1
    """How many values; 0 for a switch, "*" and "+" as argparse has them."""
    kind: str = "str"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Definitions:
    """Every flag or setting of a trainer's command, without dashes."""

    trainer: str
    version: str
    origin: str
    """Where they were read: `installed` or `pinned`."""
    known: Mapping[str, Definition]

    def check(self, arguments: Mapping[str, Sequence[str]]) -> None:
        """Raise InvalidSettings for a name or a value that the trainer would refuse."""
        for name, values in arguments.items():
            if name not in self.known:
                raise InvalidSettings(f"{self.trainer} {self.version} has no {name!r}{did_you_mean(name, self.known)}")
            wrong = _fault(self.known[name], values)
            if wrong:
                raise InvalidSettings(f"{self.trainer} {self.version}: {name} {wrong}, got {' '.join(values)!r}")


def find_definitions(trainer: str, version: str | None = None) -> Definitions:
    """The definitions of the version that is installed, of the one that is asked for, or of the pinned one."""
    installed = _installed_version(trainer)
    if installed is not None and version in (None, installed):
        found = READERS[trainer]()
        if found:
            return Definitions(trainer, installed, "installed", found)
    return read_pinned(trainer, version or PINNED[trainer])


@cache
def read_pinned(trainer: str, version: str) -> Definitions:
    """A pinned copy of a version's definitions."""
    folder = files("plaudit.launching").joinpath("pinned")
    file = folder.joinpath(f"{trainer}-{version}.yaml")
    if not file.is_file():
        there = sorted(each.name.removesuffix(".yaml") for each in folder.iterdir() if each.name.startswith(trainer))
        raise InvalidSettings(f"no definitions of {trainer} {version}; install it, or take one of {', '.join(there)}")
    rows = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return Definitions(trainer, version, "pinned", {name: _from_row(row) for name, row in rows.items()})


def read_parser(script: str) -> dict[str, Definition]:
    """The flags of a script with an `argparse` parser, of which only the lines that build the parser are run."""
    tree = ast.parse(script)
    main = next(node for node in tree.body if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test))
    building = [node for node in main.body if _builds_parser(node)]
    imports = [node for node in tree.body if _imports_standard(node)]
    names: dict[str, Any] = {}
    exec(compile(ast.Module([*imports, *building], []), "<parser>", "exec"), names)
    parser = next(value for value in names.values() if isinstance(value, argparse.ArgumentParser))
    return {
        option.lstrip("-"): Definition(_arity(action), _kind(action), tuple(map(str, action.choices or ())))
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }


def read_settings(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Definition]:
    """The settings of a nested YAML file, dotted."""
    found: dict[str, Definition] = {}
    for name, value in tree.items():
        dotted = f"{prefix}{name}"
        found[dotted] = Definition(1, "any" if isinstance(value, dict | list | str | None) else type(value).__name__)
        if isinstance(value, Mapping):
            found |= read_settings(value, f"{dotted}.")
    return found


def read_fields(kind: type) -> dict[str, Definition]:
    """The flags that TRL's command makes of the fields of a dataclass."""
    hints = get_type_hints(kind)
    return {field.name: _of_hint(hints[field.name]) for field in dataclasses.fields(kind) if field.init}


def _read_openrlhf() -> dict[str, Definition]:
    return read_parser((_folder("openrlhf") / "cli" / "train_ppo_ray.py").read_text(encoding="utf-8"))


def _read_verl() -> dict[str, Definition]:
    file = _folder("verl") / "trainer" / "config" / "_generated_ppo_trainer.yaml"
    return read_settings(yaml.safe_load(file.read_text(encoding="utf-8"))) if file.exists() else {}


def _read_trl() -> dict[str, Definition]:
    grpo = importlib.import_module("trl.scripts.grpo").GRPOScriptArguments
    trl = importlib.import_module("trl")
    found: dict[str, Definition] = {}
    for kind in (grpo, trl.GRPOConfig, trl.ModelConfig, trl.DatasetMixtureConfig):
        found |= read_fields(kind)
    return found


READERS: dict[str, Callable[[], dict[str, Definition]]] = {
    "openrlhf": _read_openrlhf,
    "verl": _read_verl,
    "trl": _read_trl,
}


def _installed_version(trainer: str) -> str | None:
    try:
        return metadata.version(trainer)
    except metadata.PackageNotFoundError:
        return None


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or ())))


def _builds_parser(node: ast.stmt) -> bool:
    text = ast.unparse(node)
    return "parse_args" not in text and ("ArgumentParser(" in text or ".add_argument(" in text)


def _imports_standard(node: ast.stmt) -> bool:
    names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return bool(names) and all(name in ("argparse", "os", "datetime") for name in names)


def _arity(action: argparse.Action) -> int | str:
    return 1 if action.nargs is None else action.nargs


def _kind(action: argparse.Action) -> str:
    return action.type.__name__ if isinstance(action.type, type) else "str"


def _of_hint(hint: Any) -> Definition:
    kinds = [each for each in _flat(hint) if each is not NoneType]
    choices = tuple(str(choice) for each in kinds if get_origin(each) is Literal for choice in get_args(each))
    arity: int | str = "+" if any(get_origin(each) is list for each in kinds) and str not in kinds else 1
    plain = [each.__name__ for each in kinds if each in (int, float, bool)]
    return Definition(arity, plain[0] if len(kinds) == 1 and plain else "any", choices)


def _flat(hint: Any) -> Iterator[Any]:
    if get_origin(hint) in (Union, UnionType):
        for each in get_args(hint):
            yield from _flat(each)
    else:
        yield hint


def _from_row(row: Any) -> Definition:
    kind, arity, choices = [*row, 1, ()][:3] if isinstance(row, list) else (row, 1, ())
    return Definition(arity, kind, tuple(choices if isinstance(choices, list | tuple) else ()))


READ: dict[str, Callable[[str], Any]] = {"int": int, "float": float}


def _fault(definition: Definition, values: Sequence[str]) -> str | None:
    """What is wrong with the values, if anything."""
    if isinstance(definition.arity, int) and len(values) != definition.arity:
        return f"takes {definition.arity} values"
    if definition.arity == "+" and not values:
        return "takes at least one value"
    if definition.choices and not set(values) <= set(definition.choices):
        return f"is one of {', '.join(definition.choices)}"
    if definition.kind == "bool" and not {value.lower() for value in values} <= {"true", "false"}:
        return "is true or false"
    try:
        for value in values:
            READ.get(definition.kind, str)(value)
    except ValueError:
        return f"takes {definition.kind}"
    return None
