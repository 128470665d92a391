"""Read a run's config: a YAML file, then `key=value` overrides; and write it back with every key explained.

Overrides are dotted, with or without a leading `+`. A text key takes its value as it stands, any other key as YAML.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import yaml

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.loading.catalogue import find_named
from plaudit.loading.names import files_that_define, locate_files
from plaudit.training.config.schema import RunConfig, flatten

__all__ = ["KEYS", "Key", "build_config", "document_config", "load_config", "read_yaml", "write_value"]


OPEN = "trl"
"""The section whose keys are another library's."""
REWARDS = ("training.reward_function", "eval.reward_function")
"""The keys whose values are specs of rewards; files and bare names in a config file are looked for beside it first."""


class Key(msgspec.Struct, frozen=True):
    """One key of the config: its dotted name, its type, its default and its meaning."""

    name: str
    type: Any
    default: Any
    meaning: str

    @property
    def choices(self) -> tuple[str, ...]:
        """The values it may have, where these are names."""
        bare = _bare(self.type)
        kinds = [_bare(kind) for kind in get_args(bare)] if get_origin(bare) in (Union, UnionType) else [bare]
        return tuple(name for kind in kinds if get_origin(kind) is Literal for name in get_args(kind))

    @property
    def explanation(self) -> str:
        """The meaning with the choices."""
        return f"{self.meaning} [{' | '.join(self.choices)}]" if self.choices else self.meaning

    def read(self, text: str) -> Any:
        """The value that a command line's text stands for."""
        bare = _bare(self.type)
        kinds = set(get_args(bare)) if isinstance(bare, UnionType) else {bare}
        if str in kinds:
            return None if NoneType in kinds and text in ("", "null", "None", "none") else text
        return _read_yaml_value(self.name, text)


def load_config(
    file: str | Path | None = None, overrides: Iterable[str] = (), *, base: Mapping[str, Any] | None = None
) -> RunConfig:
    """The config of a YAML file (or of `base`, or the defaults) with `section.key=value` overrides."""
    plain: dict[str, Any] = read_yaml(file) if file is not None else dict(base or {})
    values = flatten(plain)
    if file is not None:
        values |= {name: _locate(values[name], Path(file).parent) for name in REWARDS if values.get(name)}
    for override in overrides:
        name, text = _pair(override)
        values.pop(OPEN, None) if name.startswith(f"{OPEN}.") else None
        values[name] = KEYS[name].read(text) if name in KEYS else _read_yaml_value(name, text)
    return build_config(values)


def build_config(values: Mapping[str, Any]) -> RunConfig:
    """The config of plain values, nested or dotted; unknown keys and values out of range are errors that say so."""
    nested: dict[str, Any] = {}
    for name, value in flatten(values).items():
        if name not in KEYS and not name.startswith(f"{OPEN}."):
            raise _unknown(name)
        section, _, key = name.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[key] = value
    try:
        return msgspec.convert(nested, RunConfig, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidSettings(_explain(str(error), flatten(nested))) from None


def read_yaml(path: str | Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    try:
        plain = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSettings(f"cannot read the config {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"the config {path} is no YAML: {error}") from None
    if not isinstance(plain, dict | None):
        raise InvalidSettings(f"the config {path} holds {type(plain).__name__} {plain!r:.40}; expected keys and values")
    return {str(key): value for key, value in (plain or {}).items() if value != {}}


def document_config(config: RunConfig) -> str:
    """The config as YAML with the meaning of every key; it can be read back."""
    lines: list[str] = []
    section = ""
    for name, value in flatten(config.to_dict()).items():
        parent, _, key = name.rpartition(".")
        if parent != section:
            section = parent
            meaning = KEYS[section].meaning if section in KEYS else type(getattr(config, section)).__doc__
            lines += ["", f"{section}:  # {meaning}"]
        entry = f"{'  ' if parent else ''}{key}: {write_value(value)}"
        lines.append(f"{entry:<44}  # {KEYS[name].explanation}" if name in KEYS else entry)
    return "\n".join(lines).lstrip("\n") + "\n"


def _locate(spec: Any, folder: Path) -> Any:
    if not isinstance(spec, str):
        return spec
    files = files_that_define(spec, folder) if spec.isidentifier() and find_named(spec) is None else []
    return f"{files[0]}:{spec}" if len(files) == 1 else locate_files(spec, [folder])


def _read_yaml_value(name: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidSettings(f"{name}={text!r} is no YAML value: {str(error).splitlines()[0]}") from None


def _bare(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def write_value(value: Any) -> str:
    """A value as it is written in YAML and after `key=`."""
    written = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
    return written.removesuffix("\n").removesuffix("\n...")


def _pair(override: str) -> tuple[str, str]:
    name, equals, value = override.removeprefix("+").partition("=")
    if not (name and equals):
        raise InvalidSettings(f"expected key=value, such as optimizer.lr=1e-3, got {override!r}")
    return name.strip(), value.strip()


def _unknown(name: str) -> InvalidSettings:
    if name in SECTIONS:
        return InvalidSettings(
            f"{name} is a section; set its keys: {', '.join(k for k in KEYS if k.startswith(name + '.'))}"
        )
    last = name.rpartition(".")[2]
    endings = {known: known.rpartition(".")[2] for known in KEYS}
    same = [known for known, ending in endings.items() if ending == last]
    hint = f"; did you mean {same[0]!r}?" if same else did_you_mean(name, KEYS)
    if not hint:
        alike = [known for known, ending in endings.items() if last and last in ending.split("_")]
        hint = f"; keys with that word: {', '.join(alike)}" if alike else ""
    return InvalidSettings(f"no key {name!r}{hint} (`plaudit train --print-config` lists all)")


def _explain(message: str, values: Mapping[str, Any]) -> str:
    what, _, place = message.partition(" - at `$.")
    name = place.rstrip("`").partition("[")[0]
    if name not in KEYS:
        return f"{name}: {what}" if name else what
    choices = KEYS[name].choices
    wanted = f"expected one of {', '.join(choices)}" if choices else what.partition(", got")[0].lower()
    hint = did_you_mean(str(values[name]), choices)
    return f"{name}: {wanted}, got {values[name]!r:.60}{hint} ({name} means: {KEYS[name].meaning})"


def _keys(kind: type[msgspec.Struct], prefix: str = "") -> dict[str, Key]:
    found: dict[str, Key] = {}
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        hint = hints[field.name]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            found.update(_keys(hint, f"{field.name}."))
            continue
        meanings = [each.description for each in get_args(hint)[1:] if getattr(each, "description", None)]
        found[prefix + field.name] = Key(prefix + field.name, hint, field.default, meanings[-1])
    return found


KEYS: dict[str, Key] = _keys(RunConfig)
"""Every key by its dotted name."""

SECTIONS = {name.partition(".")[0] for name in KEYS if "." in name}
