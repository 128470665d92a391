"""Datasets of many files are scored file by file, and a run that was interrupted goes on."""

import gzip
import json
from pathlib import Path

import pytest

from plaudit import Status
from plaudit.engine import score_dataset
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.rollouts import Rollout, RolloutsWriter, read_rollouts
from plaudit.trajectory import Trajectory
from tests.engine.contract_rewards import Rank, length_or_hang


def write(path: Path, *responses: str, **fields) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with RolloutsWriter(path) as writer:
        for number, response in enumerate(responses):
            writer.write(Rollout(Trajectory(prompt="p", response=response, id=f"{path.name}-{number}", **fields)))


def rewards(path: Path) -> list[float | None]:
    return [rollout.output.reward for rollout in read_rollouts(path)]


@pytest.mark.usefixtures("local_ray")
def test_every_file_of_a_folder_is_scored_into_one_of_the_same_name(tmp_path):
    source, scored = tmp_path / "in", tmp_path / "out"
    mixed = {"big": 2**70, "none": None, "mixed": [1, "a", {"b": 0.5}]}
    write(source / "a.jsonl", "a", "naïve \ud800", metadata=mixed)
    write(source / "b.parquet", "abc", "", metadata=mixed)
    write(source / "deep" / "c.jsonl.gz", *["abcd"] * 1000)
    (source / "_SUCCESS").touch()
    (source / "notes.txt").write_text("not a rollouts file")
    summary = score_dataset(length_or_hang, source, scored)
    assert sorted(summary.scored) == [source / "a.jsonl", source / "b.parquet", source / "deep" / "c.jsonl.gz"]
    assert (summary.samples, summary.statuses, summary.failed) == (1004, {Status.OK: 1004}, {})
    assert sorted(path for path in scored.rglob("*") if path.is_file()) == [
        scored / ".run.json",
        scored / "a.jsonl",
        scored / "b.parquet",
        scored / "deep" / "c.jsonl.gz",
    ]
    assert rewards(scored / "b.parquet") == [0.3, 0.0]
    assert rewards(scored / "deep" / "c.jsonl.gz") == [0.4] * 1000
    for name in ("a.jsonl", "b.parquet"):
        before, after = read_rollouts(source / name), read_rollouts(scored / name)
        assert [rollout.trajectory for rollout in after] == [rollout.trajectory for rollout in before]


def test_finished_files_are_skipped_and_half_ones_are_done_again(tmp_path):
    source, scored = tmp_path / "in", tmp_path / "out"
    for name in ("a.jsonl", "b.jsonl", "c.parquet"):
        write(source / name, "ab", "abc")
    score_dataset(length_or_hang, [source / "a.jsonl"], scored, backend="processes")
    finished = (scored / "a.jsonl").stat()
    half = scored / ".unfinished" / "attempt"
    half.mkdir(parents=True)
    (half / "b.jsonl").write_bytes((scored / "a.jsonl").read_bytes()[:40])
    summary = score_dataset(length_or_hang, source, scored, backend="processes")
    assert summary.skipped == [source / "a.jsonl"]
    assert sorted(summary.scored) == [source / "b.jsonl", source / "c.parquet"]
    assert (scored / "a.jsonl").stat().st_mtime_ns == finished.st_mtime_ns
    assert rewards(scored / "b.jsonl") == rewards(scored / "c.parquet") == [0.2, 0.3]
    assert sorted(path.name for path in scored.iterdir()) == [".run.json", "a.jsonl", "b.jsonl", "c.parquet"]
    assert score_dataset(length_or_hang, source, scored, backend="processes").samples == 0


def test_a_bad_file_is_reported_and_the_others_continue(tmp_path):
    source, scored = tmp_path / "in", tmp_path / "out"
    write(source / "good.jsonl", "ab")
    (source / "broken.jsonl").write_text('{"prompt": "p", "response": "r"}\n{"prompt": 1,\n{}\n')
    (source / "other.parquet").write_bytes(b"not Parquet at all")
    summary = score_dataset(length_or_hang, source, scored, backend="processes", workers=1)
    assert summary.scored == [source / "good.jsonl"]
    assert set(summary.failed) == {source / "broken.jsonl", source / "other.parquet"}
    assert "broken.jsonl:2: broken JSON" in summary.failed[source / "broken.jsonl"]
    assert "not readable as Parquet" in summary.failed[source / "other.parquet"]
    assert sorted(path.name for path in scored.iterdir()) == [".run.json", "good.jsonl"]


