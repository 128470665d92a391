"""What a batch may return, and where parameters come from (rules 7 and 8 of scoring)."""

import array
import asyncio

import numpy
import pytest
import torch

import plaudit
from plaudit import Trajectory, reward
from tests.promises.misbehaviour import CALLS


def samples(*responses: str, **fields) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response, **fields) for response in responses]


# Rule 7: a batch result is a list, a tuple or a one-dimensional array with one value per sample.


@pytest.mark.parametrize("make", [list, tuple, numpy.array, torch.tensor], ids=["list", "tuple", "numpy", "torch"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_lists_tuples_and_arrays_are_batch_results(make, is_async):
    def values(responses):
        return make([0.25 * len(response) for response in responses])

    async def values_async(responses):
        return values(responses)

    outputs = plaudit.score(values_async if is_async else values, samples("a", "bb", "ccc"))
    assert [output.reward for output in outputs] == [0.25, 0.5, 0.75]


WRONG = {
    **CALLS,
    "as_iterator": iter,
    "as_map": lambda values: map(float, values),
    "as_keys": lambda values: dict.fromkeys(range(len(values))).keys(),
    "as_column": lambda values: numpy.array(values).reshape(-1, 1),
    "as_scalar_array": lambda values: numpy.array(0.5),
}


@pytest.mark.parametrize("name", WRONG)
def test_any_other_batch_result_fails_the_whole_call(name):
    calls = []

    def values(responses):
        calls.append(len(responses))
        return WRONG[name]([0.5] * len(responses))

    outputs = plaudit.score(values, samples("a", "b", "c"))
    assert [(output.reward, output.status) for output in outputs] == [(None, "error")] * 3
    assert all("values" in output.reason for output in outputs), "the reason names the reward"
    assert calls == [3]


def test_wrong_count_names_both_counts():
    def short(responses):
        return [1.0]

    [first, *_] = plaudit.score(short, samples("a", "b", "c"))
    assert "1" in first.reason
    assert "3" in first.reason


def test_bad_value_in_a_batch_fails_its_own_sample():
    def one_nan(responses):
        return [float("nan") if response == "bad" else 1.0 for response in responses]

    outputs = plaudit.score(one_nan, samples("a", "bad", "b"))
    assert [output.reward for output in outputs] == [1.0, None, 1.0]


# Rule 8: parameters are filled by name, in one order, in every dialect.

READS_LEVEL = {
    "function": ("f", "def f(response, level):\n    return level"),
    "plural": ("f", "def f(responses, level):\n    return level"),
    "keyword": ("f", "def f(response, *, level=7.0):\n    return level"),
    "columns": ("f", "def f(response, **columns):\n    return columns['level']"),
    "trl": ("f", "def f(prompts, completions, level, **columns):\n    return level"),
    "trl_columns": ("f", "def f(prompts, completions, **columns):\n    return columns['level']"),
    "verl": (
        "compute_score",
        "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n    return extra_info['level']",
    ),
    "agent_tunix": ("f", "def f(response, prompt, metadata):\n    return metadata['level']"),
    "openrlhf": (
        "reward_func",
        "def reward_func(queries, prompts, batch):\n    return [row['level'] for row in batch]",
    ),
}


def load_text(name: str, folder, table: dict[str, tuple[str, str]]):
    target, text = table[name]
    (folder / "file.py").write_text(text + "\n")
    dialect = name.partition("_columns")[0]
    options = {"dialect": dialect} if dialect in ("trl", "verl", "agent_tunix", "openrlhf") else {}
    return plaudit.load(f"{folder / 'file.py'}:{target}", **options)


@pytest.mark.parametrize("name", READS_LEVEL)
def test_precedence_columns_over_metadata_in_all_dialects(name, tmp_path):
    loaded = load_text(name, tmp_path, READS_LEVEL)
    given = samples("a", "b", columns={"level": 1.0}, metadata={"level": 2.0})
    assert [(each.reward, each.reason or "") for each in plaudit.score(loaded, given)] == [(1.0, ""), (1.0, "")]


@pytest.mark.parametrize("name", [name for name in READS_LEVEL if name != "columns"])
def test_metadata_fills_a_parameter_where_no_column_does(name, tmp_path):
    loaded = load_text(name, tmp_path, READS_LEVEL)
    outputs = plaudit.score(loaded, samples("a", "b", metadata={"level": 2.0}))
    assert [(each.reward, each.reason or "") for each in outputs] == [(2.0, ""), (2.0, "")]


READS_ANSWER = {
    "function": ("f", "def f(response, answer=None):\n    return float(answer)"),
    "plural": ("f", "def f(responses, answer=None):\n    return [float(each) for each in answer]"),
    "trl": ("f", "def f(prompts, completions, answer=None):\n    return [float(each) for each in answer]"),
}


@pytest.mark.parametrize("name", READS_ANSWER)
def test_ground_truth_fills_its_alias_before_the_default_does(name, tmp_path):
    loaded = load_text(name, tmp_path, READS_ANSWER)
    outputs = plaudit.score(loaded, samples("a", "b", ground_truth="4"))
    assert [(each.reward, each.reason or "") for each in outputs] == [(4.0, ""), (4.0, "")]


READS_STRICT = {
    "function": ("f", "def f(response, strict=0.5):\n    return strict"),
    "plural": ("f", "def f(responses, strict=0.5):\n    return [strict] * len(responses)"),
    "trl": ("f", "def f(prompts, completions, strict=0.5):\n    return [strict] * len(completions)"),
}


@pytest.mark.parametrize("name", READS_STRICT)
def test_default_is_used_where_nothing_matches(name, tmp_path):
    loaded = load_text(name, tmp_path, READS_STRICT)
    assert [each.reward for each in plaudit.score(loaded, samples("a", "b", columns={"level": 1}))] == [0.5, 0.5]


@pytest.mark.parametrize("name", ["function", "plural", "trl"])
def test_missing_parameter_is_named_with_the_columns_there_are(name, tmp_path):
    loaded = load_text(name, tmp_path, READS_LEVEL)
    outputs = plaudit.score(loaded, samples("a", "b", columns={"topic": "sums"}))
    assert [each.status for each in outputs] == ["error"] * 2
    assert all("'level'" in each.reason and "topic" in each.reason for each in outputs)


def test_missing_column_of_one_sample_fails_that_sample_only():
    @reward
    def reads(response, level):
        return level

    given = [*samples("a", columns={"level": 1.0}), *samples("b"), *samples("c", columns={"level": 3.0})]
    assert [each.reward for each in plaudit.score(reads, given)] == [1.0, None, 3.0]


READS_OWN_NAMES = {
    "trl": ("f", "def f(prompts, completions, **columns):\n    return [float(len(each)) for each in completions]"),
    "verl": (
        "compute_score",
        "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n    return len(solution_str)",
    ),
    "agent_tunix": ("f", "def f(response, prompt, metadata):\n    return len(prompt)"),
    "function": ("f", "def f(response):\n    return len(response)"),
}


@pytest.mark.parametrize("name", READS_OWN_NAMES)
def test_names_of_the_convention_go_before_columns(name, tmp_path):
    loaded = load_text(name, tmp_path, READS_OWN_NAMES)
    columns = {"completions": "long text", "solution_str": "long text", "prompts": "long text"}
    outputs = plaudit.score(loaded, samples("a", "b", columns=columns, metadata={"response": "long text"}))
    assert [(each.reward, each.reason or "") for each in outputs] == [(1.0, ""), (1.0, "")]


def test_trl_function_is_not_called_again_with_other_form(tmp_path):
    log = tmp_path / "calls.txt"
    (tmp_path / "file.py").write_text(
        "def f(prompts, completions, **columns):\n"
        f"    with open({str(log)!r}, 'a') as calls:\n"
        "        calls.write(f'{type(completions[0]).__name__}\\n')\n"
        "    if isinstance(completions[0], str):\n"
        "        raise KeyError('content')\n"
        "    return [0.9] * len(completions)\n"
    )
    outputs = plaudit.score(plaudit.load(f"{tmp_path / 'file.py'}:f", dialect="trl"), samples("a", "b"))
    assert [each.status for each in outputs] == ["error", "error"]
    assert log.read_text().split() == ["str"]


def test_trl_function_gets_messages_where_the_prompt_is_a_chat(tmp_path):
    (tmp_path / "file.py").write_text(
        "def f(prompts, completions, **columns):\n    return [len(each[0]['content']) for each in completions]\n"
    )
    chat = [{"role": "user", "content": "p"}]
    given = [Trajectory(chat, "a"), Trajectory(chat, "bbb")]
    outputs = plaudit.score(plaudit.load(f"{tmp_path / 'file.py'}:f", dialect="trl"), given)
    assert [each.reward for each in outputs] == [1.0, 3.0]


class RaisesWhenRead:
    """A value whose conversion to a number raises any exception that is not the user's Ctrl-C."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __float__(self) -> float:
        raise self.error

    ndim = 0
    __array__ = tolist = __float__


BATCHES = {
    "function": ("f", "def f(responses):\n    return [VALUES.get(each, 0.5) for each in responses]"),
    "async": ("f", "async def f(responses):\n    return [VALUES.get(each, 0.5) for each in responses]"),
    "trl": ("f", "def f(prompts, completions, **columns):\n    return [VALUES.get(each, 0.5) for each in completions]"),
    "trl_columns": (
        "f",
        "def f(prompts, completions, **columns):\n"
        "    return [VALUES.get(each, 0.5) for each in completions], [1] * len(completions)",
    ),
    "openrlhf": (
        "reward_func",
        "def reward_func(queries, prompts, labels):\n    return [VALUES.get(each[1:], 0.5) for each in queries]",
    ),
}


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize(
    "error",
    [SystemExit(3), asyncio.CancelledError(), GeneratorExit(), BaseException("own")],
    ids=lambda e: type(e).__name__,
)
def test_value_that_raises_when_read_costs_its_own_sample_in_a_batch(name, error, tmp_path):
    loaded = load_text(name, tmp_path, BATCHES)
    function = getattr(loaded, "function", None) or loaded.foreign
    function.__globals__["VALUES"] = {"bad": RaisesWhenRead(error), "nan": float("nan")}
    outputs = plaudit.score(loaded, samples("a", "bad", "nan", "b"))
    assert [output.reward for output in outputs] == [0.5, None, None, 0.5]
    assert [str(output.status) for output in outputs] == ["ok", "error", "error", "ok"]
    assert type(error).__name__ in outputs[1].reason


@pytest.mark.parametrize("make", [lambda values: memoryview(bytes(values)), lambda values: array.array("d", values)])
@pytest.mark.parametrize("name", ["function", "trl", "openrlhf"])
def test_buffers_are_no_batch_result_in_any_dialect(make, name, tmp_path):
    target, text = BATCHES[name]
    text = text.replace("return [", "return MAKE([") + ")"
    loaded = load_text(name, tmp_path, {name: (target, text)})
    function = getattr(loaded, "function", None) or loaded.foreign
    function.__globals__.update(MAKE=lambda values: make([1 for _ in values]), VALUES={})
    assert [output.reward for output in plaudit.score(loaded, samples("a", "b"))] == [None, None]
