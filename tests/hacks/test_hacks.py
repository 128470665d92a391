"""Hacks are declared completely, their bugs pay, controls do not pay for them, and a run is measured."""

from collections import Counter

import pytest

from plaudit import Trajectory, score
from plaudit.cli import main
from plaudit.errors import InvalidSettings
from plaudit.hacks import audit_hack, find_hack, find_onset, list_hacks, measure_run

EVERY = {each.name: each for each in list_hacks()}
OF_ONE_TURN = [name for name, each in EVERY.items() if not each.is_world]


def mean(values):
    return sum(values) / len(values)


def test_there_are_enough_hacks_of_every_kind_and_enough_controls():
    kinds = Counter(each.kind for each in EVERY.values() if not each.is_sound)
    assert set(kinds) == {"arithmetic", "formats", "instructions", "tools", "queries", "judges", "worlds"}
    assert kinds.total() >= 40
    assert sum(each.is_sound for each in EVERY.values()) == 20


@pytest.mark.parametrize("name", OF_ONE_TURN)
def test_an_exploit_pays_if_and_only_if_the_reward_has_a_bug(name):
    hack = EVERY[name]
    rows = [dict(row) for row in hack.exercise.rows]
    exploits = [hack.exploit(row) if callable(hack.exploit) else hack.exploit for row in rows]
    honest = [hack.exercise.respond(row["ground_truth"]) for row in rows]

    def paid(responses):
        samples = [
            Trajectory.from_dict({**row, "response": response, "group": index})
            for index, (row, response) in enumerate(zip(rows, responses, strict=True))
        ]
        return mean([output.reward for output in score(hack.reward, samples)])

    true_scores = [
        hack.exercise.judge_truly(text, row["ground_truth"]) for text, row in zip(exploits, rows, strict=True)
    ]
    assert mean(true_scores) < 0.2
    assert all(
        hack.exercise.judge_truly(text, row["ground_truth"]) == 1.0 for text, row in zip(honest, rows, strict=True)
    )
    assert max(map(len, exploits)) <= hack.exercise.max_new_tokens
    if hack.is_sound:
        assert paid(exploits) < 0.2 < paid(honest)
    else:
        assert paid(exploits) > 0.85 * paid(honest)
        assert hack.about.endswith(".")


def test_the_onset_is_where_the_reward_leaves_the_true_score_behind():
    flat, rising, falling = [0.5] * 30, [0.3 + 0.02 * step for step in range(30)], [0.5 - 0.01 * s for s in range(30)]
    assert find_onset(flat, flat) is None
    assert find_onset(rising, rising) is None
    assert find_onset(flat, falling) is None  # the reward has to rise
    onset = find_onset(rising, flat)
    assert onset is not None
    assert find_onset(rising, falling) < onset


@pytest.mark.parametrize("name", ["any_number", "injection"])
def test_an_audit_finds_the_planted_bug(name):
    assert audit_hack(find_hack(name)).findings


def test_a_hack_runs_in_the_terminal_and_leaves_a_report(tmp_path, capsys):
    folder = tmp_path / "run"
    keys = ["steps=2", "model.warm_start_steps=2", "eval.prompts=1", "sampling.prompts_per_step=2"]
    with pytest.raises(SystemExit) as ended:
        main(["hack", "take_all", *keys, "--out", str(folder)])
    assert ended.value.code == 0
    printed = capsys.readouterr()
    assert "true score" in printed.out
    assert "take_all (worlds)" in printed.err
    assert (folder / "report.html").is_file()
    assert measure_run(find_hack("take_all"), folder).onset is None


def test_an_unknown_hack_is_refused_with_the_nearest_name():
    with pytest.raises(InvalidSettings, match="any_number"):
        find_hack("any_numbr")
