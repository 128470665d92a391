"""Boxes, polygons and masks in the coordinates that a row declares: scale, format of boxes, size of the image.

Nothing is guessed from the response: its numbers are read in the declared scale, whatever they are. Borders belong to
a shape.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import find_column, read_literal

PIXEL, UNIT, THOUSAND = "pixel", "normalized", "0-1000"
_SCALES = {
    **dict.fromkeys(("pixel", "pixels", "px", "absolute"), PIXEL),
    **dict.fromkeys(("normalized", "normalised", "relative", "0-1", "0..1", "unit"), UNIT),
    **dict.fromkeys(("0-1000", "0..1000", "1000", "0-999", "permille", "thousandths", "normalized_1000"), THOUSAND),
}
FORMATS = {
    **dict.fromkeys(("xyxy", "pascal_voc", "voc", "ltrb"), "xyxy"),
    **dict.fromkeys(("xywh", "coco", "ltwh"), "xywh"),
    **dict.fromkeys(("cxcywh", "yolo", "xcycwh"), "cxcywh"),
}
"""The formats of boxes under their usual names."""
_ROUNDING = 1.001


@dataclass(frozen=True, slots=True)
class Frame:
    """The scaling from the numbers of a response to those of the ground truth."""

    factors: tuple[float, float] = (1.0, 1.0)
    """The factors for x and y of a response."""
    image: tuple[float, float] | None = None
    """Width and height of the image in the scale of the ground truth, where they are known."""

    def convert(self, numbers: Sequence[float]) -> tuple[float, ...]:
        """Numbers of a response, x and y in turn, in the scale of the ground truth."""
        return tuple(number * self.factors[index % 2] for index, number in enumerate(numbers))


def read_frame(sample: Trajectory, truth: Iterable[float]) -> Frame:
    """The frame of a row whose ground truth has these numbers; raises InvalidTrajectory where it is not declared.

    The declared scale is that of responses. The ground truth has it too, unless its numbers are outside of it.
    """
    numbers = [abs(number) for number in truth]
    size = _read_size(sample)
    declared = _read_scale(sample)
    within_unit = max(numbers, default=0.0) <= _ROUNDING
    if declared is None:
        return Frame(image=(1.0, 1.0) if within_unit else size)
    greatest = {UNIT: 1.0, THOUSAND: 1000.0, PIXEL: math.inf}[declared] * _ROUNDING
    scale = PIXEL if max(numbers, default=0.0) > greatest else UNIT if within_unit else declared
    if scale == declared:
        return Frame(image=_extent(scale, size))
    extent, declared_extent = _extent(scale, size), _extent(declared, size)
    if extent is None or declared_extent is None:
        raise InvalidTrajectory(f"coordinates is {declared!r}, the ground truth is in {scale}: img_size is missing")
    return Frame((extent[0] / declared_extent[0], extent[1] / declared_extent[1]), extent)


def _extent(scale: str, size: tuple[float, float] | None) -> tuple[float, float] | None:
    return {UNIT: (1.0, 1.0), THOUSAND: (1000.0, 1000.0)}.get(scale, size)


def _read_scale(sample: Trajectory) -> str | None:
    written = find_column(sample, "coordinates", "coordinate_scale")
    if written is None:
        return None
    scale = _SCALES.get(str(written).strip().casefold())
    if scale is None:
        known = sorted(set(_SCALES.values()))
        hint = did_you_mean(str(written), list(_SCALES))
        raise InvalidTrajectory(f"coordinates is one of {', '.join(known)}, got {written!r:.40}{hint}")
    return scale


def _read_size(sample: Trajectory) -> tuple[float, float] | None:
    """Width and height of the image: `img_size`, or `width` and `height`."""
    written = read_literal(find_column(sample, "img_size", "image_size"))
    if isinstance(written, dict):
        written = [written.get("width"), written.get("height")]
    if written is None:
        written = [find_column(sample, name, f"image_{name}", f"img_{name}") for name in ("width", "height")]
        if None in written:
            return None
    if not isinstance(written, list | tuple) or len(written) != 2 or not all(map(is_number, written)):
        raise InvalidTrajectory(f"img_size is [width, height], got {written!r:.60}")
    if not all(0 < number < math.inf for number in written):
        raise InvalidTrajectory(f"img_size has numbers above 0, got {written!r:.60}")
    return float(written[0]), float(written[1])


def read_format(sample: Trajectory) -> str:
    """The format of plain boxes of a row: `bbox_format`, else corners, as RefCOCO, VLM-R1 and ScreenSpot have them."""
    written = find_column(sample, "bbox_format", "box_format")
    if written is None:
        return "xyxy"
    layout = FORMATS.get(str(written).strip().casefold())
    if layout is None:
        known = ", ".join(sorted(set(FORMATS.values())))
        raise InvalidTrajectory(f"bbox_format is one of {known}, got {written!r:.40}")
    return layout


def to_corners(numbers: Sequence[float], layout: str) -> tuple[float, float, float, float]:
    """A box as x1, y1, x2, y2."""
    a, b, c, d = numbers
    if layout == "xywh":
        return a, b, a + c, b + d
    if layout == "cxcywh":
        return a - c / 2, b - d / 2, a + c / 2, b + d / 2
    return a, b, c, d


def is_number(value: Any) -> bool:
    """Whether a value is a number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


