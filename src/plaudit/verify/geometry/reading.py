"""Boxes and points in a response: JSON, tags of vision models, or plain brackets.

One source counts, the first that has any: `<answer>`, a fenced block, JSON, tags, plain text. Several `<answer>` or
fenced blocks that differ, and boxes joined by "or", are competing answers, and no answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.fences import find_fences
from plaudit.verify.geometry.shapes import is_number
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import read_literal
from plaudit.verify.text import MARK

LONGEST_DATA = 50_000
_N = r"([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?|[-+]?(?:nan|inf(?:inity)?)\b)"
_SEPARATOR = r"\s*[,;\s]\s*"
_PAIR = rf"[\[(]\s*{_N}{_SEPARATOR}{_N}\s*[\])]"
_PLAIN = {
    4: compile_late(rf"[\[(]\s*{_SEPARATOR.join([_N] * 4)}\s*[\])]", re.IGNORECASE),
    2: compile_late(rf"[\[(]\s*{_SEPARATOR.join([_N] * 2)}\s*[\])]", re.IGNORECASE),
}
_BARE = {size: compile_late(rf"\s*{_SEPARATOR.join([_N] * size)}\s*\.?\s*", re.IGNORECASE) for size in (2, 4)}
_CORNERS = compile_late(
    rf"{_PAIR}\s*(?:,|;|-|–|to|and|for|the|as|corner|:|(?:top|upper|bottom|lower)[- ]?(?:left|right)|\s)*{_PAIR}",
    re.IGNORECASE,
)
_ODD_PAIR = compile_late(rf"{MARK}\s*,\s*{_PAIR}|{_PAIR}\s*,\s*{MARK}", re.IGNORECASE)
_TAG = compile_late(
    r"<\|(box|point)_start\|>(.{0,400}?)<\|\1_end\|>|<(b?box|points?|click)>(.{0,400}?)</\3>", re.IGNORECASE | re.DOTALL
)
_POINT_TAG = compile_late(r"<points?\s([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE = compile_late(rf"\b([xy]\d*)\s*=\s*[\"']?\s*{_N}", re.IGNORECASE)
_NUMBER = compile_late(_N, re.IGNORECASE)
_ALTERNATIVE = compile_late(r"\d\s*[\])],?\s*(?:or\b|/)\s*(?:\w{1,12}\s+){0,3}[\[(]\s*[-+.\d]", re.IGNORECASE)
_WRONG = float("nan")
_KEYS = {
    4: ("bbox_2d", "bbox", "box", "bounding_box", "xyxy"),
    2: ("point_2d", "point", "coordinate", "coordinates", "click", "position", "center"),
}
_CORNER_NAMES = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))
_SIZE_NAMES = (("x", "y", "width", "height"), ("x", "y", "w", "h"), ("left", "top", "width", "height"))
_LABELS = ("label", "name", "class", "category")
_NAMED = {
    4: (*((names, "xyxy") for names in _CORNER_NAMES), *((names, "xywh") for names in _SIZE_NAMES)),
    2: ((("x", "y"), None),),
}
"""The names of the numbers of a shape, and the layout that they determine."""


def _pattern_of_names(names: tuple[str, ...]) -> "re.Pattern[str]":
    return compile_late(r"\s*[,;]?\s*(?:and\s+)?".join(rf"\b{name}\s*[=:]\s*{_N}" for name in names), re.IGNORECASE)


_NAMED_IN_TEXT = {
    size: tuple((_pattern_of_names(names), layout) for names, layout in named) for size, named in _NAMED.items()
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The two or four numbers of a point or a box, as written."""

    numbers: tuple[float, ...]
    layout: str | None = None
    """The format, if the form itself determines it; None where the row declares it."""
    label: str | None = None


def read_shapes(text: str, size: int) -> list[Shape]:
    """The points (size 2) or boxes (size 4) that an answer gives; none where answers compete."""
    final = find_final_answer(text)
    if final.source in ("<answer>", "box"):
        return _of_region(final.readings[0], size) if final.readings else []
    blocks = [_of_region(block.text, size) for block in find_fences(text).closed]
    stated = [shapes for shapes in blocks if shapes]
    if stated:
        return stated[0] if all(shapes == stated[0] for shapes in stated) else []
    return _of_region(text, size)


