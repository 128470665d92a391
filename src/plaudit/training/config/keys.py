"""The keys of a config: read from YAML and `key=value` overrides, and written back with every key explained.

Overrides are dotted, with or without a leading `+`. A text key takes its value as it stands, any other key as YAML.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

import msgspec
import yaml
from msgspec import Meta

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.settings import check_fields, read_yaml

PositiveShare: TypeAlias = Annotated[float, Meta(gt=0, le=1)]


PRESET: Any = None
"""The default of a field that null leaves to a preset, though its type has no None."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the tree, valid once built; unknown keys are errors. Each field is declared with its meaning."""

    def __post_init__(self) -> None:
        check_fields(self)

    def to_dict(self) -> dict[str, object]:
        """Plain data, in the form saved with a run."""
        plain: dict[str, object] = msgspec.json.decode(msgspec.json.encode(self))
        values = {name: getattr(self, name) for name in plain}
        sections = {name: value.to_dict() for name, value in values.items() if isinstance(value, Section)}
        return plain | sections


def flatten(plain: Mapping[str, object]) -> dict[str, object]:
    """A config's plain data with dotted keys: `{"optimizer.lr": 0.001, …}`."""
    flat: dict[str, object] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping) and value and "." not in key:
            flat.update({f"{key}.{inner}": each for inner, each in value.items()})
        else:
            flat[key] = value
    return flat


Config = TypeVar("Config", bound=Section)


class Key(msgspec.Struct, frozen=True):
    """One key of a config: its dotted name, its type, its default and its meaning."""

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
        """The value of a text from the command line."""
        bare = _bare(self.type)
        kinds = set(get_args(bare)) if isinstance(bare, UnionType) else {bare}
        if str in kinds:
            return None if NoneType in kinds and text in ("", "null", "None", "none") else text
        return _read_yaml_value(self.name, text)


class Keys(Generic[Config]):
    """Every key of one kind of config by its dotted name; keys of the open sections are TRL's, a task's, or names."""

    OPEN = ("trl", "task_options", "tasks")
    ALIASES: ClassVar[dict[str, str]] = {"task": "task_options"}
    """`task.KEY` is an option of the task."""

    def __init__(self, kind: type[Config], *, command: str) -> None:
        self.by_name = _keys(kind)
        self._kind, self._command = kind, command

    def override(self, values: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
        """The flat values with `section.key=value` overrides in their places."""
        overridden = dict(values)
        for override in overrides:
            name, text = _pair(override)
            name = self.full_name(name)
            if "." in name and overridden.get(section := name.partition(".")[0]) == {}:
                del overridden[section]
            overridden[name] = self.by_name[name].read(text) if name in self.by_name else _read_yaml_value(name, text)
        return overridden

    def build(self, values: Mapping[str, Any]) -> Config:
        """The config of plain values, nested or dotted; unknown keys and values out of range are errors."""
        nested: dict[str, Any] = {}
        for name, value in flatten(values).items():
            name = self.full_name(name)
            section, _, key = name.partition(".")
            if name not in self.by_name and not (key and section in self.OPEN):
                raise self._unknown(name)
            if value is None and name in self.by_name and self.by_name[name].default is None:
                continue
            (nested.setdefault(section, {}) if key else nested)[key or section] = value
        try:
            return msgspec.convert(nested, self._kind, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidSettings(self._explain(str(error), flatten(nested))) from None

    def document(self, config: Config) -> str:
        """The config as YAML with the meaning of every key; it can be read back."""
        lines: list[str] = []
        section = ""
        values = flatten(config.to_dict())
        for name, value in sorted(values.items(), key=lambda each: "." in each[0]):  # sections after the other keys
            parent, _, key = name.partition(".") if "." in name else ("", "", name)
            if parent != section:
                section = parent
                known = self.by_name.get(section)
                meaning = known.meaning if known is not None else type(getattr(config, section)).__doc__
                lines += ["", f"{section}:  # {meaning}"]
            entry = f"{'  ' if parent else ''}{key}: {write_value(value)}"
            lines.append(f"{entry:<44}  # {self.by_name[name].explanation}" if name in self.by_name else entry)
        return "\n".join(lines).lstrip("\n") + "\n"

    def full_name(self, name: str) -> str:
        """The full key for a short or full name."""
        section, dot, key = name.partition(".")
        return f"{self.ALIASES[section]}.{key}" if dot and section in self.ALIASES else name

    def _unknown(self, name: str) -> InvalidSettings:
        within = [known for known in self.by_name if known.startswith(f"{name}.")]
        if within:
            return InvalidSettings(f"{name} is a section; set its keys: {', '.join(within)}")
        last = name.rpartition(".")[2]
        endings = {known: known.rpartition(".")[2] for known in self.by_name}
        same = [known for known, ending in endings.items() if ending == last]
        hint = did_you_mean(name, same) or (f"; did you mean {same[0]!r}?" if same else "")
        hint = hint or did_you_mean(name, self.by_name)
        if not hint:
            alike = [known for known, ending in endings.items() if last and last in ending.split("_")]
            hint = f"; keys with that word: {', '.join(alike)}" if alike else ""
        return InvalidSettings(f"no key {name!r}{hint} (`plaudit {self._command} --print-config` lists all)")

    def _explain(self, message: str, values: Mapping[str, Any]) -> str:
        what, _, path = message.partition(" - at `$.")
        name = path.rstrip("`").partition("[")[0]
        if name not in self.by_name:
            return f"{name}: {what}" if name else what
        choices = self.by_name[name].choices
        wanted = f"expected one of {', '.join(choices)}" if choices else what.partition(", got")[0].lower()
        hint = did_you_mean(str(values[name]), choices)
        meaning = self.by_name[name].meaning
        return f"{name}: {wanted}, got {values[name]!r:.60}{hint} ({name} means: {meaning})"


def read_config_file(path: str | Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    plain = read_yaml(path, "config file")
    if not isinstance(plain, dict | None):
        raise InvalidSettings(
            f"the config file {path} holds {type(plain).__name__} {plain!r:.40}; expected keys and values"
        )
    return {str(key): value for key, value in (plain or {}).items() if value != {}}


def write_value(value: Any) -> str:
    """The form of a value in YAML and after `key=`."""
    written = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
    return written.removesuffix("\n").removesuffix("\n...")


def _read_yaml_value(name: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidSettings(f"{name}={text!r} is not a YAML value: {str(error).splitlines()[0]}") from None


def _bare(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def _pair(override: str) -> tuple[str, str]:
    name, equals, value = override.removeprefix("+").partition("=")
    if not (name and equals):
        raise InvalidSettings(f"expected key=value, such as optimizer.lr=1e-3, got {override!r}")
    return name.strip(), value.strip()


def _keys(kind: type[msgspec.Struct], prefix: str = "") -> dict[str, Key]:
    keys: dict[str, Key] = {}
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        hint = hints[field.name]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            keys.update(_keys(hint, f"{field.name}."))
            continue
        [meaning] = [each for each in hint.__metadata__ if isinstance(each, str)]
        keys[prefix + field.name] = Key(prefix + field.name, hint, field.default, meaning)
    return keys
