import numpy
import pytest

from plaudit.columns import ColumnMapping
from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.trajectory import Trajectory

USER = {"role": "user", "content": "2+2?"}
ANSWER = {"role": "assistant", "content": "4"}
NAN = float("nan")
CALL = {"role": "assistant", "content": "", "tool_calls": [{"name": "add"}]}
TOOL = {"role": "tool", "content": "4"}

BY_DEFAULT = {
    "gsm8k": ({"question": "q", "answer": "#### 4", "completion": "4"}, ("q", "4", {"ground_truth": "#### 4"})),
    "own name wins": ({"prompt": "p", "question": "q", "response": "r"}, ("p", "r", {"question": "q"})),
    "most usual first": (
        {"prompt": "p", "response": "r", "solution": 1, "answer": 2},
        ("p", "r", {"ground_truth": 2, "solution": 1}),
    ),
    "verl": (
        {
            "prompt": [USER],
            "solution_str": "4",
            "data_source": "gsm8k",
            "extra_info": {"i": 1},
            "reward_model": {"style": "rule", "ground_truth": "4"},
        },
        (
            [USER],
            "4",
            {
                "ground_truth": "4",
                "task": "gsm8k",
                "metadata": {"i": 1},
                "reward_model": {"style": "rule", "ground_truth": "4"},
            },
        ),
    ),
    "info that is no metadata stays a column": (
        {"prompt": "p", "response": "r", "info": "see"},
        ("p", "r", {"info": "see"}),
    ),
    "pairs beside messages are columns": (
        {"messages": [USER, ANSWER], "user_data": [["level", 3], ["solution", "4"]]},
        ([USER], "4", {"level": 3, "solution": "4", "ground_truth": "4"}),
    ),
    "user data that is no pairs stays a column": (
        {"messages": [USER, ANSWER], "user_data": 5},
        ([USER], "4", {"user_data": 5}),
    ),
    "numbers stay numbers": ({"prompt": "p", "response": "r", "label": 4.0}, ("p", "r", {"ground_truth": 4.0})),
    "null columns hold nothing": (
        {"prompt": "p", "response": "r", "messages": None, "answer": None, "label": NAN, "solution": "4"},
        ("p", "r", {"answer": None, "label": NAN, "ground_truth": "4"}),
    ),
    "arrays are lists": (
        {"prompt": numpy.array([USER]), "response": "r", "reward_model": {"ground_truth": numpy.array([4])}},
        ([USER], "r", {"reward_model": {"ground_truth": [4]}, "ground_truth": [4]}),
    ),
    "NeMo Gym": (
        {"responses_create_params": {"input": [USER]}, "response": "4"},
        ([USER], "4", {"responses_create_params": {"input": [USER]}}),
    ),
    "lists stay lists": ({"prompt": "p", "response": "r", "target": []}, ("p", "r", {"ground_truth": []})),
    "messages": ({"messages": [USER, ANSWER]}, ([USER], "4", {})),
    "messages with parts": (
        {"messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "4"}]}]},
        ([USER], "4", {"messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "4"}]}]}),
    ),
    "messages that go on after the answer": (
        {"messages": [USER, ANSWER, USER]},
        ([USER], "4", {"messages": [USER, ANSWER, USER]}),
    ),
    "messages and the response beside them": ({"messages": [USER], "response": "4"}, ([USER], "4", {})),
    "messages that end in the response": ({"messages": [USER, ANSWER], "completion": "4"}, ([USER], "4", {})),
    "messages and the prompt beside them": ({"messages": [USER, ANSWER], "prompt": "2+2?"}, ("2+2?", "4", {})),
    "messages beside both": ({"messages": [USER], "prompt": "p", "response": "r"}, ("p", "r", {"messages": [USER]})),
    "completion as messages": ({"prompt": [USER], "completion": [ANSWER]}, ([USER], "4", {})),
    "completion as one message": ({"prompt": [USER], "completion": ANSWER}, ([USER], "4", {})),
    "completion with a tool call": (
        {"prompt": [USER], "completion": [CALL, TOOL, ANSWER]},
        ([USER], "4", {"response_messages": [CALL, TOOL, ANSWER]}),
    ),
}


@pytest.mark.parametrize(("row", "expected"), BY_DEFAULT.values(), ids=BY_DEFAULT)
def test_usual_names_are_found_and_renamed(row, expected):
    prompt, response, rest = expected
    assert ColumnMapping().rename(row) == {"prompt": prompt, "response": response, **rest}


CHOSEN = {
    "renamed": ({"response": "text"}, {"prompt": "p", "text": "t"}, {"prompt": "p", "response": "t"}),
    "dotted": (
        {"ground_truth": "gold.value"},
        {"prompt": "p", "response": "r", "gold": {"value": 4}},
        {"prompt": "p", "response": "r", "ground_truth": 4, "gold": {"value": 4}},
    ),
    "a dot in the name itself": (
        {"ground_truth": "gold.value"},
        {"prompt": "p", "response": "r", "gold.value": 4},
        {"prompt": "p", "response": "r", "ground_truth": 4},
    ),
    "before the default": (
        {"ground_truth": "label"},
        {"prompt": "p", "response": "r", "label": 1, "answer": 2},
        {"prompt": "p", "response": "r", "ground_truth": 1, "answer": 2},
    ),
    "id as group": (
        {"group": "id"},
        {"prompt": "p", "response": "r", "id": 7},
        {"prompt": "p", "response": "r", "group": 7},
    ),
    "one column for two fields": (
        {"group": "uid", "id": "uid"},
        {"prompt": "p", "response": "r", "uid": 7},
        {"prompt": "p", "response": "r", "group": 7, "id": 7},
    ),
    "swapped": (
        {"prompt": "response", "response": "prompt"},
        {"prompt": "a", "response": "b"},
        {"prompt": "b", "response": "a"},
    ),
    "itself": ({"response": "response"}, {"prompt": "p", "response": "r"}, {"prompt": "p", "response": "r"}),
    "messages elsewhere": ({"messages": "chat"}, {"chat": [USER, ANSWER]}, {"prompt": [USER], "response": "4"}),
}


@pytest.mark.parametrize(("columns", "row", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_chosen_columns_are_renamed(columns, row, expected):
    assert ColumnMapping(columns).rename(row) == expected


def test_renaming_leaves_the_row_it_was_given_alone():
    row = {"question": "q", "completion": [ANSWER], "answer": 4}
    ColumnMapping({"group": "answer"}).rename(row)
    assert row == {"question": "q", "completion": [ANSWER], "answer": 4}


REFUSED = {
    "no response": (
        {},
        {"prompt": "p", "text": "t"},
        r"no 'response' column \(found prompt, text\); say which .*: --columns response=text",
    ),
    "several candidates": ({}, {"prompt": "p", "a": "t", "b": "t"}, "--columns response=COLUMN"),
    "misspelt": ({}, {"prompt": "p", "respones": "t"}, "did you mean 'respones'"),
    "nothing at all": ({}, {}, "found no columns at all"),
    "no prompt": ({}, {"response": "r"}, "no 'prompt' column"),
    "chosen column missing": (
        {"response": "txet"},
        {"prompt": "p", "text": "t"},
        "no column 'txet' to read 'response' from; did you mean 'text'",
    ),
    "chosen column missing, the field itself there": (
        {"response": "nosuchcolumn"},
        {"prompt": "p", "response": "r"},
        "no column 'nosuchcolumn' to read 'response' from; column 'response' exists: leave out response=nosuchcolumn",
    ),
    "chosen column misspelt, the field itself there": (
        {"response": "txet"},
        {"prompt": "p", "response": "r", "text": "t"},
        "no column 'txet' to read 'response' from; did you mean 'text'",
    ),
    "both and different": (
        {"response": "text"},
        {"prompt": "p", "response": "a", "text": "b"},
        "columns 'response' and 'text' both exist and differ",
    ),
    "no assistant": ({}, {"messages": [USER]}, "no assistant message"),
    "completion without assistant": ({}, {"prompt": "p", "completion": [USER]}, "without an assistant message"),
}


@pytest.mark.parametrize(("columns", "row", "message"), REFUSED.values(), ids=REFUSED)
def test_a_row_without_its_columns_is_refused_with_the_remedy(columns, row, message):
    with pytest.raises(InvalidTrajectory, match=message):
        ColumnMapping(columns).rename(row)


def test_an_unknown_field_is_refused_before_anything_is_read():
    with pytest.raises(InvalidSettings, match="no field named 'respnse'; did you mean 'response'"):
        ColumnMapping({"respnse": "text"})


def test_a_prompt_of_several_turns_is_one_list_of_messages():
    turns = [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]
    assert ColumnMapping().rename({"question": turns, "response": "x"})["prompt"] == [*turns[0], *turns[1]]


def test_a_column_may_be_chosen_for_a_field_that_is_null():
    row = {"prompt": "p", "response": "r", "ground_truth": None, "answer": "4"}
    assert Trajectory.from_dict(row, ColumnMapping({"ground_truth": "answer"})).ground_truth == "4"
    assert Trajectory.from_dict(row).ground_truth is None
