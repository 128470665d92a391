"""How well do the boxes of a response match those of the row? IoU under the best one-to-one matching."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec

from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.assignment import assign
from plaudit.verify.geometry.reading import Shape, read_shapes, shapes_of_data
from plaudit.verify.geometry.shapes import Box, Frame, is_number, read_format, read_frame, to_corners
from plaudit.verify.rows import find_column, need_truth, read_literal
from plaudit.verify.verifier import Answer, Verdict, Verifier

MOST_BOXES = 100
"""More boxes than this beyond those of the row are no answer."""
Threshold = Annotated[float, msgspec.Meta(gt=0.0, le=1.0)]


@dataclass(frozen=True, slots=True)
class ExpectedBoxes:
    """The boxes of a row, their labels where they have some, and how boxes of a response are read."""

    boxes: tuple[Box, ...]
    labels: tuple[str | None, ...]
    layout: str
    frame: Frame


@dataclass(frozen=True, repr=False)
class Boxes(Verifier[tuple[ExpectedBoxes, float | None]]):
    """The sum of IoU over the best one-to-one matching with the row's boxes, divided by the greater number of boxes.

    With `threshold` a pair counts 1.0 from this IoU on and else 0.0; a column `iou_threshold` sets it for a row.
    """

    kind: ClassVar[str] = "boxes"

    threshold: Threshold | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def read(self, sample: Trajectory) -> tuple[ExpectedBoxes, float | None]:
        threshold = find_column(sample, "iou_threshold")
        if threshold is not None and not (is_number(threshold) and 0 < threshold <= 1):
            raise InvalidTrajectory(f"iou_threshold is a number above 0 and up to 1, got {threshold!r:.40}")
        return read_boxes(sample), self.threshold if threshold is None else threshold

    def judge(self, task: tuple[ExpectedBoxes, float | None], answer: Answer) -> Verdict:
        expected, threshold = task
        shapes = read_shapes(answer.text, 4)
        if not shapes:
            return Verdict(0.0, "no box, or several answers that differ")
        if len(shapes) > MOST_BOXES + len(expected.boxes):
            return Verdict(0.0, f"{len(shapes)} boxes where {len(expected.boxes)} are expected")
        boxes = answer_boxes(shapes, expected)
        weights = [
            [
                _overlap(box, shape.label, gold, label, expected.frame)
                for gold, label in zip(expected.boxes, expected.labels, strict=True)
            ]
            for box, shape in zip(boxes, shapes, strict=True)
        ]
        if threshold is not None:
            weights = [[float(weight >= threshold) for weight in row] for row in weights]
        pairs = [weights[row][column] for row, column in enumerate(assign(weights)) if column is not None]
        score = math.fsum(pairs) / max(len(boxes), len(expected.boxes))
        reason = f"{len(boxes)} boxes for {len(expected.boxes)}, IoU {', '.join(f'{pair:.2f}' for pair in pairs[:8])}"
        corners = [[box.x1, box.y1, box.x2, box.y2] for box in boxes[:8] if box.is_valid]
        return Verdict(min(1.0, score), reason, details={"boxes": corners})


def _overlap(box: Box, label: str | None, gold: Box, gold_label: str | None, frame: Frame) -> float:
    """IoU; 0 between boxes of different labels, and for the whole image if an object is required."""
    if label and gold_label and label.strip().casefold() != gold_label.strip().casefold():
        return 0.0
    if box.covers(frame.image) and not gold.covers(frame.image):
        return 0.0
    return box.iou(gold)


def answer_boxes(shapes: Sequence[Shape], expected: ExpectedBoxes) -> list[Box]:
    """Boxes of a response in the coordinates of the row."""
    layouts = [shape.layout or expected.layout for shape in shapes]
    return [
        Box(*to_corners(expected.frame.convert(shape.numbers), layout))
        for shape, layout in zip(shapes, layouts, strict=True)
    ]


def read_boxes(sample: Trajectory) -> ExpectedBoxes:
    """The boxes of a row: `bbox`, `bboxes`, `boxes`, `objects`, or the ground truth, which may have `<answer>` tags."""
    truth: Any = read_literal(need_truth(sample, "bbox", "bboxes", "boxes", "objects"))
    shapes = read_shapes(truth, 4) if isinstance(truth, str) else list(shapes_of_data(truth, 4))
    if not shapes:
        raise InvalidTrajectory(f"the ground truth is a box of four numbers or a list of boxes, got {truth!r:.60}")
    if len(shapes) > MOST_BOXES:
        raise InvalidTrajectory(f"the ground truth has at most {MOST_BOXES} boxes, got {len(shapes)}")
    layout = read_format(sample)
    boxes = tuple(Box(*to_corners(shape.numbers, shape.layout or layout)) for shape in shapes)
    if not all(box.is_valid for box in boxes):
        raise InvalidTrajectory(f"a box of the ground truth has no area in the format {layout}, got {truth!r:.60}")
    frame = read_frame(sample, (number for box in boxes for number in (box.x1, box.y1, box.x2, box.y2)))
    return ExpectedBoxes(boxes, tuple(shape.label for shape in shapes), layout, frame)
