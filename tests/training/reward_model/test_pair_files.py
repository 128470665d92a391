"""Rows of pairs in the forms that others write, what is wrong with bad ones, and the split by prompt."""

import json

import pytest

from plaudit.errors import DataError, InvalidSettings
from plaudit.training import read_pairs
from plaudit.training.reward_model.pair import PreferencePair, read_pair
from plaudit.training.reward_model.pair_files import keep_apart, split_pairs
from plaudit.trajectory import Trajectory

USER, GOOD, BAD = "What is 2+2?", "It is 4.", "It is 5."


def user(text=USER):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


FORMS = {
    "texts with a prompt": {"prompt": USER, "chosen": GOOD, "rejected": BAD},
    "another system's name of the prompt": {"question": USER, "chosen": GOOD, "rejected": BAD},
    "messages with the prompt in them": {"chosen": [user(), assistant(GOOD)], "rejected": [user(), assistant(BAD)]},
    "messages beside messages": {"prompt": [user()], "chosen": [assistant(GOOD)], "rejected": [assistant(BAD)]},
    "messages beside a text, as UltraFeedback": {
        "prompt": USER, "chosen": [user(), assistant(GOOD)], "rejected": [user(), assistant(BAD)],
    },
    "texts beside messages": {"prompt": [user()], "chosen": GOOD, "rejected": BAD},
    "transcripts, as Anthropic": {
        "chosen": f"\n\nHuman: {USER}\n\nAssistant: {GOOD}", "rejected": f"\n\nHuman: {USER}\n\nAssistant: {BAD}",
    },
    "a transcript as the prompt": {
        "prompt": f"\n\nHuman: {USER}\n\nAssistant:", "chosen": f" {GOOD}".strip(), "rejected": BAD,
    },
}  # fmt: skip


@pytest.mark.parametrize("row", FORMS.values(), ids=FORMS)
def test_every_form_becomes_the_same_conversations(row):
    pair = read_pair(row)
    assert pair.chosen.messages == [user(), assistant(GOOD)]
    assert pair.rejected.messages == [user(), assistant(BAD)]
    assert pair.prompt_key == USER


@pytest.mark.parametrize("row", FORMS.values(), ids=FORMS)
def test_a_pair_is_written_so_that_it_reads_the_same(row):
    pair = read_pair(row)
    assert read_pair(pair.to_row()) == pair


def test_turns_before_the_last_one_are_the_prompt():
    start = "\n\nHuman: Hi.\n\nAssistant: Hello.\n\nHuman: Name a colour.\n\nAssistant:"
    pair = read_pair({"chosen": f"{start} Red.", "rejected": f"{start} Three."})
    assert [message["role"] for message in pair.chosen.messages] == ["user", "assistant", "user", "assistant"]
    assert (pair.chosen.response, pair.rejected.response) == ("Red.", "Three.")


QUOTED = "Human: Rate me.\n\nAssistant: Ten of ten."


@pytest.mark.parametrize(
    "row", [{"prompt": USER, "chosen": GOOD, "rejected": QUOTED}, {"chosen": GOOD, "rejected": QUOTED}]
)
def test_a_response_that_quotes_a_transcript_stays_one_response(row):
    assert read_pair(row).rejected.response == QUOTED


def test_texts_without_a_prompt_have_an_empty_prompt():
    pair = read_pair({"chosen": "A fine poem.", "rejected": "A bad one."})
    assert pair.chosen == Trajectory(prompt="", response="A fine poem.")


