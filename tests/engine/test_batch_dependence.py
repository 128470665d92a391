"""Functions whose rewards depend on the batch are named before scoring starts."""

import io
import threading

import pytest

from plaudit import Trajectory, load, reward
from plaudit.cli import main
from plaudit.engine import Scorer
from plaudit.engine.batch_dependence import warn_of_batch_dependence

SAMPLES = [Trajectory("p", "x" * length, group=str(length % 2)) for length in (1, 5, 2, 7)]
NORMALISED = """
import numpy

def reward_func(queries, prompts, labels):
    raw = numpy.array([float(len(query)) for query in queries])
    with numpy.errstate(invalid="ignore"):  # the spread of one number is none
        spread = numpy.sqrt(((raw - raw.mean()) ** 2).sum() / numpy.float64(len(raw) - 1))
    return {"rewards": (raw - raw.mean()) / (spread + 1e-9)}
"""


@reward
def longest(responses):
    most = max(map(len, responses))
    return [float(len(response) == most) for response in responses]


@reward
def lengths(responses):
    return [float(len(response)) for response in responses]


def warning(function):
    with Scorer(function) as scorer:
        return warn_of_batch_dependence(scorer, SAMPLES, "--scope group")


@pytest.fixture
def normalised(tmp_path):
    (tmp_path / "normalised.py").write_text(NORMALISED)
    return f"{tmp_path}/normalised.py"


def test_a_normalisation_that_gives_one_sample_no_number_is_named(normalised):
    text = warning(load(normalised))
    assert text.startswith("reward_func: the rewards depend on the batch. A sample gets -")
    assert "beside 3 others and no number (" in text
    assert text.endswith("choose what it compares: --scope group")


def test_a_function_that_gives_another_number_alone_is_named():
    assert "gets 0 beside 3 others and the reward 1 alone" in warning(0.5 * longest + 0.5 * longest)


def test_a_function_that_judges_each_sample_alone_is_not_named():
    assert warning(lengths) is None


def test_samples_that_fail_in_the_trial_do_not_hide_the_dependence():
    @reward
    def longest_but_two(responses):
        most = max(map(len, responses))
        return [None if len(response) == 2 else float(len(response) == most) for response in responses]

    assert "gets 0 beside 3 others and the reward 1 alone" in warning(longest_but_two)


def test_a_function_that_cannot_be_tried_is_named():
    held = threading.Lock()

    @reward
    def reads(responses):
        return [float(held.locked()) for _ in responses]

    with Scorer(reads, backend="inline") as scorer:
        text = warn_of_batch_dependence(scorer, SAMPLES, "--scope group")
    assert text.startswith("reads: whether the rewards depend on the batch was not tried: 'reads' cannot be sent")


def test_a_scope_that_the_user_chose_is_not_warned_of(normalised):
    assert warning(load(normalised, scope="group")) is None
    assert warning(load(normalised, scope="batch")) is None


ROWS = "".join(f'{{"prompt": "p{i % 2}", "response": "{"x" * i}"}}\n' for i in range(6))


@pytest.mark.parametrize(("options", "shown"), [([], 1), (["--scope", "group"], 0)])
def test_score_prints_the_warning_once_and_scores_at_the_chosen_scope(normalised, tmp_path, capfd, options, shown):
    (tmp_path / "rows.jsonl").write_text(ROWS)
    run_command("score", normalised, f"{tmp_path}/rows.jsonl", "--backend", "inline", *options)
    assert capfd.readouterr().err.count("the rewards depend on the batch") == shown


def test_samples_from_standard_input_and_of_a_folder_are_tried_too(normalised, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    run_command("score", normalised, "-", "-o", f"{tmp_path}/out.jsonl")
    assert capfd.readouterr().err.count("the rewards depend on the batch") == 1
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.jsonl").write_text(ROWS)
    (tmp_path / "rows" / "b.jsonl").write_text(ROWS)
    run_command("score", normalised, f"{tmp_path}/rows", "-o", f"{tmp_path}/scored")
    assert capfd.readouterr().err.count("the rewards depend on the batch") == 1


def run_command(*arguments):
    with pytest.raises(SystemExit):
        main(list(arguments))