def _of_region(text: str, size: int) -> list[Shape]:
    region = text.strip()
    for source in (_of_json, _of_tags, _of_text):
        if shapes := source(region, size):
            return shapes
    return []


def _of_json(text: str, size: int) -> list[Shape]:
    """The shapes of the data that a text is, or that it contains from the first bracket to the last."""
    starts = [index for mark in "[{" if (index := text.find(mark)) >= 0]
    end = max(text.rfind("]"), text.rfind("}"))
    if not starts or not 0 < end - min(starts) <= LONGEST_DATA:
        return []
    data = read_literal(text[min(starts) : end + 1])
    return [] if isinstance(data, str) else list(shapes_of_data(data, size))


def shapes_of_data(data: Any, size: int, layout: str | None = None, label: str | None = None) -> Iterator[Shape]:
    """The shapes in plain data: numbers in a list, in a list of lists, or in objects under their usual keys."""
    if isinstance(data, Mapping):
        yield from _of_object(data, size)
    elif isinstance(data, list | tuple):
        if len(data) == size and all(map(is_number, data)):
            yield Shape(tuple(map(_as_float, data)), layout, label)
        elif size == 4 and len(data) == 2 and all(_is_pair(each) for each in data):
            yield Shape(tuple(_as_float(number) for pair in data for number in pair), "xyxy", label)
        else:
            for each in data:
                yield from shapes_of_data(each, size, layout, label)


def _of_object(data: Mapping[Any, Any], size: int) -> Iterator[Shape]:
    label = next((str(data[name]) for name in _LABELS if isinstance(data.get(name), str)), None)
    for names, layout in _NAMED[size]:
        if all(is_number(data.get(name)) for name in names):
            yield Shape(tuple(_as_float(data[name]) for name in names), layout, label)
            return
    for key in _KEYS[size]:
        if key in data:
            yield from shapes_of_data(data[key], size, "xyxy" if key in ("bbox_2d", "xyxy") else None, label)
            return
    for value in data.values():
        if isinstance(value, Mapping | list | tuple):
            yield from shapes_of_data(value, size)


def _of_tags(text: str, size: int) -> list[Shape]:
    """`<box>`, `<|box_start|>`, `<point>` and `<point x="1" y="2">`; boxes in tags are corners."""
    if "<" not in text:
        return []
    shapes = []
    for tag in _TAG.finditer(text):
        numbers = [_as_float(number) for number in _NUMBER.findall(tag[2] or tag[4] or "")]
        one_point = len(numbers) == 2 or (tag[1] or tag[3]).lower().startswith("point")
        if numbers and len(numbers) % size == 0 and (size == 4 or one_point):
            layout = "xyxy" if size == 4 else None
            shapes += [Shape(tuple(numbers[i : i + size]), layout) for i in range(0, len(numbers), size)]
    for tag in _POINT_TAG.finditer(text) if size == 2 else ():
        values = {name.lower(): _as_float(number) for name, number in _ATTRIBUTE.findall(tag[1])}
        pairs = [
            (values[name], values["y" + name[1:]]) for name in values if name[0] == "x" and "y" + name[1:] in values
        ]
        shapes += [Shape(pair) for pair in pairs]
    return shapes


def _of_text(text: str, size: int) -> list[Shape]:
    text = _TAG.sub(" ", text) if "<" in text else text
    if bare := _BARE[size].fullmatch(text):
        return [Shape(tuple(map(_as_float, bare.groups())))]
    if size == 4 and (_ALTERNATIVE.search(text) or _ODD_PAIR.search(_CORNERS.sub(MARK, text))):
        return []
    forms = [(_PLAIN[size], None)] if size == 2 else [(_CORNERS, "xyxy"), (_PLAIN[size], None)]
    return _found(text, forms) or _found(text, _NAMED_IN_TEXT[size])


def _found(text: str, forms: Iterable[tuple["re.Pattern[str]", str | None]]) -> list[Shape]:
    """The different shapes that are written in these forms, each a pattern and a layout."""
    shapes = [
        Shape(tuple(map(_as_float, each.groups())), layout) for form, layout in forms for each in form.finditer(text)
    ]
    return list({(shape.numbers, shape.layout): shape for shape in shapes}.values())


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(is_number, value))


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except (OverflowError, ValueError):
        return _WRONG
