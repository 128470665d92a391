"""Prompts from files: the same rows whatever the format, and errors that say where."""

import gzip
import json
import random
import re

import datasets
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.errors import DataError, InvalidSettings
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import PromptTemplate, read_demonstrations, read_prompts, set_template_arguments
from plaudit.training.model.loading import character_tokenizer
from plaudit.training.sampling.encoding import count_tokens, encode_prompts, keep_fitting
from tests.agents.tokenizers import tokenizer_of

ROWS = [{"question": "1+1", "answer": "2", "level": "easy"}, {"question": "2+{2}", "answer": "4", "level": "hard"}]


def write_jsonl(path):
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))


def write_gzip(path):
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))


def write_parquet(path):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)


def write_csv(path):
    path.write_text("question,answer,level\r\n1+1,2,easy\r\n2+{2},4,hard\r\n")


def write_dataset(path):
    import datasets

    datasets.Dataset.from_list(ROWS).save_to_disk(str(path))


def write_dataset_dict(path):
    import datasets

    datasets.DatasetDict(
        train=datasets.Dataset.from_list(ROWS), test=datasets.Dataset.from_list(ROWS[:1])
    ).save_to_disk(str(path))


def write_folder(path):
    (path / "data").mkdir(parents=True)
    write_parquet(path / "data" / "train-00000-of-00001.parquet")
    write_jsonl(path / "data" / "test.jsonl")


FORMATS = {
    "data.jsonl": write_jsonl, "data.jsonl.gz": write_gzip, "data.parquet": write_parquet, "data.csv": write_csv,
    "saved": write_dataset, "saved with splits": write_dataset_dict, "files in a folder": write_folder,
}  # fmt: skip


@pytest.fixture(params=FORMATS, ids=list(FORMATS))
def data(request, tmp_path):
    path = tmp_path / request.param
    FORMATS[request.param](path)
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.jsonl"
    write_jsonl(path)
    return path


def test_every_format_gives_the_same_rows(data):
    prompts = read_prompts(data)
    assert prompts.prompts == ["1+1", "2+{2}"]
    assert prompts.ground_truths == ["2", "4"]
    assert [row.columns for row in prompts] == [{"level": "easy"}, {"level": "hard"}]
    assert {row.response for row in prompts} == {""}


def test_a_template_makes_prompts_of_columns_and_leaves_braces_in_them_alone(lines):
    template = PromptTemplate("{{{level}}} {prompt} = {question}?")
    assert read_prompts(lines, template=template).prompts == ["{easy} 1+1 = 1+1?", "{hard} 2+{2} = 2+{2}?"]


def test_a_template_needs_no_prompt_column(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 3, "meta": {"b": 4}, "answer": "7"}\n')
    [row] = read_prompts(path, template=PromptTemplate("{a}+{meta.b}="))
    assert (row.prompt, row.ground_truth, row.columns) == ("3+4=", "7", {"a": 3, "meta": {"b": 4}})


def test_a_system_message_makes_a_chat(lines):
    first = read_prompts(lines, template=PromptTemplate(system="Be brief."))[0]
    assert first.prompt == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1"}]
    chat = read_prompts(lines, template=PromptTemplate(chat=True))[0]
    assert chat.prompt == [{"role": "user", "content": "1+1"}]


def test_columns_can_be_named(lines):
    prompts = read_prompts(lines, columns={"ground_truth": "level"})
    assert prompts.ground_truths == ["easy", "hard"]


@pytest.mark.parametrize("column", ["prompt", "messages"])
def test_an_answer_at_the_end_of_a_chat_is_not_part_of_the_prompt(tmp_path, column):
    asked = [{"role": "user", "content": "1+1"}]
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({column: [*asked, {"role": "assistant", "content": "2"}]}) + "\n")
    assert read_prompts(path).prompts == [asked]


def test_a_response_in_the_data_is_left_out(tmp_path):
    path = tmp_path / "rollouts.jsonl"
    told = {"prompt": "1+1", "response": "3", "tokens": {"ids": [1]}, "reward_output": {"reward": 0.0}}
    path.write_text(json.dumps({**told, "ground_truth": "2"}) + "\n")
    [row] = read_prompts(path)
    assert (row.response, row.tokens, row.columns, row.ground_truth) == ("", None, {}, "2")


