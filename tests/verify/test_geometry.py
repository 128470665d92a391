"""Boxes, points and counts: values between 0 and 1, scales, hostile answers."""

import time

import pytest

from plaudit.errors import InvalidSettings
from plaudit.verify import Boxes, Points
from plaudit.verify.assignment import assign
from plaudit.verify.geometry.shapes import Box, read_mask

BOX = {"prompt": "?", "bbox": [0, 0, 100, 100]}


def test_iou_of_several_boxes_is_divided_by_the_greater_number():
    row = {"prompt": "?", "bboxes": [[0, 0, 10, 10], [20, 0, 30, 10]]}
    assert Boxes().verify(row, "[[20, 0, 30, 10], [0, 0, 10, 5]]").score == pytest.approx(0.75)
    assert Boxes().verify(row, "[0, 0, 10, 10]").score == 0.5
    assert Boxes().verify(row, "[[0, 0, 10, 10], [20, 0, 30, 10], [1, 1, 2, 2], [3, 3, 4, 4]]").score == 0.5
    assert Boxes(threshold=0.6).verify(row, "[[20, 0, 30, 10], [0, 0, 10, 5]]").score == 0.5


@pytest.mark.parametrize("box", ["[0, 0, 0, 100]", "[100, 100, 0, 0]", "[NaN, 0, 100, 100]", "[0, 0, 1e999, 100]"])
def test_degenerate_boxes_earn_nothing(box):
    assert Boxes().verify(BOX, box).score == 0.0


def test_the_whole_image_earns_nothing_where_an_object_is_asked_for():
    assert Boxes().verify({**BOX, "img_size": [120, 100]}, "[0, 0, 120, 100]").score == 0.0
    assert Boxes().verify({**BOX, "img_size": [100, 100]}, "[0, 0, 100, 100]").score == 1.0


def test_thousands_of_boxes_earn_nothing_and_cost_little_time():
    boxes = [[x, y, x + 10, y + 10] for x in range(0, 1000, 10) for y in range(0, 1000, 10)]
    started = time.process_time()
    assert Boxes().verify(BOX, str(boxes)).score == 0.0
    assert time.process_time() - started < 1.0


def test_a_matching_of_a_hundred_boxes_is_found_in_time():
    boxes = [[x, 0, x + 7, 7] for x in range(100)]
    started = time.process_time()
    assert Boxes().verify({"prompt": "?", "bboxes": boxes}, str(boxes[::-1])).score == 1.0
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize(
    ("coordinates", "answer"),
    [("pixel", "[64, 48, 320, 240]"), ("normalized", "[0.1, 0.1, 0.5, 0.5]"), ("0-1000", "[100, 100, 500, 500]")],
)
@pytest.mark.parametrize("bbox", [[0.1, 0.1, 0.5, 0.5], [64, 48, 320, 240]])
def test_the_scale_of_responses_is_the_declared_one(coordinates, answer, bbox):
    row = {"prompt": "?", "bbox": bbox, "coordinates": coordinates, "img_size": [640, 480]}
    if coordinates == "0-1000" and bbox[0] > 1:
        row["bbox"], row["img_size"] = [128, 96, 1640, 1240], [1280, 960]  # within 1000 it would be in the same scale
        answer = "[100, 100, 1281.25, 1291.6666666666667]"
    assert Boxes().verify(row, answer).score == pytest.approx(1.0)


def test_the_three_forms_of_distance():
    row = {"prompt": "?", "expected_answer": "0.5,0.5", "max_dist": 0.2}
    answer = "<point>(500, 600)</point>"
    assert Points().verify(row, answer).score == pytest.approx(0.5)
    assert Points(near="squared").verify(row, answer).score == pytest.approx(0.25)
    assert Points(near="within").verify(row, answer).score == 1.0
    with pytest.raises(InvalidSettings, match="near is one of"):
        Points(near="far")


def test_compressed_run_lengths_are_those_of_the_list():
    """COCO's text form of the counts [4, 1, 2, 1, 4]; the fourth and later are differences to the second before."""
    assert read_mask({"size": [3, 4], "counts": "41202"}) == read_mask({"size": [3, 4], "counts": [4, 1, 2, 1, 4]})


def test_a_box_overlaps_itself_completely():
    assert Box(0.1, 0.2, 0.7, 0.9).iou(Box(0.1, 0.2, 0.7, 0.9)) == 1.0


def test_assignment_has_the_greatest_sum():
    assert assign([[3, 2, 0], [3, 1, 0], [0, 0, 1]]) == [1, 0, 2]
