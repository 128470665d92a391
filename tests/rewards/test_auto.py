"""`auto` chooses the verifier by the name of the data set, else by the columns."""

import pyarrow
import pytest

from plaudit import Status, Trajectory, score
from plaudit.rewards import AutoReward
from plaudit.rewards.verifiers.recognisers import BY_COLUMNS, NAMES, recognise, verifiers_of
from plaudit.verify.verifier import sample_of

ROWS = {
    "math": {"data_source": "openai/gsm8k", "prompt": "1+1", "reward_model": {"ground_truth": "2"}},
    "math of open-instruct": {"dataset": "gsm8k", "prompt": "1+1", "ground_truth": "2"},
    "math by its worked solution": {"question": "1+1", "answer": "One and one.\n#### 2"},
    "mcq": {"question": "1 + 1?", "choices": ["1", "2", "3"], "answer": 1},
    "mcq of ARC": {"question": "?", "choices": {"text": ["1", "2"], "label": ["A", "B"]}, "answerKey": "B"},
    "choice": {"prompt": "?", "labels": ["1", "2"], "label": "2"},
    "qa": {"data_source": "searchR1_nq", "prompt": "?", "reward_model": {"ground_truth": {"target": ["2"]}}},
    "qa of NQ-open": {"question": "?", "answer": ["2", "two"]},
    "qa of SQuAD": {"question": "?", "answers": {"text": ["2"], "answer_start": [0]}},
    "qa of HotpotQA": {"question": "?", "answer": "2", "supporting_facts": {"title": ["Two"], "sent_id": [0]}},
    "structured": {"prompt": "?", "schema_type": "json", "ground_truth": '{"number": 2}'},
    "count with a tagged truth": {"problem": "?", "solution": "<answer> 2 </answer>", "data_source": "clevr_count"},
    "mcq of NeMo": {"question": "?", "options": [{"A": "1"}, {"B": "2"}], "expected_answer": "B"},
    "qa of TriviaQA": {"question": "?", "answer": {"value": "2", "aliases": ["two"]}},
    "qa_f1": {"dataset": "string_f1", "prompt": "?", "ground_truth": "2"},
    "countdown": {"prompt": "?", "target": 2, "nums": [2]},
    "sudoku": {"prompt": "?", "quizzes": "1234341221434321"},
    "knights_knaves": {"prompt": "?", "solution_text_format": "(1) Ann is a knight"},
    "length_target": {"prompt": "?", "min_words": 4},
    "units": {"problem": "?", "answer_number": 2, "unit": "m"},
    "language": {"prompt": "?", "target_language": "English"},
    "wer": {"prompt": "?", "transcription": "the answer is 2"},
    "ifeval": {"prompt": "?", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
    "ifbench": {"prompt": "?", "instruction_id_list": ["count:numbers"], "kwargs": [{"N": 1.0, "small_n": None}]},
    "ifbench with instructions of IFEval and IFEvalG": {
        "prompt": "?",
        "dataset": "ifeval",
        "ground_truth": "[{'instruction_id': ['keywords:word_once', 'count:numbers', 'punctuation:no_comma'], "
        "'kwargs': [{'keyword': 'answer'}, {'N': 1}, None]}]",
    },
    "if_train": {"prompt": "?", "instruction_id_list": ["keywords:word_once"], "kwargs": [{"keyword": "answer"}]},
    "if_train of open-instruct": {
        "messages": [{"role": "user", "content": "?"}],
        "ground_truth": "[{'instruction_id': ['punctuation:punctuation_exclamation'], 'kwargs': [None]}]",
    },
    "if_train of RLVR-IFeval": {"prompt": "?", "ground_truth": '{"func_name": "validate_no_commas", "N": null}'},
    "structured of NeMo": {"prompt": "?", "schema_str": '{"type": "integer"}', "schema_type": "json"},
    "structured of StructEval": {"query": "?", "output_type": "JSON", "raw_output_metric": ["a"]},
    "sql of Spider": {"question": "?", "db_id": "x", "query": "SELECT 2", "db_script": "SELECT 1"},
    "sql of BIRD": {"question": "?", "evidence": "", "SQL": "SELECT 2", "db_script": "SELECT 1"},
    "contains": {"prompt": "?", "contains": "2"},
    "regex": {"prompt": "?", "regex": "2"},
}

RESPONSES = {
    "structured": '{"number": 2}',
    "structured of NeMo": "2",
    "structured of StructEval": '{"a": 2}',
    "sql of Spider": "SELECT 2",
    "sql of BIRD": "SELECT 2",
    "sudoku": "1234341221434321",
    "knights_knaves": "Ann is a knight.",
    "units": "200 cm",
    "language": "The answer to this question is two.",
}


CALLS = {
    "BFCL": {
        "question": [[{"role": "user", "content": "?"}]],
        "function": [{"name": "f"}],
        "ground_truth": [{"f": {}}],
    },
    "xLAM": {"query": "?", "tools": '[{"name": "f", "parameters": {}}]', "answers": '[{"name": "f", "arguments": {}}]'},
    "rlla": {
        "data_source": "rlla",
        "prompt": "?",
        "reward_model": {"ground_truth": '<tool_call>{"name": "f"}</tool_call>'},
    },
    "NeMo": {"question": "?", "expected_action": {"type": "function_call", "name": "f", "arguments": "{}"}},
}


@pytest.mark.parametrize("row", CALLS.values(), ids=CALLS)
def test_a_row_with_expected_calls_is_scored_by_tool_call(row):
    output = score(AutoReward(), [sample_of(row, "[f()]")])[0]
    assert output.metadata["verifier"] == "tool_call"
    assert output.reward == 1.0


@pytest.mark.parametrize(("name", "row"), ROWS.items(), ids=ROWS)
def test_a_row_is_scored_by_its_verifier(name, row):
    response = RESPONSES.get(name, "The answer is 2.")
    output = score(AutoReward(), [sample_of(row, response)])[0]
    assert output.metadata["verifier"] == name.split()[0]
    assert output.reward == (0.5 if name == "qa_f1" else 1.0)


@pytest.mark.parametrize(("name", "row"), ROWS.items(), ids=ROWS)
def test_a_row_of_a_parquet_table_is_the_row_of_its_data_set(name, row):
    """Lists are arrays there, objects of a column have all keys, and columns of other data sets are null."""
    others = {column: None for each in ROWS.values() for column in each if column != "ground_truth"}
    table = pyarrow.Table.from_pylist([row, {}]).to_pandas()
    from_table = {**others, **table.iloc[0].to_dict()}
    response = RESPONSES.get(name, "The answer is 2.")
    plain, read = (score(AutoReward(), [sample_of(each, response)])[0] for each in (row, from_table))
    assert read.metadata["verifier"] == plain.metadata["verifier"]
    assert (read.reward, read.reason) == (plain.reward, plain.reason)


def test_an_unknown_row_is_refused_with_its_columns():
    output = score("auto", [Trajectory(prompt="?", response="x", columns={"colour": "red"})])[0]
    assert output.status is Status.SKIPPED
    assert output.reason == "no verifier is known for a row with these columns: prompt, colour"


def test_every_reward_of_the_table_exists():
    assert {*NAMES, *(recogniser.spec for recogniser in BY_COLUMNS)} <= set(AutoReward().rewards)


def test_a_name_of_a_data_set_is_listed_once():
    names = [name for names in NAMES.values() for name in names]
    assert len(names) == len(set(names))


def test_the_name_of_a_data_set_comes_before_columns():
    assert recognise(Trajectory("?", "x", "2", task="openai/gsm8k", columns={"contains": "2"})) == "math"


def test_rows_with_passages_have_two_verifiers_of_which_auto_takes_the_first():
    passages = {"docs": [{"id": "1", "text": "It rains."}]}
    assert verifiers_of(Trajectory("?", "x", columns=passages)) == ("citations", "quotes")
    assert verifiers_of(Trajectory("?", "x", columns={"contains": "2"})) == ("contains",)
    assert verifiers_of(Trajectory("?", "x")) == ()
