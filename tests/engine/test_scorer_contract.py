"""One suite for every backend: equal outputs, order, statuses, groups and words.

An actor of Ray takes seconds of processor time to start. What happens in the caller's process before a unit of samples
is handed to a backend (cutting, grouping, reading dicts and files) is the same for all, and tested on the other two.
"""

import asyncio
import json
import threading
from collections.abc import Iterator

import msgspec
import pytest

from plaudit import CompositeReward, RewardOutput, Status, Trajectory
from plaudit.contract.results import RETURNED_NONE
from plaudit.contract.scoring import score_samples
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings, InvalidTrajectory
from tests.engine import contract_rewards
from tests.engine.contract_rewards import Batch, Detailed, Mean, Rank, faulty, length, length_async


@pytest.fixture(params=["inline", "processes", "ray"])
def backend(request) -> str:
    if request.param == "ray":
        request.getfixturevalue("local_ray")
    return request.param


@pytest.fixture(params=["inline", "processes"])
def local_backend(request) -> str:
    return request.param


@pytest.fixture
def workers(backend) -> int:
    """Two, but one actor: starting one takes a second, and `test_ray_backend.py` has several."""
    return 1 if backend == "ray" else 2


def samples(*responses: str, **fields) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response, id=f"s{n}", **fields) for n, response in enumerate(responses)]


def timeless(outputs: list[RewardOutput]) -> list[RewardOutput]:
    """Outputs without their latencies, at any depth."""
    return [
        msgspec.structs.replace(
            output,
            latency_s=None,
            components={name: timeless([part])[0] for name, part in output.components.items()},
        )
        for output in outputs
    ]


REWARDS = {
    "function": length,
    "async function": length_async,
    "detailed": Detailed(),
    "batch": Batch(),
    "composite": CompositeReward([(length, 0.5), (Detailed(), 0.25), (Batch(), 1.0)]),
    "normalised": Detailed().normalized("zscore"),
    "lambda": lambda response: len(response) / 10,
    "spec of a built-in": "0.5 * length(target=3) + format",
    "spec of a file": f"{contract_rewards.__file__}:length",
}
ON_RAY = {
    "async function",
    "composite",
    "lambda",
}  # ways in which a reward gets there; `test_ray_backend.py` has a file
RESPONSES = ["one", "two words", "", "unparsed", "raise", "x" * 100_000, "naïve \ud800 \x00"] * 20


@pytest.mark.parametrize("name", REWARDS)
def test_outputs_equal_those_of_a_plain_evaluation_in_order(local_backend, name):
    check_outputs(REWARDS[name], local_backend, workers=2)


@pytest.mark.parametrize("name", sorted(ON_RAY))
def test_outputs_on_ray_equal_those_of_a_plain_evaluation_in_order(local_ray, name):
    check_outputs(REWARDS[name], "ray", workers=1)


def check_outputs(reward, backend: str, workers: int) -> None:
    trajectories = samples(*RESPONSES)
    with Scorer(reward, backend=backend, workers=workers) as scorer:
        outputs = scorer.score(trajectories)
        expected = score_samples(scorer.reward, trajectories)
        assert timeless(outputs) == timeless(expected)
        assert timeless(scorer.score(trajectories)) == timeless(expected), "a scorer can be used again"


FAULTS = {
    "raise": (Status.ERROR, "faulty raised ValueError: no good (at contract_rewards.py:"),
    "nan": (Status.ERROR, "faulty: reward is nan"),
    "none": (Status.SKIPPED, RETURNED_NONE),
    "text": (Status.ERROR, "must be a number, got str 'high'"),
    "system exit": (Status.ERROR, "raised SystemExit"),
}


def test_failures_have_the_same_status_and_words(backend, workers):
    with Scorer(faulty, backend=backend, workers=workers) as scorer:
        outputs = scorer.score(samples(*(response for fault in FAULTS for response in ("fine", fault))))
    assert [output.status for output in outputs[0::2]] == [Status.OK] * len(FAULTS)
    for output, (status, words) in zip(outputs[1::2], FAULTS.values(), strict=True):
        assert output.status is status
        assert words in output.reason


@pytest.mark.parametrize("batch_size", [1, 100])
def test_group_rewards_get_whole_groups_however_the_stream_is_cut(local_backend, batch_size):
    check_groups(local_backend, 2, batch_size)


def test_group_rewards_get_whole_groups_on_every_backend(backend, workers):
    check_groups(backend, workers, batch_size=3)


def check_groups(backend: str, workers: int, batch_size: int) -> None:
    trajectories = [
        Trajectory(prompt=f"p{group}", response="x" * place, group=group) for group in range(20) for place in range(4)
    ]
    with Scorer(Rank(), backend=backend, workers=workers, batch_size=batch_size) as scorer:
        assert [output.reward for output in scorer.score(trajectories)] == [0.0, 0.25, 0.5, 0.75] * 20