def test_a_limit_stops_early(lines):
    assert len(read_prompts(lines, limit=1)) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no prompts"),
        ('{"question": "1"}\n{"question"\n', "bad.jsonl:2: broken JSON"),
        ('{"question": "1"}\n{"text": "1"}\n', "bad.jsonl:2: no 'prompt' column"),
        ("[1]\n", "bad.jsonl:1: expected an object with a prompt, got list"),
        ('{"prompt": 3}\n', "bad.jsonl:1: prompt must be text"),
    ],
    ids=["empty", "broken", "no prompt", "no object", "number"],
)
def test_bad_lines_are_named(tmp_path, text, words):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_prompts(path)


@pytest.mark.parametrize(("line", "words"), [("1+1", "fewer cells"), ("1+1,2,easy,extra", "more cells")])
def test_a_csv_line_of_another_length_is_named(tmp_path, line, words):
    path = tmp_path / "a.csv"
    path.write_text(f"question,answer,level\n{line}\n")
    with pytest.raises(DataError, match=rf"a\.csv:2: {words} than columns"):
        read_prompts(path)


def test_the_error_for_a_missing_file_or_an_unknown_format_names_the_file(lines):
    with pytest.raises(DataError, match=r"no file .*line\.jsonl; did you mean 'lines\.jsonl'"):
        read_prompts(lines.parent / "line.jsonl")
    (lines.parent / "a.txt").touch()
    with pytest.raises(DataError, match=r"a\.txt: .* end in \.jsonl"):
        read_prompts(lines.parent / "a.txt")


def test_a_split_that_is_not_there_is_named(tmp_path):
    write_dataset_dict(tmp_path / "saved")
    assert len(read_prompts(tmp_path / "saved", split="test")) == 1
    with pytest.raises(DataError, match=r"no split 'tests'; did you mean 'test'"):
        read_prompts(tmp_path / "saved", split="tests")
    write_folder(tmp_path / "files")
    with pytest.raises(DataError, match=r"no file of the split 'dev'; there are test\.jsonl"):
        read_prompts(tmp_path / "files", split="dev")
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="holds no data"):
        read_prompts(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "words"),
    [("no names", "names no column"), ("{", "cannot be read"), ("{} x", "name a column there")],
)
def test_a_template_that_is_invalid_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        PromptTemplate(text)


def test_a_template_with_an_unknown_column_is_an_error_with_the_line(lines):
    with pytest.raises(DataError, match=r"lines\.jsonl:1: the template asks for \{levl\}.* did you mean 'level'"):
        read_prompts(lines, template=PromptTemplate("{levl}"))


def test_prompts_that_are_too_long_are_named_or_dropped():
    prompts, tokenizer = Prompts.of(["12", "123456", "1"]), character_tokenizer()
    with pytest.raises(DataError, match="1 of 3 prompts are longer than 3 tokens; the first is sample 1 with 6"):
        keep_fitting(prompts, tokenizer, 3)
    assert keep_fitting(prompts, tokenizer, 3, drop=True).prompts == ["12", "1"]
    assert keep_fitting(prompts, tokenizer, 6) == prompts
    with pytest.raises(DataError, match="none would be left"):
        keep_fitting(prompts[1:2], tokenizer, 3, drop=True)


@pytest.mark.parametrize("kind", ["character", "leading_space", "smollm2"])
def test_prompts_have_as_many_tokens_as_the_model_gets_whatever_the_tokenizer_did_before(kind):
    tokenizer = tokenizer_of(kind)
    chat = [{"role": "user", "content": "12?"}]
    for prompts in (["6 x 7?", "1", "The answer is: <|im_end|> 42"], ["6 x 7?", chat]):
        tokenizer(["1", "1 2 3"], truncation=True, max_length=2)
        assert count_tokens(tokenizer, prompts) == [len(ids) for ids in encode_prompts(tokenizer, prompts)]
    with pytest.raises(DataError, match="prompt 1 has no tokens"):
        count_tokens(tokenizer, ["1", ""])


def test_prompts_are_rows_in_order():
    prompts = Prompts.of(["a", [{"role": "user", "content": "b"}]])
    assert (len(prompts), prompts[1:].prompts, prompts.pick([1, 0]).prompts[1]) == (2, [prompts[1].prompt], "a")
    assert Prompts.of("abc").prompts == ["abc"]
    with pytest.raises(DataError, match="prompt 0 is int 3"):
        Prompts.of([3])


def test_a_split_keeps_every_prompt_and_leaves_training_prompts():
    prompts = Prompts.of([str(number) for number in range(10)])
    left, held_out = prompts.split(3, seed=1)
    assert sorted([*left.prompts, *held_out.prompts]) == prompts.prompts
    assert (len(held_out), prompts.split(3, seed=1)) == (3, (left, held_out))
    assert len(prompts.split(0, seed=1)[1]) == 0
    with pytest.raises(DataError, match="cannot hold out 10 of 10 prompts"):
        prompts.split(10, seed=1)


