import copy
import gc
import pickle
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plaudit
from plaudit import RewardOutput, Step, Tokens, Trajectory
from plaudit.errors import InvalidTrajectory

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": TEXT}), max_size=3)
COLUMNS = st.dictionaries(TEXT.filter(lambda name: name not in (*Trajectory.FIELDS, "columns")), JSON, max_size=3)


@given(
    prompt=TEXT | MESSAGES,
    response=TEXT,
    ground_truth=JSON,
    metadata=st.dictionaries(TEXT, JSON, max_size=3),
    id=st.none() | TEXT | st.integers(),
    group=st.none() | TEXT | st.integers(),
    columns=COLUMNS,
)
def test_any_trajectory_comes_back_equal_from_one_json_line(**fields):
    trajectory = Trajectory(**fields)
    line = trajectory.to_json()
    assert "\n" not in line
    assert Trajectory.from_json(line) == trajectory


def test_tokens_and_steps_come_back_equal_from_one_json_line():
    trajectory = Trajectory(
        prompt="p",
        response="ab",
        tokens=Tokens(ids=[1, 2], offsets=[(0, 1), (1, 2)], logprobs=[-0.5, -1.5], mask=[1, 0]),
        steps=[Step("saw", "did", reward=0.5, metadata={"k": [1]})],
        training_step=7,
    )
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


def test_unknown_keys_become_columns_and_are_written_back():
    line = '{"prompt":"p","response":"r","difficulty":3,"tags":["a"]}'
    trajectory = Trajectory.from_json(line)
    assert trajectory.columns == {"difficulty": 3, "tags": ["a"]}
    assert trajectory.to_json() == line


def test_messages_end_with_the_response():
    chat = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    assert Trajectory(prompt=chat, response="hello").messages == [*chat, {"role": "assistant", "content": "hello"}]
    assert Trajectory(prompt="hi", response="hello").messages[0] == {"role": "user", "content": "hi"}


def test_prompt_text_joins_chat_messages_and_content_parts():
    chat = [{"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": " parts"}]}]
    assert Trajectory(prompt=[{"role": "system", "content": "a"}, *chat], response="").prompt_text == "a\n\ntwo parts"


def test_samples_without_a_group_are_grouped_by_prompt():
    assert Trajectory(prompt="same", response="1").group_key == Trajectory(prompt="same", response="2").group_key
    assert (
        Trajectory(prompt="a", response="", group="g").group_key
        == Trajectory(prompt="b", response="", group="g").group_key
    )


def test_a_group_is_never_equal_to_a_prompt_or_to_a_number_of_the_same_digits():
    samples = [Trajectory("1", "r"), Trajectory("p", "r", group="1"), Trajectory("p", "r", group=1)]
    assert len({sample.group_key for sample in samples}) == 3
    assert [repr(sample.group_key) for sample in samples] == ["'1'", "'1'", "1"]


USER, ANSWER = {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"messages": [USER, ANSWER, USER]}, Trajectory([USER], "4", columns={"messages": [USER, ANSWER, USER]})),
        ({"question": "q", "completion": "r", "answer": 4}, Trajectory("q", "r", ground_truth=4)),
        (
            {"messages": (USER, ANSWER), "user_data": [("solution", "4"), ("level", 3)]},
            Trajectory([USER], "4", ground_truth="4", columns={"solution": "4", "level": 3}),
        ),
    ],
    ids=["a conversation that goes on", "foreign names", "Twinkle"],
)
def test_from_dict_and_score_take_the_same_rows(row, expected):
    seen = []

    @plaudit.reward
    def look(trajectory):
        seen.append(trajectory)
        return 1.0

    plaudit.score(look, [row])
    look([row])
    assert [Trajectory.from_dict(row), *seen] == [expected] * 3


def test_a_column_with_a_foreign_name_stays_a_column_on_the_way_through_json():
    foreign = {"answer": 4, "data_source": "sums", "info": {"a": 1}, "group_id": 7}
    of_twinkle = {"messages": [USER], "user_data": [["answer", 4]]}
    trajectory = Trajectory("p", "r", columns={**foreign, **of_twinkle})
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"response": 5}, "response must be text, got int 5"),
        ({"response": None}, "response must be text, got NoneType"),
        ({"prompt": 1.5}, "prompt must be text or a list of chat messages"),
        ({"prompt": [{"content": "no role"}]}, r"prompt\[0\] is not a chat message"),
        ({"metadata": "x"}, "metadata must be a dict"),
        ({"id": 1.5}, "id must be text or a whole number"),
        ({"columns": {"response": 1}}, "keys of a rollout"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_trajectory_with_wrong_types_cannot_be_built(fields, message):
    with pytest.raises(InvalidTrajectory, match=message):
        Trajectory(**{"prompt": "p", "response": "r", **fields})


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"x": float("nan")}, r"metadata\.x is nan.*use None"),
        ({"x": {"y": {1, 2}}}, r"metadata\.x\.y is a set"),
        ({"x": b"raw"}, r"metadata\.x is a bytes"),
        ({"x": {1: 2}}, r"has the key 1.*use '1'"),
    ],
)
def test_what_json_would_change_is_refused_with_its_place(metadata, message):
    with pytest.raises(InvalidTrajectory, match=message):
        Trajectory(prompt="p", response="r", metadata=metadata).to_json()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"prompt": "p", "respnse": "r"}', "no 'response'.*did you mean 'respnse'"),
        ('["p", "r"]', "a trajectory is a JSON object, got list"),
        ('{"prompt": "p", ', "not a JSON line"),
        ('{"prompt": "p", "response": "r", "tokens": {"ids": ["x"]}}', "tokens or steps"),
        ('{"prompt": "p", "response": "r", "tokens": {"ids": [1], "mask": [1, 1]}}', "1 ids but 2 mask"),
    ],
)
def test_a_line_that_is_no_trajectory_is_refused_with_the_reason(line, message):
    with pytest.raises(InvalidTrajectory, match=message):
        Trajectory.from_json(line)


def test_trajectories_pickle_and_are_named_for_messages():
    trajectory = Trajectory(prompt="p", response="r", id="a")
    assert pickle.loads(pickle.dumps(trajectory)) == trajectory
    assert trajectory.label(3) == "sample 3 (id 'a')"
    assert Trajectory(prompt="p", response="r").label(3) == "sample 3"


def test_a_deep_copy_shares_no_list_of_tokens():
    tokens = Tokens(ids=[1, 2], offsets=[(0, 1), (1, 2)], logprobs=[-0.5, -1.0], mask=[1, 0])
    copied = copy.deepcopy(Trajectory("Hi", "Ho", tokens=tokens)).tokens
    assert copied == tokens
    copied.ids.append(3)
    copied.mask.append(1)
    assert tokens == Tokens(ids=[1, 2], offsets=[(0, 1), (1, 2)], logprobs=[-0.5, -1.0], mask=[1, 0])


class Holder:
    """An object in the metadata that refers to its sample or output, as the state of an environment may."""


@pytest.mark.parametrize("kind", [lambda metadata: Trajectory("p", "r", metadata=metadata),
                                  lambda metadata: RewardOutput(1.0, metadata=metadata)])  # fmt: skip
def test_a_sample_or_output_that_its_metadata_refers_to_is_collected(kind):
    holder = Holder()
    holder.value = kind({"holder": holder})
    reference = weakref.ref(holder)
    del holder
    gc.collect()
    assert reference() is None
