"""What one call of a reward is: its copy of the samples, its size, its deadline (rules 1 to 4 of scoring)."""

import copy
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import plaudit
from plaudit import RewardFunction, Trajectory, reward
from plaudit.compose import TaskReward, minimum
from plaudit.engine import Scorer
from tests.promises.misbehaviour import CALL_LOG
from tests.promises.paths import CallLog
from tests.promises.styles import STYLES

BATCH_STYLES = [style for style in STYLES.values() if style.kind == "batch"]
BACKENDS = ("inline", "processes")


def samples(*responses: str, **fields) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response, **copy.deepcopy(fields)) for response in responses]


@pytest.fixture
def noted(tmp_path) -> tuple[Callable[[object], None], Callable[[], list[str]]]:
    """Write a line from any process, and read all lines."""
    file = tmp_path / "notes.txt"
    file.touch()
    path = str(file)

    def note(text: object) -> None:
        with open(path, "a") as lines:
            lines.write(f"{text}\n")

    return note, lambda: file.read_text().split()


@pytest.fixture
def call_log(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(CALL_LOG, str(tmp_path / "calls.log"))
    CallLog.clear()


class Clears(RewardFunction):
    """Changes all of its sample that can be changed."""

    def compute_reward(self, trajectory):
        trajectory.metadata["pages"].clear()
        trajectory.columns.clear()
        trajectory.prompt[0]["content"] = "changed"
        return 0.5


class ReadsAll(RewardFunction):
    def compute_reward(self, trajectory):
        return len(trajectory.metadata["pages"]) + trajectory.columns["level"] + len(trajectory.prompt[0]["content"])


# Rule 1: every call gets its own copy of its samples, and its result is read inside one error boundary.


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", [1, -1], ids=["changed_first", "changed_last"])
def test_each_part_gets_its_own_copy(backend, order):
    chat = [{"role": "user", "content": "four"}]
    given = [Trajectory(chat, "x", metadata={"pages": [1, 2]}, columns={"level": 3}) for _ in range(3)]
    before = copy.deepcopy(given)
    parts = [Clears(), ReadsAll()][::order]
    outputs = plaudit.score(minimum(*parts) + 2 * ReadsAll(), given, backend=backend)
    assert [output.reward for output in outputs] == [0.5 + 2 * 9] * 3
    assert given == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_containers_of_a_sample_are_copied_too(backend):
    given = [Trajectory([], "x") for _ in range(2)]

    @reward
    def fills(prompt, metadata, columns, steps):
        seen = len(prompt) + len(metadata) + len(columns) + len(steps)
        prompt.append({"role": "user", "content": "p"}), steps.append(1), metadata.update(a=1), columns.update(b=1)
        return seen

    assert [output.reward for output in plaudit.score(fills + fills, given, backend=backend)] == [0.0] * 2
    assert given == [Trajectory([], "x") for _ in range(2)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_calls_for_equal_samples_do_not_share_a_copy(backend):
    shared = {"pages": [1, 2]}
    given = [Trajectory("p", "x", metadata=shared) for _ in range(3)]

    @reward
    def takes_page(metadata):
        return float(metadata["pages"].pop())

    assert [output.reward for output in plaudit.score(takes_page, given, backend=backend)] == [2.0] * 3
    assert shared == {"pages": [1, 2]}


def test_direct_call_leaves_the_samples_unchanged():
    given = Trajectory("p", "x", metadata={"pages": [1]}, columns={"level": 1})

    @reward
    def clears(metadata, columns):
        metadata.clear()
        columns.clear()
        return 1.0

    assert clears(given).reward == 1.0
    assert (given.metadata, given.columns) == ({"pages": [1]}, {"level": 1})


@pytest.mark.parametrize("backend", BACKENDS)
def test_result_that_fails_when_read_fails_its_own_sample(backend):
    class Late:
        def __float__(self):
            raise ZeroDivisionError("late")

        def __repr__(self):
            raise ZeroDivisionError("late")

    @reward
    def late(response):
        return Late() if response == "bad" else 1.0

    outputs = plaudit.score(late, samples("a", "bad", "b"), backend=backend)
    assert [output.reward for output in outputs] == [1.0, None, 1.0]
    assert outputs[1].status == "error"
    assert outputs[1].reason


# Rule 2: combinations call no user code themselves; each part is scored at its own scope.


def test_hang_in_normalised_group_leaves_other_samples_scored():
    @reward
    def hangs(response):
        time.sleep(600 if response == "hang" else 0)
        return float(len(response))

    given = [Trajectory("p", response, group=group) for group in "ab" for response in ("x", "hang", "xxx")]
    given[1] = Trajectory("p", "xx", group="a")
    with Scorer(hangs.normalized("group"), workers=1, deadline_s=0.5) as scorer:
        scorer.score(samples("w"))  # the worker is running
        began = time.monotonic()
        outputs = scorer.score(given)
        elapsed = time.monotonic() - began
    assert elapsed < 0.5 + 3
    assert [output.status for output in outputs] == ["ok"] * 4 + ["timeout"] + ["ok"]
    assert outputs[3].reward == pytest.approx(-(0.5**0.5), abs=1e-5)
    assert outputs[5].reward == pytest.approx(0.5**0.5, abs=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_failed_part_leaves_the_values_of_the_other_parts(backend):
    @reward
    def fails(response):
        raise ValueError("no")

    @reward
    def works(response):
        return 0.25

    [output] = plaudit.score(0.5 * fails + 0.5 * works, samples("a"), backend=backend)
    assert (output.reward, output.status) == (None, "error")
    assert output.components["works"].reward == 0.25
    assert output.components["fails"].status == "error"


@pytest.mark.parametrize("backend", BACKENDS)
def test_batch_function_in_a_combination_is_called_once_and_the_sample_function_per_sample(backend, noted):
    note, notes = noted

    @reward
    def batched(responses):
        note(f"batched:{len(responses)}")
        return [1.0] * len(responses)

    @reward
    def single(response):
        note("single")
        return 1.0

    outputs = plaudit.score((batched + single).clip(0, 5), samples(*"abcdef"), backend=backend)
    assert [output.reward for output in outputs] == [2.0] * 6
    assert sorted(notes()) == ["batched:6", *["single"] * 6]


def test_task_table_calls_a_batch_function_once_with_the_samples_of_its_task(noted):
    note, notes = noted

    @reward
    def batched(responses):
        note("".join(responses))
        return [1.0] * len(responses)

    @reward
    def fails(response):
        raise ValueError("no")

    table = TaskReward({"math": batched, "code": fails})
    given = [Trajectory("p", response, task=task) for response, task in zip("abcd", ["math", "code"] * 2, strict=True)]
    assert [output.reward for output in plaudit.score(table, given)] == [1.0, None, 1.0, None]
    assert notes() == ["ac"]


# Rule 3: a function written for batches is given everything in one call.


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("style", BATCH_STYLES, ids=lambda style: style.name)
def test_batch_function_is_called_exactly_once_with_all_samples(style, backend, tmp_path, call_log):
    spec = style.plain(style.write(tmp_path, is_async=False))
    deadline_s = None if backend == "inline" else 1.0
    outputs = plaudit.score(spec, samples(*["x"] * 700), backend=backend, deadline_s=deadline_s)
    assert [output.reward for output in outputs] == [1 / 7] * 700
    assert CallLog.sizes() == [700]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("style", BATCH_STYLES, ids=lambda style: style.name)
def test_failed_batch_call_is_not_repeated_and_fails_all_its_samples(style, backend, tmp_path, call_log):
    spec = style.plain(style.write(tmp_path, is_async=False))
    outputs = plaudit.score(spec, samples("a", "FAULT:value_error:", "b"), backend=backend)
    assert [output.status for output in outputs] == ["error"] * 3
    assert all("a bad sample" in output.reason for output in outputs)
    assert CallLog.sizes() == [3]


@pytest.mark.parametrize("backend", BACKENDS)
def test_max_batch_cuts_the_calls_and_limits_a_failure(backend, noted):
    note, notes = noted

    @reward(max_batch=2)
    def batched(responses):
        note("".join(responses))
        if "x" in responses:
            raise ValueError("no")
        return [1.0] * len(responses)

    assert batched.max_batch == 2
    outputs = plaudit.score(batched, samples(*"abxde"), backend=backend)
    assert sorted(notes()) == ["ab", "e", "xd"]
    assert [output.reward for output in outputs] == [1.0, 1.0, None, None, 1.0]


def test_max_batch_is_a_class_attribute_too():
    class Batched(RewardFunction):
        max_batch = 3

        def compute_rewards(self, trajectories):
            return [len(trajectories)] * len(trajectories)

    assert [output.reward for output in plaudit.score(Batched(), samples(*"abcd"))] == [3.0, 3.0, 3.0, 1.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_group_function_is_called_once_per_whole_group(backend, noted):
    note, notes = noted

    @reward(scope="group")
    def grouped(responses):
        note("".join(responses))
        if "x" in responses:
            raise ValueError("no")
        return [float(len(responses))] * len(responses)

    given = [Trajectory("p", response, group=place % 2) for place, response in enumerate("abcdxf")]
    outputs = plaudit.score(grouped, given, backend=backend)
    assert sorted(notes()) == ["acx", "bdf"]
    assert [output.reward for output in outputs] == [None, 3.0] * 3


# Rule 4: the deadline is that of one call.


@pytest.mark.parametrize(
    "wrap",
    [
        lambda part: part,
        lambda part: part.clip(0, 1),
        lambda part: 0.5 * part + 0.5 * part,
        lambda part: minimum(part, part.clip(0, 1)),
        lambda part: part.normalized("group"),
    ],
    ids=["plain", "clip", "sum", "nested", "normalised"],
)
def test_wrapped_reward_keeps_per_sample_deadline(wrap):
    @reward
    def hangs(response):
        time.sleep(600 if response == "hang" else 0)
        return 1.0

    with Scorer(wrap(hangs), workers=1, deadline_s=0.5) as scorer:
        assert all(output.ok for output in scorer.score(samples(*["x"] * 400)))
        began = time.monotonic()
        outputs = scorer.score(samples(*["x"] * 40, "hang", *["x"] * 40))
        elapsed = time.monotonic() - began
    assert [place for place, output in enumerate(outputs) if output.status == "timeout"] == [40]
    assert all(output.ok for place, output in enumerate(outputs) if place != 40)
    assert elapsed < 2 * 0.5 + 3  # a sum calls the part twice


def test_batch_call_may_take_the_deadlines_of_all_its_samples():
    @reward
    def slow(responses):
        time.sleep(1.0)
        return [1.0] * len(responses)

    outputs = plaudit.score(slow, samples(*["x"] * 10), backend="processes", workers=1, deadline_s=0.4)
    assert [output.reward for output in outputs] == [1.0] * 10


def test_batch_call_that_overruns_fails_all_its_samples_once(noted):
    note, notes = noted

    @reward
    def hangs(responses):
        note(len(responses))
        time.sleep(600 if "hang" in responses else 0)
        return [1.0] * len(responses)

    with Scorer(hangs, workers=1, deadline_s=0.25) as scorer:
        scorer.score(samples("w"))  # the worker is running
        began = time.monotonic()
        outputs = scorer.score(samples("a", "hang", "b", "c"))
        elapsed = time.monotonic() - began
    assert elapsed < 4 * 0.25 + 3
    assert [output.status for output in outputs] == ["timeout"] * 4
    assert notes() == ["1", "4"]


@pytest.mark.filterwarnings("ignore:.*was not scored")
def test_exported_combination_keeps_per_sample_deadline(tmp_path):
    (tmp_path / "hangs.py").write_text(
        "import time\ndef hangs(response):\n    time.sleep(600 * (response == 'hang'))\n    return 1.0\n"
    )
    spec = f"0.5 * '{tmp_path}/hangs.py:hangs' + 0.5"
    function = plaudit.export(spec, "trl", workers=1, deadline_s=0.5)
    function(prompts=["p"] * 200, completions=["x"] * 200)
    began = time.monotonic()
    numbers = function(prompts=["p"] * 30, completions=[*["x"] * 15, "hang", *["x"] * 14])
    elapsed = time.monotonic() - began
    function.close()
    assert numbers == [*[1.0] * 15, None, *[1.0] * 14]
    assert elapsed < 0.5 + 3


def test_command_line_option_max_batch(tmp_path, capfd):
    from plaudit.cli import main

    (tmp_path / "sizes.py").write_text("def sizes(responses):\n    return [float(len(responses))] * len(responses)\n")
    rows = "".join(f"{sample.to_json()}\n" for sample in samples(*"abcde"))
    (tmp_path / "rows.jsonl").write_text(rows)
    out = tmp_path / "out.jsonl"
    arguments = ["score", f"{tmp_path}/sizes.py:sizes", f"{tmp_path}/rows.jsonl", "-o", str(out), "-w", "1", "-q"]
    with pytest.raises(SystemExit):
        main([*arguments, "--max-batch", "2"])
    assert [output.reward for output in _outputs(out)] == [2.0, 2.0, 2.0, 2.0, 1.0]


def _outputs(file: Path) -> list[plaudit.RewardOutput]:
    from plaudit.rollouts import read_rollouts

    return [rollout.output for rollout in read_rollouts(file)]
