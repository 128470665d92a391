"""What goes from one process to another is plain data, and every value is read inside the error boundary of a call."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plaudit import RewardFunction, RewardOutput, Trajectory, load, reward, score
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings, InvalidTrajectory

BACKENDS = ("inline", "processes")


def samples(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="?", response=response) for response in responses]


class Unreadable:
    """Hangs in any process that unpickles it."""

    def __reduce__(self) -> Any:
        return time.sleep, (600,)

    def __repr__(self) -> str:
        return "its text"


def returns_objects(response: str) -> Any:
    objects = {"object": Unreadable(), "lock": threading.Lock(), "numbers": (1, {2}), "large": 1 << 80, 5: None}
    return RewardOutput(1.0, metadata=objects) if response == "bad" else 1.0


async def returns_objects_async(response: str) -> Any:
    return returns_objects(response)


def returns_objects_in_a_batch(responses: list[str]) -> list[Any]:
    return [returns_objects(response) for response in responses]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [returns_objects, returns_objects_async, returns_objects_in_a_batch])
def test_metadata_of_outputs_is_plain_data_wherever_the_reward_runs(function: Callable[..., Any], backend: str) -> None:
    outputs = score(function, samples("a", "bad", "c"), backend=backend, workers=1)
    assert [output.reward for output in outputs] == [1.0, 1.0, 1.0]
    metadata = outputs[1].metadata
    assert metadata.pop("lock").startswith("<unlocked _thread.lock")
    assert metadata == {"object": "its text", "numbers": [1, [2]], "large": 1 << 80, "5": None}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("value", [{"reason": 5}, {"latency_s": "soon"}, {"components": {5: 1.0}}, {"status": "no"}])
def test_an_output_with_a_field_of_the_wrong_type_is_an_error_of_its_sample(value: Any, backend: str) -> None:
    def bad(response: str) -> Any:
        return RewardOutput(1.0, **value) if response == "bad" else 1.0

    outputs = score(bad, samples("a", "bad", "c"), backend=backend, workers=1)
    assert [output.reward for output in outputs] == [1.0, None, 1.0]
    expected = {
        "reason": "must be text",
        "latency_s": "must be a number",
        "components": "names",
        "status": "is one of ok,",
    }
    assert expected[next(iter(value))] in outputs[1].reason


class ReducesTo:
    """Ends the process that pickles it, or the one that unpickles it."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        return self.function() if self.function is not sys.exit else (sys.exit, (3,))


def raise_exit() -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize("function", [raise_exit, sys.exit])
@pytest.mark.parametrize("is_batch", [False, True])
def test_a_sample_that_exits_where_it_is_pickled_fails_alone(function: Any, is_batch: bool) -> None:
    given = samples("a", "b", "c")
    given[1].metadata["value"] = ReducesTo(function)

    def one(response: str) -> float:
        return 1.0

    def many(responses: list[str]) -> list[float]:
        return [1.0] * len(responses)

    with Scorer(reward(many, max_batch=1) if is_batch else reward(one), workers=1) as scorer:
        outputs = scorer.score(given)
        assert scorer.stats.workers_lost == {}
    assert [output.reward for output in outputs] == [1.0, None, 1.0]
    assert "put plain data into it" in outputs[1].reason


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sample_that_holds_itself_fails_alone_and_says_so(backend: str) -> None:
    given = samples("a", "b")
    given[0].metadata["itself"] = given[0].metadata
    outputs = score(lambda response: 1.0, given, backend=backend, workers=1)
    assert [output.reward for output in outputs] == [None, 1.0]
    assert "nested too deeply, or that holds itself" in outputs[0].reason


def test_an_async_call_has_ended_only_when_what_it_returned_is_gone() -> None:
    class Number:
        def __float__(self) -> float:
            return 0.5

        def __del__(self) -> None:
            time.sleep(600)

    async def returns_object(response: str) -> Any:
        return Number() if response == "hang" else 1.0

    outputs = score(returns_object, samples("a", "hang", "b"), backend="processes", workers=1, deadline_s=1.0)
    assert [output.reward for output in outputs] == [1.0, None, 1.0]
    assert outputs[1].status == "timeout"


