"""Is an argument of a tool call the expected one?

The types are those of the tool's schema, or else of the expected value: an int may stand for a float, never a float for
an int, and a bool is no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ABSENT_MARK", "ExpectedArgument", "Schema", "equals_default", "is_alternatives", "read_alternatives"]

Schema = Mapping[str, Any]
ABSENT_MARK = ""
"""What BFCL writes among the accepted values of an argument that may be absent."""
_FLOAT_TYPES = ("float", "number", "double")
_IGNORED_BY_BFCL = str.maketrans("", "", " ,./-_*^")


@dataclass(frozen=True, slots=True)
class ExpectedArgument:
    """The values that are right for an argument."""

    values: tuple[Any, ...]
    optional: bool = False
    """Whether the argument may be absent."""
    nested: bool = False
    """Whether the objects in a value list the accepted values of their keys, as in BFCL."""
    schema: Schema = field(default_factory=dict)

    def accepts(self, value: Any, *, published: bool = False) -> bool:
        """Whether a value is right; `published` compares texts as BFCL does."""
        if any(_same(value, expected, self.schema, self.nested, published) for expected in self.values):
            return True
        return self.optional and equals_default(value, self.schema)


def equals_default(value: Any, schema: Schema) -> bool:
    """Whether a value is the default of the schema."""
    return "default" in schema and _same(value, schema["default"], schema, nested=False, published=False)


def is_alternatives(value: Any) -> bool:
    """Whether an object lists the accepted values of each key."""
    return isinstance(value, dict) and all(isinstance(each, list) and each for each in value.values())


def read_alternatives(values: list[Any], schema: Schema) -> ExpectedArgument:
    """An argument with its accepted values as BFCL lists them; the mark is a value only where it is the only one."""
    marked = any(isinstance(value, str) and value == ABSENT_MARK for value in values)
    others = tuple(value for value in values if not (isinstance(value, str) and value == ABSENT_MARK))
    return ExpectedArgument(others or (ABSENT_MARK,), marked, nested=True, schema=schema)


def _same(value: Any, expected: Any, schema: Schema, nested: bool, published: bool) -> bool:
    if isinstance(expected, bool) or expected is None:
        return value is expected
    if isinstance(expected, str):
        return isinstance(value, str) and _plain(value, published) == _plain(expected, published)
    if isinstance(expected, int | float):
        return _same_number(value, expected, schema)
    if isinstance(expected, list | tuple):
        return _same_list(value, expected, schema, nested, published)
    if isinstance(expected, dict):
        return _same_object(value, expected, schema, nested, published)
    return False


def _plain(text: str, published: bool) -> str:
    return text.translate(_IGNORED_BY_BFCL).lower().replace("'", '"') if published else text.strip()


def _same_number(value: Any, expected: float, schema: Schema) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != expected:
        return False
    return isinstance(value, int) or isinstance(expected, float) or _is_float(schema)


def _is_float(schema: Schema) -> bool:
    written = str(schema.get("type")).lower()
    return any(name in written for name in _FLOAT_TYPES)


def _same_list(value: Any, expected: Any, schema: Schema, nested: bool, published: bool) -> bool:
    if not isinstance(value, list | tuple) or len(value) != len(expected):
        return False
    items = schema.get("items")
    item_schema = items if isinstance(items, dict) else schema
    if any(isinstance(each, float) for each in expected):
        item_schema = {**item_schema, "type": "float"}
    pairs = zip(value, expected, strict=True)
    return all(_same(one, other, item_schema, nested, published) for one, other in pairs)


def _same_object(value: Any, expected: Mapping[str, Any], schema: Schema, nested: bool, published: bool) -> bool:
    if not isinstance(value, dict):
        return False
    properties = schema.get("properties")
    schemas = properties if isinstance(properties, dict) else {}
    if nested and is_alternatives(expected):
        arguments = {key: read_alternatives(values, _schema_of(schemas, key)) for key, values in expected.items()}
    else:
        arguments = {
            key: ExpectedArgument((each,), nested=nested, schema=_schema_of(schemas, key))
            for key, each in expected.items()
        }
    return value.keys() <= arguments.keys() and all(
        argument.accepts(value[key], published=published) if key in value else argument.optional
        for key, argument in arguments.items()
    )


def _schema_of(schemas: Mapping[str, Any], key: str) -> Schema:
    schema = schemas.get(key)
    return schema if isinstance(schema, dict) else {}
