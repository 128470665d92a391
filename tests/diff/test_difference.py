"""What two rewards say differently of the same samples."""

import json
import random
import re

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.cli import main
from plaudit.diff import compare_files, compare_rewards
from plaudit.diff.difference import DifferenceBuilder, compare_groups
from plaudit.errors import RolloutsError
from plaudit.rollouts import Rollout


def strict(response, ground_truth):
    return float(response == ground_truth)


def loose(response, ground_truth):
    return float(ground_truth in response)


SAMPLES = [
    Trajectory(prompt=f"prompt {group}", response=response, ground_truth="4", group=group, id=f"{group}-{place}")
    for group in range(3)
    for place, response in enumerate(["4", "5", "4 or 5" if group else "6", "7"])
]


def test_exactly_the_flipped_rows_are_named():
    difference = compare_rewards(strict, loose, SAMPLES)
    assert [flip.id for flip in difference.flips] == ["1-2", "2-2"]
    assert difference.changed == 2
    assert not difference.is_equal


def test_a_reward_equals_itself():
    difference = compare_rewards(strict, strict, SAMPLES)
    assert difference.is_equal
    assert difference.groups.order_agreement == 1.0
    assert difference.groups.advantage_cosine == pytest.approx(1.0)


def test_scaling_changes_rewards_but_not_what_is_learned():
    difference = compare_rewards(strict, lambda response, ground_truth: 0.7 * (response == ground_truth) + 0.1, SAMPLES)
    assert difference.changed == len(SAMPLES)
    assert difference.flips == ()
    assert difference.groups.advantage_cosine == pytest.approx(1.0)


def test_dead_groups_gained_and_lost_are_counted():
    builder = DifferenceBuilder()
    for group, old, new in [(1, 0.0, 0.0), (1, 1.0, 0.0), (2, 1.0, 0.2), (2, 1.0, 0.9)]:
        builder.add(Trajectory(prompt="p", response="r", group=group), RewardOutput(old), RewardOutput(new))
    groups = builder.difference().groups
    assert (groups.dead_old, groups.dead_new, groups.dead_gained, groups.dead_lost) == (1, 1, 1, 1)
    assert groups.order_agreement == 0.0


def test_a_sample_that_only_one_reward_scores_is_a_change_of_status_and_a_flip():
    builder = DifferenceBuilder()
    builder.add(Trajectory(prompt="p", response="r"), RewardOutput(1.0), RewardOutput.unscored(Status.ERROR, "why"))
    difference = builder.difference()
    assert difference.status_changes == {"ok → error": 1}
    assert [flip.new_status for flip in difference.flips] == ["error"]


def write(path, outputs, samples=SAMPLES):
    lines = [Rollout(sample, output).to_line() for sample, output in zip(samples, outputs, strict=True)]
    path.write_bytes(b"".join(lines))


def test_files_are_matched_by_id_in_any_order(tmp_path):
    outputs = [RewardOutput(float(place)) for place, _ in enumerate(SAMPLES)]
    write(tmp_path / "old.jsonl", outputs)
    write(tmp_path / "new.jsonl", outputs[::-1], SAMPLES[::-1])
    assert compare_files(tmp_path / "old.jsonl", tmp_path / "new.jsonl").is_equal
    write(tmp_path / "fewer.jsonl", outputs[:3], SAMPLES[:3])
    with pytest.raises(RolloutsError, match="lacks 9 samples"):
        compare_files(tmp_path / "old.jsonl", tmp_path / "fewer.jsonl")


