"""The coordinates of a row: scale, format of boxes and size of the image, as its columns declare them.

Nothing is guessed from the response: its numbers are read in the declared scale, whatever they are.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import find_column, read_literal

__all__ = ["FORMATS", "PIXEL", "THOUSAND", "UNIT", "Frame", "is_number", "read_format", "read_frame", "to_corners"]

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
    """How numbers of a response become numbers of the ground truth."""

    factors: tuple[float, float] = (1.0, 1.0)
    """What x and y of a response are multiplied by."""
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
