"""Parameters are filled in one order: the convention's arguments, columns, metadata, fields, defaults."""

import functools
import inspect

import pytest

from plaudit import FunctionReward, Trajectory
from plaudit.contract.binding import NATIVE, Binding, Convention
from plaudit.dialects import recognise
from plaudit.errors import InvalidSettings, InvalidTrajectory

FULL = Trajectory("q", "r", ground_truth="truth", metadata={"answer": "metadata"}, columns={"answer": "column"})
METADATA = Trajectory("q", "r", ground_truth="truth", metadata={"answer": "metadata"})
TRUTH = Trajectory("q", "r", ground_truth="truth")
NOTHING = Trajectory("q", "r")
ORDER = [(FULL, "column"), (METADATA, "metadata"), (TRUTH, "truth")]


def given_to(dialect, function, sample):
    """What a function returns when it is called with one sample by a dialect, or natively."""
    to_reward = FunctionReward if dialect == "native" else recognise(function, name=dialect).to_reward
    binding = to_reward(function).binding
    return binding.call_batch([sample])[0] if binding.batched else binding.call(sample)


WAYS = {
    "native": ("native", lambda answer: answer),
    "native, with a default": ("native", lambda response, answer="default": answer),
    "native, by keyword": ("native", lambda response, *, answer: answer),
    "plural": ("native", lambda responses, answer: answer),
    "plural, with a default": ("native", lambda responses, answer=None: answer),
    "plural, by keyword": ("native", lambda responses, *, answer="default": answer),
    "TRL": ("trl", lambda completions, answer: answer),
    "TRL, with a default": ("trl", lambda completions, answer=None: answer),
    "TRL, as keywords": ("trl", lambda completions, **kwargs: kwargs["answer"]),
    "TRL, messages": ("trl:messages", lambda completions, answer: answer),
    "ms-swift": ("swift", lambda completions, answer: answer),
    "Tunix": ("tunix", lambda prompts, completions, answer, **kwargs: answer),
    "AReaL": ("areal", lambda prompt, completions, prompt_ids, completion_ids, answer, **kwargs: answer),
    "AReaL, as keywords": (
        "areal",
        lambda prompt, completions, prompt_ids, completion_ids, **kwargs: kwargs["answer"],
    ),
    "OpenRLHF": ("openrlhf", lambda queries, batch: [row["answer"] for row in batch]),
    "Predibase": ("predibase", lambda prompt, completion, example: example["answer"]),
    "rLLM": ("rllm", lambda task_info, action: task_info["answer"]),
    "Agent-Tunix": ("agent_tunix", lambda response, metadata: metadata["answer"]),
}
ROWS = {
    "verl": ("verl", lambda solution_str, ground_truth, extra_info: extra_info.get("answer")),
    "verl, plural": (
        "verl",
        lambda solution_strs, ground_truths, extra_infos: [row.get("answer") for row in extra_infos],
    ),
    "slime": ("slime", lambda args, sample: sample.metadata.get("answer")),
    "slime, group": ("slime", lambda args, samples: [sample.metadata.get("answer") for sample in samples]),
    "EasyR1": ("easy_r1", lambda reward_input: reward_input.get("answer")),
    "EasyR1, plural": ("easy_r1", lambda reward_inputs: [each.get("answer") for each in reward_inputs]),
    "verifiers": ("verifiers", lambda completion, state, info: info.get("answer")),
    "Twinkle": ("twinkle", lambda trajectories, ground_truths: [dict(t["user_data"])["answer"] for t in trajectories]),
}


@pytest.mark.parametrize(("sample", "expected"), ORDER, ids=["column", "metadata", "ground truth"])
@pytest.mark.parametrize("way", WAYS)
def test_a_column_precedes_metadata_and_both_precede_the_ground_truth(way, sample, expected):
    assert given_to(*WAYS[way], sample) == expected


@pytest.mark.parametrize(("sample", "expected"), ORDER[:2], ids=["column", "metadata"])
@pytest.mark.parametrize("way", ROWS)
def test_a_row_has_the_column_before_the_metadata(way, sample, expected):
    assert given_to(*ROWS[way], sample) == expected


def test_an_argument_of_the_convention_precedes_a_column():
    sample = Trajectory("q", "r", columns={"completions": "column", "data_source": "column"}, task="task")
    assert given_to("trl", lambda completions: completions, sample) == "r"
    assert given_to("verl", lambda solution_str, ground_truth, data_source: data_source, sample) == "task"


@pytest.mark.parametrize("function", [lambda responses, answer=None: answer, lambda response, answer=None: answer])
def test_the_default_is_used_only_where_nothing_matches(function):
    assert Binding.of(function).batched == ("responses" in inspect.signature(function).parameters)
    assert given_to("native", function, TRUTH) == "truth"
    binding = Binding.of(function)
    assert (binding.call_batch([NOTHING]) if binding.batched else binding.call(NOTHING)) is None


def test_a_plural_function_with_an_optional_answer_gets_the_ground_truths():
    binding = Binding.of(lambda responses, answer=None: answer)
    assert binding.call_batch([TRUTH, FULL]) == ["truth", "column"]


