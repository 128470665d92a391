import pytest

from plaudit import RewardOutput, Status, Step, Tokens, Trajectory
from plaudit.errors import RolloutsError
from plaudit.rollouts import Rollout, RolloutsWriter, read_rollouts

CHAT = [{"role": "user", "content": 'He said "hi",\nthen left'}]
ROLLOUTS = [
    Rollout(Trajectory(prompt=CHAT, response='a, b\n"c"', metadata={"level": 3, "tags": ["x"]}, id="1")),
    Rollout(Trajectory(prompt="[not JSON", response="", ground_truth="4"), RewardOutput(0.5, score=1.0, reason="ok")),
    Rollout(Trajectory(prompt="p", response="r", training_step=7, task="math", group="g", columns={"score": "seven"})),
    Rollout(Trajectory(prompt="p", response='{"answer": 4}', steps=[Step("o", "r", 1.0)], tokens=Tokens([1, 2]))),
    Rollout(Trajectory(prompt="p", response="é 日本 😀 \x00"), RewardOutput.unscored(Status.ERROR, "no")),
]


def test_what_is_written_is_read_back(tmp_path):
    with RolloutsWriter(tmp_path / "out.csv") as writer:
        for rollout in ROLLOUTS:
            writer.write(rollout)
    assert [one.to_dict() for one in read_rollouts(tmp_path / "out.csv")] == [one.to_dict() for one in ROLLOUTS]


def test_a_spreadsheet_with_foreign_columns_and_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_bytes(b"\xef\xbb\xbfquestion,completion,answer,level\r\n2 + 2?,4,4,\r\n\r\n3 + 3?,,6,2\r\n")
    first, second = read_rollouts(path)
    assert first.trajectory == Trajectory(prompt="2 + 2?", response="4", ground_truth="4")
    assert second.trajectory == Trajectory(prompt="3 + 3?", response="", ground_truth="6", columns={"level": "2"})


def test_an_empty_response_in_a_chosen_column_is_a_response(tmp_path):
    (tmp_path / "theirs.csv").write_text("prompt,text\np,\n")
    [rollout] = read_rollouts(tmp_path / "theirs.csv", columns={"response": "text"})
    assert rollout.trajectory == Trajectory(prompt="p", response="")


def test_text_that_csv_cannot_hold_is_refused_not_changed(tmp_path):
    writer = RolloutsWriter(tmp_path / "out.csv")
    writer.write(Rollout(Trajectory(prompt="p", response="\ud800")))
    with pytest.raises(RolloutsError, match=r"lone surrogates.*write \.jsonl"):
        writer.close()


def test_a_long_response_is_read(tmp_path):
    (tmp_path / "long.csv").write_text("prompt,response\np," + "word " * 100_000 + "\n")
    [rollout] = read_rollouts(tmp_path / "long.csv")
    assert len(rollout.trajectory.response) == 500_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"prompt,response\np,r,more\n", ":2: more cells than columns"),
        (b'prompt,response\n"a\nb",r\np,r,more\n', ":4: more cells than columns"),
        (b"prompt,prompt\np,r\n", ":1: a column name occurs twice"),
        (b"prompt,response,metadata\np,r,{broken\n", ":2: metadata must be JSON"),
        (b'prompt,response\n"p,r\n', "not CSV"),
        (b"prompt,response\np,\xff\n", "not UTF-8"),
        (b"prompt,response\np,r\np\n", ":3: fewer cells than columns"),
        (b"prompt,response\n", "holds no rollouts"),
        (b"prompt,text\np,r\n", "--columns response=text"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(tmp_path, content, message):
    (tmp_path / "data.csv").write_bytes(content)
    with pytest.raises(RolloutsError, match=message):
        list(read_rollouts(tmp_path / "data.csv"))