@pytest.mark.parametrize("given", [None, 5, Trajectory("p", "a"), {"prompt": "p", "response": "a"}])
def test_a_single_sample_is_refused_with_the_remedy(given: Any) -> None:
    with pytest.raises(InvalidTrajectory, match="put a single sample into a list"):
        score(lambda response: 1.0, given)


NO_NUMBERS = {
    "complex": lambda: np.complex64(1),
    "text": lambda: np.array("1.0"),
    "bytes": lambda: np.bytes_(b"1"),
    "date": lambda: np.datetime64("2020-01-01"),
    "masked": lambda: np.ma.masked,
    "plain_bytes": lambda: b"1",
    "memory": lambda: memoryview(b"1"),
    "one_of_many": lambda: np.array([1.0, 2.0]),
}
STYLES = {
    None: ("f", "def f(response):\n    return VALUE"),
    "open_instruct": (
        "V",
        "from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction\n"
        "class V(VerifierFunction):\n    def __init__(self):\n        super().__init__('v')\n"
        "    def __call__(self, tokenized_prediction, prediction, label, query=None):\n"
        "        return VerificationResult(score=VALUE)",
    ),
    "rllm": ("f", "def f(task_info, action):\n    return {'reward': VALUE}"),
    "verl": ("f", "def f(data_source, solution_str, ground_truth, extra_info=None):\n    return {'score': VALUE}"),
}


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("dialect", STYLES)
def test_a_value_that_is_no_real_number_is_an_error(value: str, dialect: str | None, tmp_path: Any) -> None:
    target, text = STYLES[dialect]
    file = tmp_path / "no_number.py"
    file.write_text(f"from {__name__} import NO_NUMBERS\nVALUE = NO_NUMBERS[{value!r}]()\n{text}\n")
    given = [Trajectory("?", "a", ground_truth="4")]
    [output] = score(load(f"{file}:{target}", dialect=dialect), given)
    assert (output.reward, output.status) == (None, "error")
    assert output.reason


class UnreadableError(Exception):
    @property
    def __traceback__(self) -> Any:
        raise ValueError("no traceback")


def test_an_exception_without_a_readable_traceback_is_the_error_of_its_sample() -> None:
    def fails(response: str) -> float:
        if response == "bad":
            raise UnreadableError("a bad sample")
        return 1.0

    outputs = score(fails, samples("a", "bad"))
    assert outputs[0].reward == 1.0
    assert "UnreadableError: a bad sample" in outputs[1].reason


def test_a_scope_that_there_is_not_is_refused() -> None:
    def ranks(responses: list[str]) -> list[float]:
        return [1.0] * len(responses)

    with pytest.raises(InvalidSettings, match="ranks: scope is one of sample, group, batch; got 'groups'"):
        score(0.5 * reward(ranks, scope="groups"), samples("a"))  # type: ignore[call-overload]


class InBatches(RewardFunction):
    def compute_rewards(self, trajectories: Any) -> list[float]:
        return [1.0] * len(trajectories)


@pytest.mark.parametrize("value", [0, -1, 2.5, "x", True])
@pytest.mark.parametrize("name", ["max_batch", "concurrency"])
@pytest.mark.parametrize("use", [score, lambda reward, given: reward(given)])
def test_a_limit_that_cannot_be_is_refused(use: Any, name: str, value: Any) -> None:
    kind = type("Limited", (InBatches,), {name: value})
    with pytest.raises(InvalidSettings, match=f"Limited: {name} is a whole number of at least 1"):
        use(kind(), samples("a", "b"))


@pytest.mark.parametrize("given", [{"prompt": "p", "response": "a"}, "text", 5])
def test_a_direct_call_says_what_it_takes(given: Any) -> None:
    with pytest.raises(InvalidTrajectory, match="put a single sample into a list"):
        InBatches()(given)
    with pytest.raises(InvalidTrajectory, match="sample 1 must be a Trajectory or a dict, got int"):
        InBatches()([Trajectory("p", "a"), 5])  # type: ignore[list-item]