BAD_ROWS = {
    "the same text": ({"prompt": "p", "chosen": "same ", "rejected": "same"}, "the same text: 'same '"),
    "no chosen": ({"prompt": "p", "choosen": "a", "rejected": "b"}, "no column 'chosen'; did you mean 'choosen'?"),
    "no rejected": ({"prompt": "p", "chosen": "a"}, "no column 'rejected' (found prompt, chosen)"),
    "empty": ({"prompt": "p", "chosen": "a", "rejected": " "}, "rejected is empty"),
    "null": ({"prompt": "p", "chosen": None, "rejected": "b"}, "chosen is null"),
    "a number": ({"prompt": "p", "chosen": 3, "rejected": "b"}, "chosen must be text or chat messages, got int 3"),
    "not messages": ({"chosen": [{"text": "a"}], "rejected": "b"}, "chosen[0] is not a chat message"),
    "the user's word last": ({"chosen": [user()], "rejected": "b"}, "chosen must end with the assistant message"),
    "another prompt": (
        {"prompt": "Other?", "chosen": [user(), assistant("a")], "rejected": "b"}, "the prompt does not occur",
    ),
    "a scored file": (
        {"prompt": "p", "response": "r", "reward_output": {"reward": 1.0}}, "make pairs of it first: plaudit pairs",
    ),
    "a list": (["a", "b"], "expected an object with chosen and rejected, got list"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_row_that_holds_no_pair_is_named_with_the_reason(row, message, tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [{"prompt": "p", "chosen": "a", "rejected": "b"}, row]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    with pytest.raises(DataError) as raised:
        read_pairs(path)
    assert str(raised.value).startswith(f"{path}:2: ")
    assert message in str(raised.value)
    left = read_pairs(path, skip_bad=True)
    assert len(left) == 1
    assert left.notes[0].startswith("left out 1 row without a pair")


def test_a_file_of_bad_rows_only_is_an_error_even_when_they_may_be_skipped(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"chosen": "a", "rejected": "a"}\n' * 3)
    with pytest.raises(DataError, match="2 other rows hold no pair either"):
        read_pairs(tmp_path / "pairs.jsonl", skip_bad=True)


def test_columns_may_have_any_names(tmp_path):
    (tmp_path / "pairs.csv").write_text("q,better,worse\n2+2?,4,5\n")
    columns = {"prompt": "q", "chosen": "better", "rejected": "worse"}
    [pair] = read_pairs(tmp_path / "pairs.csv", columns=columns).pairs
    assert (pair.chosen.prompt, pair.chosen.response, pair.rejected.response) == ("2+2?", "4", "5")


def test_an_unknown_field_in_the_names_of_columns_is_an_error(tmp_path):
    with pytest.raises(InvalidSettings, match="a pair has no field 'choosen'; did you mean 'chosen'"):
        read_pairs(tmp_path / "pairs.csv", columns={"choosen": "better"})


def test_repeated_and_contradictory_pairs_get_a_note(tmp_path):
    rows = [("a", "b"), ("a", "b"), ("b", "a")]
    lines = [json.dumps({"prompt": "p", "chosen": better, "rejected": worse}) + "\n" for better, worse in rows]
    (tmp_path / "pairs.jsonl").write_text("".join(lines))
    repeated, both_ways = read_pairs(tmp_path / "pairs.jsonl").notes
    assert repeated == "1 pair of 3 repeat another"
    assert both_ways.startswith("1 pair of responses chosen one way here and the other way there")


def pair(prompt, chosen, rejected):
    return PreferencePair(Trajectory(prompt=prompt, response=chosen), Trajectory(prompt=prompt, response=rejected))


def test_no_prompt_is_on_both_sides():
    pairs = [pair(f"prompt  {place % 40}", f"good {place}", f"bad {place}") for place in range(200)]
    pairs += [pair("prompt 7", "good", "bad")]  # other white space, the same prompt
    split = split_pairs(pairs, 0.2, seed=3)
    keys = [{each.prompt_key for each in side} for side in (split.train, split.held_out)]
    assert keys[0].isdisjoint(keys[1])
    assert len(split.train) + len(split.held_out) == len(pairs)
    assert 30 <= len(split.held_out) <= 41
    assert split == split_pairs(pairs, 0.2, seed=3) != split_pairs(pairs, 0.2, seed=4)


def test_without_prompts_no_response_is_on_both_sides():
    """Rankings a > b > c share responses: their pairs stay together."""
    pairs = [
        each
        for place in range(30)
        for each in (pair("", f"a{place}", f"b{place}"), pair("", f"b{place}", f"c{place}"))
    ]  # fmt: skip
    split = split_pairs(pairs, 0.2, seed=0)
    texts = [{key for each in side for key in each.response_keys} for side in (split.train, split.held_out)]
    assert texts[0].isdisjoint(texts[1])
    assert split.notes


@pytest.mark.parametrize("pairs", [[pair("p", "a", "b")], [pair("", "a", "b"), pair("", "b", "c")]])
def test_pairs_that_cannot_be_split_are_an_error_that_names_the_way_out(pairs):
    with pytest.raises(DataError, match=r"data\.held_out_path"):
        split_pairs(pairs, 0.2, seed=0)


def test_held_out_prompts_of_a_file_of_their_own_are_not_trained_on():
    pairs = [pair(f"p{place}", "a", "b") for place in range(4)]
    split = keep_apart(pairs, [pair("p1", "c", "d")])
    assert [each.prompt_key for each in split.train] == ["p0", "p2", "p3"]
    assert split.notes == ("left out 1 pair to train on: held-out prompts occur in them",)
    with pytest.raises(DataError, match="nothing would be left"):
        keep_apart(pairs[:2], [pair("p0", "c", "d"), pair("p1", "c", "d")])
