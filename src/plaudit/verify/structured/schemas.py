"""JSON Schema: which schemas can be used, and where data does not fit one."""

import functools
import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from plaudit.errors import InvalidSettings

__all__ = ["check_schema", "find_misfit", "make_strict", "typed_by"]

_BOOLEANS = {"true": True, "false": False}


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise InvalidSettings unless this is a JSON Schema that refers to nothing outside itself."""
    try:
        _validator(json.dumps(schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, TypeError, ValueError) as error:
        raise InvalidSettings(f"not a usable JSON Schema: {_short(error)}") from None


def find_misfit(schema: Mapping[str, Any], data: Any) -> str | None:
    """Where data does not fit a schema and why; None where it fits."""
    try:
        error = next(_validator(json.dumps(schema)).iter_errors(data), None)
    except ValueError as unreadable:  # numbers and text that JSON allows but the validator's language does not
        return f"/: cannot be validated: {_short(unreadable)}"
    if error is None:
        return None
    path = "/".join(str(part) for part in error.instance_path)
    return f"/{path}: {error.message:.120}"


def make_strict(schema: Any) -> Any:
    """A schema whose objects have all of their properties and no others, as NeMo Gym and OpenAI take schemas."""
    if isinstance(schema, list):
        return [make_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: make_strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        strict |= {"required": list(schema["properties"]), "additionalProperties": False}
    return strict


def typed_by(schema: Any, data: Any) -> Any:
    """Data whose values are all text, with the types that a schema names; a value that does not fit stays text."""
    wanted = schema.get("type") if isinstance(schema, Mapping) else None
    types = wanted if isinstance(wanted, list) else [wanted]
    if isinstance(data, dict) and "array" in types and len(data) == 1:
        data = next(iter(data.values()))  # XML: <tags><tag>a</tag><tag>b</tag></tags>
    if "array" in types:
        listed = data if isinstance(data, list) else [] if data == "" else [data]
        return [typed_by(schema.get("items", {}), item) for item in listed]
    if isinstance(data, dict):
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        return {key: typed_by(properties.get(key, {}), value) for key, value in data.items()}
    if not isinstance(data, str):
        return data
    for name in types:
        value = _as_type(data, name)
        if value is not data:
            return value
    return data


def _as_type(text: str, name: str | None) -> Any:
    try:
        if name == "integer":
            return int(text)
        if name == "number":
            return float(text)
    except ValueError:
        return text
    if name == "boolean":
        return _BOOLEANS.get(text.lower(), text)
    return None if name == "null" and text in ("", "null") else text


@functools.lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    """Compiled once per schema; not kept in rewards, since validators cannot be sent to other processes."""
    return jsonschema_rs.validator_for(json.loads(schema), retriever=_refuse_reference)


def _refuse_reference(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema; put it under $defs")


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
