"""The picture of a run shows what there are numbers for."""

import struct
import zlib

import pytest

from plaudit.errors import TrainingError
from plaudit.training.reporting.curves import draw_curves
from plaudit.training.reporting.panels import MAIN, PANELS


def rows(steps, **more):
    return [
        {"step": step, "reward": step / steps, "score": step / steps, "length": 5.0, "entropy": 1 / (1 + step), **more}
        for step in range(steps)
    ]


def pixels(path):
    """Width, height and the decoded bytes of a PNG."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    start, body = 8, b""
    while start < len(data):
        size, kind = struct.unpack(">I4s", data[start : start + 8])
        body += data[start + 8 : start + 8 + size] if kind == b"IDAT" else b""
        start += size + 12
    return width, height, zlib.decompress(body)


def test_a_run_becomes_a_picture(tmp_path):
    metrics = rows(30, **{"time/sample": 0.1, "time/update": 0.2, "filter/share": 0.3, "status/error": 0.1})
    metrics[0]["eval/score"], metrics[-1]["eval/score"] = 0.1, 0.9
    draw_curves(metrics, tmp_path / "curves.png", title="sort_digits · grpo")
    width, height, drawn = pixels(tmp_path / "curves.png")
    assert (width, height) == (1440, 864)
    draw_curves(rows(30), tmp_path / "fewer.png")
    assert pixels(tmp_path / "fewer.png")[2] != drawn


@pytest.mark.parametrize(
    "metrics",
    [
        [{"step": 0, "eval/score": 0.2}],
        [{"step": 0, "reward": 0.0}, {"step": 1, "reward": 0.0}],
        [{"step": 0}, {"step": 1, "reward": -7.0, "note": "text", "eval/score": None}],
        [{"step": step, "reward": 1e9 * step, "kl": 1e-9} for step in range(3)],
        [{"step": step, "eval/score": step / 2, "eval/greedy": 0.5 + step / 4} for step in range(3)],
    ],
    ids=["only an evaluation", "all zero", "gaps", "odd scales", "equal ends"],
)
def test_odd_runs_are_drawn_too(metrics, tmp_path):
    draw_curves(metrics, tmp_path / "curves.png")
    assert pixels(tmp_path / "curves.png")[:2] == (1440, 864)


def test_panels_without_numbers_are_left_out():
    assert [panel.title for panel in PANELS if panel.visible_lines(rows(3))] == ["Response length (tokens)", "Entropy"]
    assert [line.metric for line in MAIN.visible_lines(rows(3))] == ["reward"]  # the score is the same line
    assert [line.metric for line in MAIN.visible_lines([{"step": 1, "reward": 1.0, "score": 0.5}])] == [
        "reward",
        "score",
    ]


def test_a_run_without_metrics_cannot_be_drawn(tmp_path):
    with pytest.raises(TrainingError, match="no metrics to draw"):
        draw_curves([], tmp_path / "curves.png")