def test_interleaved_groups_are_whole_when_their_size_is_known_and_incomplete_ones_are_reported(local_backend):
    trajectories = [Trajectory(prompt="p", response="x" * n, group=n % 3) for n in range(11)]
    with Scorer(Rank(), backend=local_backend, workers=2, group_size=4) as scorer:
        outputs = scorer.score(trajectories)
    assert [output.reward for output in outputs[0::3]] == [0.0, 0.25, 0.5, 0.75]
    incomplete = outputs[2::3]
    assert [output.status for output in incomplete] == [Status.SKIPPED] * 3
    assert "group 2 is incomplete: 3 of 4 samples" in incomplete[0].reason


def test_groups_that_stay_open_for_long_are_whole_in_the_end(local_backend):
    trajectories = [Trajectory(prompt="p", response="x", group=n % 6000) for n in range(12_000)]
    with Scorer(Rank(), backend=local_backend, workers=2, group_size=2) as scorer:
        outputs = [scored.output for scored in scorer.score_stream(iter(trajectories))]
    assert [output.reward for output in outputs] == [0.0] * 12_000


def test_a_group_that_comes_back_is_reported_not_scored_as_two(local_backend):
    trajectories = [Trajectory(prompt="p", response="x", group=group) for group in (1, 1, 2, 2, 1)]
    with Scorer(Rank(), backend=local_backend, workers=2) as scorer:
        outputs = list(scorer.score_stream(iter(trajectories)))
    assert [scored.output.ok for scored in outputs] == [True] * 4 + [False]
    assert "keep the samples of a group together, or say group_size" in outputs[4].output.reason


def test_batch_rewards_see_everything_at_once(backend, workers):
    with Scorer(Mean(), backend=backend, workers=workers, batch_size=2) as scorer:
        assert [output.reward for output in scorer.score(samples("a", "aaa", "aaaaa"))] == [3.0] * 3


def test_a_stream_is_read_no_further_than_its_results_are_taken(backend, workers):
    read = 0

    def endless() -> Iterator[Trajectory]:
        nonlocal read
        while True:
            read += 1
            yield Trajectory(prompt="p", response=str(read))

    with Scorer(length, backend=backend, workers=workers) as scorer:
        results = scorer.score_stream(endless())
        taken = [next(results) for _ in range(1000)]
        assert [scored.trajectory.response for scored in taken] == [str(n) for n in range(1, 1001)]
        assert read <= 1000 + 20_000
        results.close()
        assert [output.reward for output in scorer.score(samples("abc"))] == [0.3]


def test_scoring_from_another_thread_and_from_an_event_loop(backend):
    outcome: list[RewardOutput] = []
    with Scorer(length, backend=backend, workers=1) as scorer:
        thread = threading.Thread(target=lambda: outcome.extend(scorer.score(samples("abc"))))
        thread.start()
        thread.join()
        outcome += asyncio.run(scorer.ascore(samples("abcd")))
        outcome += scorer.score(samples("abcde"))
    assert [output.reward for output in outcome] == [0.3, 0.4, 0.5]


def test_no_samples_give_no_outputs(local_backend):
    with Scorer(length, backend=local_backend, workers=1) as scorer:
        assert scorer.score([]) == []


def test_dicts_and_paths_are_scored_like_trajectories(local_backend, tmp_path):
    rows = [{"prompt": "p", "response": "abc"}, {"question": "p", "completion": "abcd", "level": 3}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Scorer(length, backend=local_backend, workers=1) as scorer:
        for given in (rows, tmp_path / "rows.jsonl", str(tmp_path / "rows.jsonl")):
            assert [output.reward for output in scorer.score(given)] == [0.3, 0.4]
        scored = list(scorer.score_stream(rows))
    assert scored[1].trajectory == Trajectory(prompt="p", response="abcd", columns={"level": 3})


def test_an_item_that_is_no_trajectory_is_refused_with_its_index(local_backend):
    with (
        Scorer(length, backend=local_backend, workers=1) as scorer,
        pytest.raises(InvalidTrajectory, match="sample 1 must be a Trajectory or a dict, got str"),
    ):
        scorer.score([*samples("a"), "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "proceses"}, "no backend named 'proceses'; did you mean 'processes'?"),
        ({"deadline_s": 0}, "deadline_s must be positive"),
        ({"memory_mb": -1}, "memory_mb must be positive"),
        ({"workers": 0}, "workers"),
        ({"batch_size": 0}, "batch_size"),
        ({"address": "auto"}, "address='auto' is for backend='ray'"),
        ({"backend": "inline", "deadline_s": 1.0}, "backend='processes'"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(InvalidSettings, match=message):
        Scorer(length, **arguments)
