import pytest

from plaudit import RewardOutput, Trajectory
from plaudit.errors import RolloutsError
from plaudit.rollouts import Rollout, RolloutsWriter, read_completed, read_rollouts, rest_of
from plaudit.rollouts.resuming import check_resumable

INPUTS = [Rollout(Trajectory("p", f"r{number}")) for number in range(5)]


@pytest.fixture
def out(tmp_path):
    """An output file that holds the first three of the inputs, scored."""
    path = tmp_path / "out.jsonl"
    with RolloutsWriter(path) as writer:
        for rollout in INPUTS[:3]:
            writer.write(Rollout(rollout.trajectory, RewardOutput(1.0)))
    return path


def test_a_resumed_run_scores_and_appends_the_remaining_samples(out):
    rest = list(rest_of(INPUTS, read_completed(out)))
    assert rest == INPUTS[3:]
    with RolloutsWriter(out, mode="resume") as writer:
        for rollout in rest:
            writer.write(Rollout(rollout.trajectory, RewardOutput(1.0)))
    assert [rollout.trajectory for rollout in read_rollouts(out)] == [rollout.trajectory for rollout in INPUTS]
    assert list(rest_of(INPUTS, read_completed(out))) == []


def test_a_file_that_does_not_exist_has_nothing_completed(tmp_path):
    done = read_completed(tmp_path / "out.jsonl")
    assert (done.count, done.last) == (0, None)
    assert list(rest_of(INPUTS, done)) == INPUTS


@pytest.mark.parametrize("content", [b"", b"\n", b'{"prompt": "p'], ids=["empty", "blank", "half a line"])
def test_a_file_without_a_whole_line_has_nothing_completed(tmp_path, content):
    (tmp_path / "out.jsonl").write_bytes(content)
    assert read_completed(tmp_path / "out.jsonl").count == 0


OTHER = {
    "response": Trajectory("p", "other"),
    "prompt": Trajectory("other", "r2"),
    "id": Trajectory("p", "r2", id=7),
}


@pytest.mark.parametrize(("field", "trajectory"), OTHER.items(), ids=OTHER)
def test_an_output_of_other_data_is_not_continued(out, field, trajectory):
    inputs = [*INPUTS[:2], Rollout(trajectory), *INPUTS[3:]]
    with pytest.raises(RolloutsError, match=f"made from other data: its rollout 3 has the {field} "):
        rest_of(inputs, read_completed(out))


def test_an_output_longer_than_its_input_is_not_continued(out):
    with pytest.raises(RolloutsError, match="holds 3 rollouts but the input only 2"):
        rest_of(INPUTS[:2], read_completed(out))


def test_a_file_that_was_never_scored_is_not_continued(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(rollout.to_line() for rollout in INPUTS))
    with pytest.raises(RolloutsError, match="was not written by scoring"):
        rest_of(INPUTS, read_completed(path))


def test_a_last_line_that_cannot_be_read_stops_the_resume(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(INPUTS[0].to_line() + b'{"prompt": 1}\n')
    with pytest.raises(RolloutsError, match=r"out\.jsonl:2: the last line cannot be read"):
        read_completed(path)


def test_the_same_rollout_is_resumable(out):
    assert check_resumable(read_completed(out), INPUTS[2]) is None