@given(st.lists(st.integers(0, 12), min_size=4, max_size=60), st.integers(0, 5))
def test_no_prompt_is_both_trained_on_and_held_out(numbers, seed):
    prompts = Prompts.of([f"prompt {number}" for number in numbers])
    try:
        kept, apart = prompts.split(len(numbers) // 3, seed)
    except DataError:
        return  # one prompt fills everything
    assert not set(kept.prompts) & set(apart.prompts)
    assert sorted([*kept.prompts, *apart.prompts]) == sorted(prompts.prompts)
    assert len(apart) <= len(numbers) // 3


def test_white_space_does_not_make_another_prompt():
    kept, apart = Prompts.of(["2+2=", "2+2= ", "2+2=\n", "3+3=", "4+4="]).split(2, seed=1)
    assert {row.strip() for row in kept.prompts} == {"2+2="}
    assert sorted(apart.prompts) == ["3+3=", "4+4="]


def test_without_repetitions_the_split_is_a_shuffle():
    numbers = [str(number) for number in range(30)]
    random.Random(7).shuffle(shuffled := list(numbers))
    kept, apart = Prompts.of(numbers).split(10, seed=7)
    assert (kept.prompts, apart.prompts) == (shuffled[:20], shuffled[20:])


def test_demonstrations_are_read_with_their_responses_and_the_template(tmp_path):
    shown = tmp_path / "shown.jsonl"
    chat = {"messages": [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}]}
    shown.write_text(json.dumps({"question": "1+1", "response": "2"}) + "\n")
    [row] = read_demonstrations(shown, template=PromptTemplate("{question}="))
    assert (row.prompt, row.response) == ("1+1=", "2")
    shown.write_text(json.dumps(chat) + "\n")
    [row] = read_demonstrations(shown)
    assert (row.prompt, row.response) == ([{"role": "user", "content": "1+1"}], "2")


@pytest.mark.parametrize(
    ("text", "words"),
    [('{"prompt": "a", "response": " "}\n', "shown.jsonl:1: the response is empty"),
     ('{"prompt": "a"}\n', "shown.jsonl:1: .*response"), ("", "holds no demonstrations")],
)  # fmt: skip
def test_a_demonstration_without_a_response_is_named(tmp_path, text, words):
    shown = tmp_path / "shown.jsonl"
    shown.write_text(text)
    with pytest.raises(DataError, match=words):
        read_demonstrations(shown)


def test_arguments_become_part_of_the_chat_template():
    tokenizer = character_tokenizer()
    tokenizer.chat_template = "{{ messages[0].content }}{% if think is defined and not think %}-{{ who }}{% endif %}"
    set_template_arguments(tokenizer, {"think": False, "who": 'it\'s "me"', "more": [1, None, {"a": True}]})
    said = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert said == 'hi-it\'s "me"'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a b": 1}, "cannot be the name"),
        ({"a": object()}, "not a plain value"),
        ({"a": float("nan")}, "not a plain value"),
    ],
)
def test_invalid_chat_template_arguments_are_refused(arguments, words):
    tokenizer = character_tokenizer()
    with pytest.raises(InvalidSettings, match="has no chat template"):
        set_template_arguments(tokenizer, {"a": 1})
    tokenizer.chat_template = "x"
    with pytest.raises(InvalidSettings, match=words):
        set_template_arguments(tokenizer, arguments)


def test_a_name_that_is_no_file_is_loaded_from_the_hub(monkeypatch, tmp_path):
    asked = []

    def load_dataset(name, subset, split):
        asked.append((name, subset, split))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert read_prompts("openai/gsm8k@main", split="test").ground_truths == ["2", "4"]
    assert read_prompts("gsm8k").ground_truths == ["2", "4"]
    assert asked == [("openai/gsm8k", "main", "test"), ("gsm8k", None, "train")]


def test_without_a_network_the_error_explains_how_to_make_a_local_copy(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    copy = re.escape("datasets.load_dataset('openai/gsm8k', 'main').save_to_disk('gsm8k')")
    with pytest.raises(DataError, match=f"no file openai/gsm8k, and no data set of that name.*{copy}"):
        read_prompts("openai/gsm8k@main")


def test_a_misspelt_file_is_not_looked_for_on_the_hub(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts.jsonl").write_text("{}")
    for name in ("prompts", "promts.jsonl", "absent.jsonl"):
        with pytest.raises(DataError, match=f"no file {name}"):
            read_prompts(name)
