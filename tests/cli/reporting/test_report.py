"""`plaudit report`: a page, the same figures as JSON, and a headline."""

import json
import random
import re

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report.collecting import collect_figures
from plaudit.rollouts import Rollout, read_rollouts
from tests.report.page.hostile_run import hostile_rollouts


@pytest.fixture
def scored(tmp_path):
    path = tmp_path / "run" / "rollouts.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(rollout.to_line() for rollout in hostile_rollouts(80)))
    metrics = [{"step": step, "entropy": 1 / step, "reward": 0.5, "note": "x"} for step in range(1, 700)]
    (path.parent / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in metrics) + '{"step": 7')
    return path


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL)[1])


def test_a_report_is_one_page_with_the_figures_that_json_gives(plaudit, scored, tmp_path):
    ran = plaudit("report", scored.parent, "-o", tmp_path / "out.html")
    assert ran.code == 0
    assert "80 samples" in ran.out
    assert "out.html" in ran.err
    page = (tmp_path / "out.html").read_text()
    printed = plaudit("report", scored.parent, "--json").json
    (run,) = data_of(page)["runs"]
    assert {name: run[name] for name in printed} == printed
    assert printed["name"] == "run"
    assert 100 < len(printed["metrics"]["entropy"]) <= 300
    assert not (tmp_path / "report.html").exists()
    assert printed["figures"]["groups"]["compared"] == collect_figures(read_rollouts(scored)).groups.compared


def test_a_page_loads_nothing_and_runs_no_other_script(plaudit, scored, tmp_path):
    plaudit("report", scored, "-q")
    page = (tmp_path / "report.html").read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
    shell = re.sub(r'(?s)<script type="application/(json|gzip)".*?</script>', "", page)
    assert set(re.findall(r"https?://[^\s\"']+", shell)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", shell)
    assert re.findall(r"<script(?: [^>]*)?>", shell) == ["<script>"]


def test_several_runs_share_a_page(plaudit, scored, tmp_path):
    assert plaudit("report", scored.parent, scored, "-o", tmp_path / "two.html", "-q").code == 0
    assert [run["name"] for run in data_of((tmp_path / "two.html").read_text())["runs"]] == ["run", "rollouts.jsonl"]
    assert len(plaudit("report", scored.parent, scored, "--json").json["runs"]) == 2


def test_only_some_texts_go_into_a_small_page_but_all_numbers(plaudit, tmp_path):
    draw = random.Random(1)
    lines = [
        Rollout(Trajectory("p", draw.randbytes(2_500).hex(), group=n // 4), RewardOutput(n / 400)).to_line()
        for n in range(400)
    ]
    (tmp_path / "big.jsonl").write_bytes(b"".join(lines))
    assert plaudit("report", "big.jsonl", "--max-mb", "1", "-q").code == 0
    page = tmp_path / "report.html"
    (run,) = data_of(page.read_text())["runs"]
    assert page.stat().st_size <= 1e6
    assert 0 < run["texts"] < run["rows"] == 400
    assert run["texts"] % 4 == 0


@pytest.mark.parametrize("runs", [1, 2])
def test_a_page_is_never_larger_than_its_limit(plaudit, tmp_path, runs):
    """Short samples with many values: the columns alone would not fit."""
    draw = random.Random(1)
    lines = [
        Rollout(
            Trajectory("p", "r", group=n // 4, columns={f"c{k}": draw.random() for k in range(4)}),
            RewardOutput(draw.random()) if n % 3 else RewardOutput.unscored(Status.ERROR, draw.randbytes(20).hex()),
        ).to_line()
        for n in range(20_000)
    ]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines[:9_000]))
    assert plaudit("report", *["a.jsonl", "b.jsonl"][:runs], "--max-mb", "1", "-q").code == 0
    page = tmp_path / "report.html"
    assert page.stat().st_size <= 1e6
    run = data_of(page.read_text())["runs"][0]
    assert run["columns"][:2] == ["status", "reward"]
    assert run["figures"]["summary"]["count"] == run["rows"] == 20_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "absent.jsonl"], "no file absent.jsonl"),
        (["report", "."], "not a run folder"),
        (["report", "plain.jsonl"], "is not scored"),
        (["report", "run", "-o", "absent/x.html"], "cannot write absent/x.html"),
        (["report", "run", "--where", "level=99"], "no sample meets"),
    ],
)
def test_an_error_is_reported_in_one_line(plaudit, scored, tmp_path, arguments, message):
    (tmp_path / "plain.jsonl").write_text('{"prompt": "p", "response": "r"}\n')
    ran = plaudit(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