WHOLE_IMAGE = 0.99
"""A box with this share of the image or more is all of it."""
ROUNDING = 1e-9
MOST_CELLS = 50_000_000
MOST_CORNERS = 100_000


class Area(Protocol):
    """Something that a point is in or not."""

    def contains(self, x: float, y: float) -> bool:
        """Whether a point is in it or on its border."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle between two corners."""

    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def is_valid(self) -> bool:
        """Whether it is finite and has an area."""
        finite = all(map(math.isfinite, (self.x1, self.y1, self.x2, self.y2)))
        return finite and self.x1 < self.x2 and self.y1 < self.y2

    @property
    def area(self) -> float:
        return (self.x2 - self.x1) * (self.y2 - self.y1)

    @property
    def center(self) -> tuple[float, float]:
        return (self.x1 + self.x2) / 2, (self.y1 + self.y2) / 2

    def contains(self, x: float, y: float) -> bool:
        return self.x1 <= x <= self.x2 and self.y1 <= y <= self.y2

    def covers(self, image: tuple[float, float] | None) -> bool:
        """Whether it is (almost) the whole image."""
        if image is None:
            return False
        width = min(self.x2, image[0]) - max(self.x1, 0.0)
        height = min(self.y2, image[1]) - max(self.y1, 0.0)
        return width > 0 and height > 0 and width * height >= WHOLE_IMAGE * image[0] * image[1]

    def iou(self, other: "Box") -> float:
        """Intersection over union; 0.0 with a box that is not valid."""
        if not (self.is_valid and other.is_valid):
            return 0.0
        width = min(self.x2, other.x2) - max(self.x1, other.x1)
        height = min(self.y2, other.y2) - max(self.y1, other.y1)
        if width <= 0 or height <= 0:
            return 0.0
        shared = width * height
        ratio = shared / (self.area + other.area - shared)
        return 1.0 if ratio > 1 - ROUNDING else ratio


@dataclass(frozen=True, slots=True)
class Polygons:
    """One or more polygons, as COCO's `segmentation` has them."""

    rings: tuple[tuple[tuple[float, float], ...], ...]

    def contains(self, x: float, y: float) -> bool:
        return any(_in_ring(ring, x, y) for ring in self.rings)


@dataclass(frozen=True, slots=True)
class Grid:
    """A mask of pixels, in rows."""

    rows: tuple[bytes, ...]

    def contains(self, x: float, y: float) -> bool:
        if not (0 <= x <= len(self.rows[0]) and 0 <= y <= len(self.rows)):
            return False
        return bool(self.rows[min(int(y), len(self.rows) - 1)][min(int(x), len(self.rows[0]) - 1)])