def test_a_folder_is_not_gone_on_with_by_another_reward(tmp_path):
    source, scored = tmp_path / "in", tmp_path / "out"
    write(source / "a.jsonl", "ab")
    score_dataset("length(target=3)", source, scored, backend="inline")
    write(source / "b.jsonl", "ab")
    with pytest.raises(
        RolloutsError, match=r"was made with LengthReward\(target=3\), and this is LengthReward\(target=4\)"
    ):
        score_dataset("length(target=4)", source, scored, backend="inline")
    with pytest.raises(RolloutsError, match=r"columns \{\}, and this is columns \{'response': 'text'\}"):
        score_dataset("length(target=3)", source, scored, backend="inline", columns={"response": "text"})
    assert score_dataset("length(target=3)", source, scored, backend="inline").scored == [source / "b.jsonl"]


@pytest.mark.usefixtures("local_ray")
def test_deadlines_columns_and_a_reward_given_as_spec_reach_the_nodes(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "rewards.py").write_text(
        "def slow(response, ground_truth=None):\n"
        "    while response == 'hang': pass\n"
        "    return float(response == ground_truth)\n"
    )
    rows = [{"prompt": "p", "text": text, "truth": "a"} for text in ("a", "hang", "b")]
    with gzip.open(tmp_path / "in" / "rows.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    summary = score_dataset(
        f"{tmp_path / 'rewards.py'}:slow",
        tmp_path / "in",
        tmp_path / "out",
        deadline_s=0.5,
        columns={"response": "text", "ground_truth": "truth"},
    )
    assert summary.statuses == {Status.OK: 2, Status.TIMEOUT: 1}
    assert rewards(tmp_path / "out" / "rows.jsonl.gz") == [1.0, None, 0.0]


def test_group_rewards_see_whole_groups(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    with RolloutsWriter(source / "a.jsonl") as writer:
        for group in range(3):
            for size in range(4):
                writer.write(Rollout(Trajectory(prompt=f"p{group}", response="x" * size, group=str(group))))
    score_dataset(Rank(), source, tmp_path / "out", backend="processes")
    assert rewards(tmp_path / "out" / "a.jsonl") == [0.0, 0.25, 0.5, 0.75] * 3


def test_scores_come_from_the_cache(tmp_path):
    write(tmp_path / "in" / "a.jsonl", "ab", "abc")
    (tmp_path / "rewards.py").write_text(
        "def counted(response):\n"
        f"    with open({str(tmp_path / 'calls')!r}, 'a') as file: file.write('x')\n"
        "    return float(len(response))\n"
    )
    for destination in ("one", "two"):
        score_dataset(
            f"{tmp_path / 'rewards.py'}:counted",
            tmp_path / "in",
            tmp_path / destination,
            backend="inline",
            cache=str(tmp_path / "scores.sqlite"),
        )
    assert (tmp_path / "calls").read_text() == "xx"
    assert rewards(tmp_path / "two" / "a.jsonl") == [2.0, 3.0]


MISTAKES = {
    "no folder": (lambda folder: {"source": folder / "none"}, RolloutsError, "is not a folder"),
    "empty folder": (lambda folder: {"source": folder / "empty"}, RolloutsError, "holds no rollouts files"),
    "empty list": (lambda folder: {"source": []}, RolloutsError, "the list of files to score is empty"),
    "into itself": (lambda folder: {"destination": folder / "in"}, RolloutsError, "would be scored into itself"),
    "one name twice": (
        lambda folder: {"source": [folder / "in" / "a.jsonl", folder / "empty" / "a.jsonl"]},
        RolloutsError,
        "two files are called a.jsonl",
    ),
    "unknown field": (lambda folder: {"columns": {"respons": "text"}}, InvalidSettings, "did you mean 'response'"),
    "no workers": (lambda folder: {"workers": 0}, InvalidSettings, "workers must be at least 1, got 0"),
}


@pytest.mark.parametrize(("wrong", "error", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_an_error_before_anything_is_scored(wrong, error, words, tmp_path):
    write(tmp_path / "in" / "a.jsonl", "ab")
    (tmp_path / "empty").mkdir()
    arguments = {"source": tmp_path / "in", "destination": tmp_path / "out"} | wrong(tmp_path)
    with pytest.raises(error, match=words):
        score_dataset(length_or_hang, **arguments)
    assert not (tmp_path / "out").exists()