def test_reordered_lines_without_ids_are_matched_by_their_texts(tmp_path):
    samples = [Trajectory("p", f"r{place // 2}") for place in range(6)]
    outputs = [RewardOutput(place / 10) for place in range(6)]
    write(tmp_path / "old.jsonl", outputs, samples)
    outputs[3] = RewardOutput(0.9)
    order = [4, 5, 2, 3, 0, 1]
    write(tmp_path / "new.jsonl", [outputs[place] for place in order], [samples[place] for place in order])
    found = compare_files(tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    assert [(flip.index, flip.old, flip.new) for flip in found.flips] == [(3, 0.3, 0.9)]


def test_a_sample_that_only_one_file_has_is_named(tmp_path):
    write(tmp_path / "old.jsonl", [RewardOutput(0.0)], [Trajectory("p", "r", id="a")])
    write(tmp_path / "other.jsonl", [RewardOutput(0.0)], [Trajectory("p", "another", id="a")])
    write(tmp_path / "new.jsonl", [RewardOutput(0.0)] * 2, [Trajectory("p", "r", id="a"), Trajectory("p", "s", id="b")])
    with pytest.raises(RolloutsError, match=r"line 2 of .*new.jsonl \(id 'b'\) is no sample of"):
        compare_files(tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    with pytest.raises(RolloutsError, match="has the id 'a', but another prompt or response"):
        compare_files(tmp_path / "old.jsonl", tmp_path / "other.jsonl")


def test_a_score_that_crosses_the_threshold_flips_though_the_reward_stays():
    builder = DifferenceBuilder()
    for sides in (
        (RewardOutput(0.5, score=1.0), RewardOutput(0.5, score=0.0)),
        (RewardOutput.unscored(Status.ERROR, "x"), RewardOutput.unscored(Status.TIMEOUT, "y")),
        (RewardOutput.unscored(Status.ERROR, "x"), RewardOutput(0.0)),
    ):
        builder.add(Trajectory("p", "r"), *sides)
    difference = builder.difference()
    assert [flip.index for flip in difference.flips] == [0, 2]
    assert not difference.is_equal


@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_counted_as_by_looking_at_each(seed):
    draw = random.Random(seed)
    old, new = ([draw.choice([0.0, 0.5, 1.0, draw.random()]) for _ in range(30)] for _ in range(2))
    pairs = [(old[i] - old[j], new[i] - new[j]) for i in range(30) for j in range(i)]
    ordered = [pair for pair in pairs if pair != (0.0, 0.0)]
    agreed = [pair for pair in ordered if pair[0] * pair[1] > 0]
    assert compare_groups([(old, new)]).order_agreement == len(agreed) / len(ordered)


def test_a_file_that_is_not_scored_is_named(tmp_path):
    (tmp_path / "old.jsonl").write_text('{"prompt": "p", "response": "r"}\n')
    with pytest.raises(RolloutsError, match=r"is not scored: .* score it first"):
        compare_files(tmp_path / "old.jsonl", tmp_path / "old.jsonl")


def test_the_command_exits_with_1_where_a_sample_flips(tmp_path, capfd):
    write(tmp_path / "old.jsonl", [RewardOutput(0.0)] * len(SAMPLES))
    write(tmp_path / "new.jsonl", [RewardOutput(0.0)] * (len(SAMPLES) - 1) + [RewardOutput(1.0)])
    with pytest.raises(SystemExit) as exited:
        main(["diff", str(tmp_path / "old.jsonl"), str(tmp_path / "new.jsonl")])
    assert exited.value.code == 1
    assert "1 flip" in capfd.readouterr().out
    with pytest.raises(SystemExit) as exited:
        main(["diff", str(tmp_path / "old.jsonl"), str(tmp_path / "missing.jsonl")])
    assert exited.value.code == 2


@pytest.mark.parametrize("command", ["diff", "report"])
def test_a_page_shows_what_differs_between_two_files(tmp_path, command):
    write(tmp_path / "old.jsonl", [RewardOutput(0.0)] * len(SAMPLES))
    write(tmp_path / "new.jsonl", [RewardOutput(0.0)] * (len(SAMPLES) - 1) + [RewardOutput(1.0)])
    with pytest.raises(SystemExit):
        main([command, f"{tmp_path}/old.jsonl", f"{tmp_path}/new.jsonl", "-o", f"{tmp_path}/page.html"])
    page = (tmp_path / "page.html").read_text()
    told = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1])["difference"]
    assert told["flipped"] == 1
    assert [flip["id"] for flip in told["flips"]] == ["2-3"]