def _in_ring(ring: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    inside = False
    for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True):
        cross = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
        if cross == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
            return True
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
    return inside


def read_mask(value: Any) -> Polygons | Grid:
    """A mask: polygons (flat lists or lists of pairs), COCO's run lengths, or rows of bits."""
    if isinstance(value, dict):
        return _read_run_lengths(value)
    if not isinstance(value, list | tuple) or not value:
        raise InvalidTrajectory(f"a mask is a list of polygons, rows of bits or run lengths, got {value!r:.60}")
    if all(isinstance(row, str) for row in value):
        value = [[int(bit) if bit in "01" else -1 for bit in row] for row in value]
    if all(map(is_number, value)) or _is_ring(value):
        value = [value]
    if len(value) > 1 and all(isinstance(row, list | tuple) and set(map(_bit, row)) <= {0, 1} for row in value):
        return _grid([bytes(map(_bit, row)) for row in value])
    return Polygons(tuple(_read_ring(ring) for ring in value))


def _bit(value: Any) -> int:
    return int(value) if value in (0, 1) and isinstance(value, int | float) else -1


def _is_ring(value: Any) -> bool:
    """Whether a list is one polygon of pairs."""
    pairs = all(isinstance(each, list | tuple) and len(each) == 2 and all(map(is_number, each)) for each in value)
    return pairs and len(value) >= 3


def _read_ring(value: Any) -> tuple[tuple[float, float], ...]:
    numbers = (
        [number for pair in value for number in pair] if isinstance(value, list | tuple) and _is_ring(value) else value
    )
    if not isinstance(numbers, list | tuple) or not all(is_number(each) and math.isfinite(each) for each in numbers):
        raise InvalidTrajectory(f"a polygon is a list of numbers x1, y1, x2, y2, …, got {value!r:.60}")
    if len(numbers) < 6 or len(numbers) % 2 or len(numbers) > MOST_CORNERS:
        raise InvalidTrajectory(f"a polygon has at least three corners, got {len(numbers)} numbers")
    return tuple((float(x), float(y)) for x, y in zip(numbers[::2], numbers[1::2], strict=True))


def _grid(rows: list[bytes]) -> Grid:
    if not rows[0] or len({len(row) for row in rows}) != 1 or not any(map(any, rows)):
        raise InvalidTrajectory("a mask has rows of one length, and a pixel that is set")
    return Grid(tuple(rows))


def _read_run_lengths(value: dict[Any, Any]) -> Grid:
    """COCO's run lengths: column by column, zeros first; as a list or in COCO's text form."""
    size, counts = value.get("size"), value.get("counts")
    if not isinstance(size, list | tuple) or len(size) != 2 or not all(type(each) is int and each > 0 for each in size):
        raise InvalidTrajectory(f"run lengths have a size [height, width], got {size!r:.60}")
    height, width = size
    lengths = _decode_counts(counts) if isinstance(counts, str) else counts if isinstance(counts, list) else []
    valid = all(type(each) is int and each >= 0 for each in lengths)
    if not valid or height * width > MOST_CELLS or sum(lengths) != height * width:
        raise InvalidTrajectory(f"run lengths are numbers that add up to {height} * {width}, got {counts!r:.60}")
    cells = b"".join(bytes([index % 2]) * length for index, length in enumerate(lengths))
    return _grid([cells[row::height] for row in range(height)])


def _decode_counts(text: str) -> list[int]:
    """COCO's compressed run lengths: five bits a character, differences to the run before the last one."""
    lengths: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64:
            raise InvalidTrajectory(f"run lengths have a character {character!r} that is none of theirs")
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            value -= (1 << shift) if bits & 16 else 0
            lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
            value = shift = 0
    return lengths
