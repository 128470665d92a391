"""Settings: plain data read strictly into dataclasses and structs, and checks of single values.

A dataclass declares the type and the range of each field (`tries: Count = 4`), and `check_fields` in its
`__post_init__` enforces them. `read_settings` builds one from a mapping, such as a section of a YAML file. Every error
is an `InvalidSettings` that names the setting, what was expected and what was there.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from plaudit.errors import InvalidSettings, did_you_mean

LARGEST = 1e30  # infinity is not a setting
Count: TypeAlias = Annotated[int, Meta(ge=1)]
NonNegativeInt: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0, le=LARGEST)]
NonNegative: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

T = TypeVar("T")


def read_settings(kind: type[T], plain: Any, where: str) -> T:
    """Build a dataclass or struct from a mapping of its fields; an instance is returned unchanged."""
    if isinstance(plain, kind):
        return plain
    known, required = _field_names(kind)
    if not isinstance(plain, Mapping):
        example = f" with {' and '.join(required)}" if required else ""
        raise InvalidSettings(f"{where} is a {kind.__name__} or a mapping{example}, got {plain!r:.60}")
    check_keys(plain, known, where)
    if missing := [name for name in required if name not in plain]:
        raise InvalidSettings(f"{where} needs {' and '.join(missing)}")
    try:
        return msgspec.convert(dict(plain), kind, strict=False) if issubclass(kind, msgspec.Struct) else kind(**plain)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        raise InvalidSettings(f"{where}{path.rstrip('`')}: {what[:1].lower()}{what[1:]}") from None
    except InvalidSettings as error:
        raise InvalidSettings(f"{where}: {error}") from None


def read_yaml(path: str | Path, what: str) -> Any:
    """The plain data in a YAML file; `what` names the kind of file in errors. A missing file gets a suggestion."""
    import yaml  # noqa: PLC0415 - every worker imports this module, and few read YAML

    file = Path(path).expanduser()
    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        nearby = [each.name for each in file.parent.glob("*.y*ml")] if file.parent.is_dir() else []
        raise InvalidSettings(f"no {what} {str(path)!r}{did_you_mean(file.name, nearby)}") from None
    except OSError as error:
        raise InvalidSettings(f"cannot read the {what} {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidSettings(f"the {what} {path} is not YAML: {error}") from None


def check_fields(settings: Any) -> None:
    """Raise InvalidSettings for the first field of a dataclass or struct whose value is outside its declared range.

    Fields declared as Literal, as bool, or with a range are checked, and these or None.
    """
    kind: Any = type(settings)
    for name, hint in _checked_hints(kind):
        value = getattr(settings, name)
        try:
            msgspec.convert(value, hint)
        except msgspec.ValidationError as error:
            choices = [choice for kind in (hint, *get_args(hint)) for choice in _choices(kind)]
            if choices:
                hint_text = did_you_mean(str(value), choices)
                raise InvalidSettings(f"{name} is one of {', '.join(choices)}, got {value!r:.60}{hint_text}") from None
            expected = str(error).partition(", got")[0].replace("`", "")
            raise InvalidSettings(f"{name}: {expected[:1].lower()}{expected[1:]}, got {value!r:.60}") from None


def check_keys(keys: Iterable[Any], known: Collection[str], where: str, what: str = "setting") -> None:
    """Raise InvalidSettings, with a suggestion, for a key that is not known."""
    for key in keys:
        if key not in known:
            hint = did_you_mean(str(key), known)
            raise InvalidSettings(f"{where} has no {what} {key!r}{hint} (known: {', '.join(known) or 'none'})")


def check_choice(what: str, value: str, choices: Collection[str]) -> None:
    """Raise InvalidSettings, with a suggestion, unless the value is one of the choices."""
    if value not in choices:
        hint = did_you_mean(str(value), choices)
        raise InvalidSettings(f"no {what} named {value!r}{hint} (there are {', '.join(choices)})")


def check_number(name: str, value: Any, *, above: float | None = None, least: float | None = None) -> None:
    """Raise InvalidSettings unless the value is a finite number in range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidSettings(f"{name} is a finite number, got {value!r}")
    if above is not None and value <= above:
        raise InvalidSettings(f"need {name} > {above:g}, got {value:g}")
    if least is not None and value < least:
        raise InvalidSettings(f"need {name} >= {least:g}, got {value:g}")


def as_text_tuple(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """A list of non-empty texts as a tuple; one bare text is refused, since its letters would count as entries."""
    if isinstance(values, str):
        raise InvalidSettings(f"{name} is a list of texts, got the text {values!r}; write [{values!r}]")
    listed = tuple(values)
    for value in listed:
        if not isinstance(value, str) or not value.strip():
            raise InvalidSettings(f"{name} holds texts, got {value!r}")
    return listed


def set_field(instance: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass while it is being built."""
    object.__setattr__(instance, name, value)


def _field_names(kind: Any) -> tuple[list[str], list[str]]:
    """All fields that a constructor takes, and those without a default."""
    if issubclass(kind, msgspec.Struct):
        struct = msgspec.structs.fields(kind)
        return [each.encode_name for each in struct], [each.encode_name for each in struct if each.required]
    taken = [each for each in fields(kind) if each.init]
    required = [each.name for each in taken if each.default is MISSING and each.default_factory is MISSING]
    return [each.name for each in taken], required


@cache
def _checked_hints(kind: type) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind, include_extras=True)
    names, _ = _field_names(kind)
    return tuple((name, hints[name]) for name in names if _is_checked(hints[name]))


def _is_checked(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(kind is NoneType or _is_checked(kind) for kind in get_args(hint))
    return hint is bool or get_origin(hint) in (Annotated, Literal)


def _choices(hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()
