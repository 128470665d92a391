"""Does a response point at the right place? In a box or a mask, or near a point."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.assignment import assign
from plaudit.verify.geometry.bounding_boxes import ExpectedBoxes, answer_boxes, read_boxes
from plaudit.verify.geometry.reading import Shape, read_shapes, shapes_of_data
from plaudit.verify.geometry.shapes import Area, Frame, Grid, is_number, read_format, read_frame, read_mask
from plaudit.verify.rows import find_column, need_truth, read_literal
from plaudit.verify.verifier import Answer, Verdict, Verifier

MOST_POINTS = 100
_NEMO_DISTANCE = 0.15


@dataclass(frozen=True, slots=True)
class NearPoint:
    """A point, and the distance from which on nothing is earned."""

    x: float
    y: float
    most: float


@dataclass(frozen=True, slots=True)
class ExpectedPlaces:
    """The regions in which points must be."""

    places: tuple[Area | NearPoint, ...]
    frame: Frame
    layout: str
    thousandths: bool = False
    """Whether whole numbers are thousandths of the image, as in NeMo's rows, with any value of `coordinates`."""


@dataclass(frozen=True, repr=False)
class Points(Verifier[ExpectedPlaces]):
    """1.0 when the point of a response is in the box or the mask of the row; near a point, 1 - distance / max_dist.

    `near` is "distance" (the formula above), "squared" (its square, as NeMo computes it) or "within" (1.0 up to
    max_dist).
    A row with several places gives the share of places that are met, one point each.
    """

    kind: ClassVar[str] = "points"

    near: Literal["distance", "squared", "within"] = "distance"

    def __post_init__(self) -> None:
        check_fields(self)

    def read(self, sample: Trajectory) -> ExpectedPlaces:
        mask = read_literal(find_column(sample, "mask", "segmentation", "ground_truth_mask"))
        if mask is not None:
            return _expect_mask(sample, mask)
        max_dist = find_column(sample, "max_dist")
        if max_dist is not None or find_column(sample, "point", "points") is not None:
            return _expect_points(sample, _NEMO_DISTANCE if max_dist is None else max_dist)
        expected = read_boxes(sample)
        return ExpectedPlaces(expected.boxes, expected.frame, expected.layout)

    def judge(self, task: ExpectedPlaces, answer: Answer) -> Verdict:
        points = _read_points(answer.text, task)
        if not points or (len(task.places) == 1 and len(points) != 1):
            return Verdict(0.0, f"{len(points)} points where one is expected" if points else "no point")
        if len(points) > MOST_POINTS + len(task.places):
            return Verdict(0.0, f"{len(points)} points where {len(task.places)} are expected")
        weights = [[self._weigh(place, x, y) for place in task.places] for x, y in points]
        total = math.fsum(weights[row][column] for row, column in enumerate(assign(weights)) if column is not None)
        score = min(1.0, total / max(len(points), len(task.places)))
        reason = f"{', '.join(f'({x:g}, {y:g})' for x, y in points[:8])}: {score:.2f}"
        return Verdict(score, reason, details={"points": [list(point) for point in points[:8]]})

    def _weigh(self, place: Area | NearPoint, x: float, y: float) -> float:
        if not (math.isfinite(x) and math.isfinite(y)):
            return 0.0
        if not isinstance(place, NearPoint):
            return float(place.contains(x, y))
        distance = math.hypot(x - place.x, y - place.y)
        if self.near == "within":
            return float(distance <= place.most)
        linear = max(0.0, 1.0 - distance / place.most)
        return linear**2 if self.near == "squared" else linear


def _read_points(text: str, task: ExpectedPlaces) -> list[tuple[float, float]]:
    """The points of a response in the coordinates of the row; of boxes the centres."""
    shapes = read_shapes(text, 2)
    if not shapes:
        boxes = answer_boxes(read_shapes(text, 4), ExpectedBoxes((), (), task.layout, task.frame))
        return [box.center for box in boxes if box.is_valid]
    return [_convert(shape, task) for shape in shapes]


def _convert(shape: Shape, task: ExpectedPlaces) -> tuple[float, float]:
    x, y = shape.numbers
    if task.thousandths and x.is_integer() and y.is_integer():
        return x / 1000, y / 1000
    x, y = task.frame.convert((x, y))
    return x, y


def _expect_mask(sample: Trajectory, mask: Any) -> ExpectedPlaces:
    area = read_mask(mask)
    if isinstance(area, Grid):
        numbers: Sequence[float] = (len(area.rows[0]), len(area.rows))
    else:
        numbers = [number for ring in area.rings for point in ring for number in point]
    return ExpectedPlaces((area,), read_frame(sample, numbers), read_format(sample))


def _expect_points(sample: Trajectory, max_dist: Any) -> ExpectedPlaces:
    """Points with a distance: `point`, `points`, or NeMo's `expected_answer` "x,y" in shares of the image."""
    if not is_number(max_dist) or not 0 < max_dist < math.inf:
        raise InvalidTrajectory(f"max_dist is a number above 0, got {max_dist!r:.40}")
    truth: Any = read_literal(need_truth(sample, "point", "points"))
    shapes = read_shapes(truth, 2) if isinstance(truth, str) else list(shapes_of_data(truth, 2))
    numbers = [number for shape in shapes for number in shape.numbers]
    if not 0 < len(shapes) <= MOST_POINTS or not all(map(math.isfinite, numbers)):
        raise InvalidTrajectory(f"the ground truth is a point x, y or a list of points, got {truth!r:.60}")
    places = tuple(NearPoint(shape.numbers[0], shape.numbers[1], float(max_dist)) for shape in shapes)
    frame = read_frame(sample, numbers)
    undeclared = find_column(sample, "coordinates", "coordinate_scale") is None
    thousandths = undeclared and all(0 <= number <= 1 for number in numbers)
    return ExpectedPlaces(places, frame, read_format(sample), thousandths)