def test_an_empty_cell_of_a_column_is_the_default_or_none():
    samples = [Trajectory("q", "r", columns={"level": 1}), NOTHING]
    assert Binding.of(lambda responses, level=7: level).call_batch(samples) == [1, 7]
    assert Binding.of(lambda responses, level: level).call_batch(samples) == [1, None]
    assert Binding.of(lambda responses, level=7: level).call_batch([NOTHING]) == 7


@pytest.mark.parametrize("function", [lambda leval: 1, lambda responses, leval: 1])
def test_a_parameter_without_a_value_is_named_with_the_columns_that_are_there(function):
    binding = Binding.of(function)
    sample = Trajectory("q", "r", columns={"level": 1})
    with pytest.raises(InvalidTrajectory, match=r"asks for 'leval', .* did you mean 'level'\? \(it has level\)"):
        binding.call_batch([sample]) if binding.batched else binding.call(sample)


@pytest.mark.parametrize(
    ("function", "meant"),
    [(lambda answr: 1, "answer"), (lambda responses, answrs: 1, "answers"), (lambda qestion: 1, "question")],
)
def test_a_misspelt_name_is_corrected_to_a_usual_name_of_a_field_that_the_sample_has(function, meant):
    binding = Binding.of(function)
    sample = Trajectory("q", "r", ground_truth="4")
    has = r"\((it has|they have) prompt, response, ground_truth\)"
    with pytest.raises(InvalidTrajectory, match=rf"did you mean '{meant}'\? {has}"):
        binding.call_batch([sample]) if binding.batched else binding.call(sample)
    with pytest.raises(InvalidTrajectory) as raised:
        Binding.of(lambda answr: 1).call(NOTHING)
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize("name", ["ground_truth", "answer"])
def test_a_ground_truth_that_a_sample_does_not_have_is_an_error_unless_there_is_a_default(name):
    functions = {}
    exec(f"def needs({name}): return {name}\ndef accepts({name}='none'): return {name}", functions)
    assert Binding.of(functions["needs"]).call(Trajectory("q", "r", ground_truth="7")) == "7"
    assert Binding.of(functions["accepts"]).call(NOTHING) == "none"
    with pytest.raises(InvalidTrajectory, match=f"asks for '{name}', and the sample has no ground truth \\("):
        Binding.of(functions["needs"]).call(NOTHING)


def test_a_system_that_passes_no_columns_keeps_the_defaults_of_its_functions():
    sample = Trajectory("q", "r", ground_truth="t", columns={"method": "column", "score": 5.0})
    assert given_to("verl", lambda solution_str, ground_truth, method="strict": method, sample) == "strict"


def test_settings_of_a_partial_are_not_filled_from_the_data():
    def reward(completions, level):
        return [level for _ in completions]

    sample = Trajectory("q", "r", columns={"level": 1})
    assert given_to("trl", functools.partial(reward, level=3), sample) == 3
    assert Binding.of(functools.partial(lambda response, level: level, level=3)).call(sample) == 3


def test_arguments_by_position_are_filled_whatever_the_parameters_are_called():
    convention = Convention({"state": lambda t: "s", "target": lambda t: "t"}, by_place=("state", "target"))
    assert Binding.of(lambda a, b: (a, b), convention).call(NOTHING) == ("s", "t")
    assert Binding.of(lambda a: a, convention).call(NOTHING) == "s"


def test_values_per_call_are_given_once_and_by_name_or_as_keywords():
    convention = Convention(plurals={"texts": lambda t: t.response}, per_call={"count": len}, batched=True)
    assert Binding.of(lambda texts, count: (texts, count), convention).call_batch([TRUTH, FULL]) == (["r", "r"], 2)
    assert Binding.of(lambda texts, **rest: rest, convention).call_batch([TRUTH]) == {"count": 1}


def test_a_setting_without_a_value_is_refused_when_the_function_is_bound():
    convention = Convention({"text": lambda t: t.response}, fills_columns=False)

    def rate(text, limit):
        return len(text) < limit

    with pytest.raises(InvalidSettings, match=r"give them behind its name: rate\(limit=…\)"):
        Binding.of(rate, convention)


def test_a_signature_is_read_once(monkeypatch):
    binding = Binding.of(lambda response, *, answer, **columns: columns)
    batched = Binding.of(lambda responses, **columns: columns)
    monkeypatch.setattr(inspect, "signature", lambda function: pytest.fail("the signature was read again"))
    assert binding.call(FULL) == {}
    assert batched.call_batch([FULL]) == {"answer": ["column"]}


def test_the_native_convention_names_the_fields():
    assert {"trajectory", "response", "ground_truth", "messages", "columns"} <= set(NATIVE.names)
    assert set(NATIVE.plurals) == {"trajectories", "prompts", "responses", "ground_truths"}


def test_a_missing_column_is_named_whatever_the_ground_truth_is():
    class Strange:
        def __bool__(self):
            raise ValueError("neither true nor false")

    for truth in (Strange(), 0):
        with pytest.raises(InvalidTrajectory, match=r"\(it has prompt, response, ground_truth\)"):
            Binding.of(lambda leval: 1).call(Trajectory("q", "r", ground_truth=truth))
