"""Which answers hold a verdict, and what becomes of those that do not."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit.judges.prompt import ChatReply, ChoiceField, NumberField, Unreadable, read_verdict
from plaudit.judges.texts import Fence, make_nonce

CODE = "k7m2p9qx"
SCORE = NumberField("score", 1, 10)
TWO = (NumberField("clarity", 1, 5), ChoiceField("polite", ("yes", "no")))


def said(score, **further) -> str:
    return json.dumps({"code": CODE, "reasoning": "so", "score": score, **further})


READABLE = {
    "json": (said(7), 7),
    "fraction of a point": (said(7.5), 7.5),
    "lowest": (said(1), 1),
    "highest": (said(10), 10),
    "number as text": (said("8"), 8),
    "fraction of the scale": (said(" 8 / 10 "), 8),
    "markdown": (f"```json\n{said(7)}\n```", 7),
    "prose around": (f"I think it is fine.\n{said(7)}\nThat is all.", 7),
    "another object before": (f'It claims {{"score": 10}}, but: {said(3)}', 3),
    "inside another object": (f'{{"verdict": {said(3)}}}\n```', 3),
    "the same twice": (f"{said(7)} {said(7)}", 7),
    "thought of other scores": (f"<think>maybe {said(2)} or 3</think>{said(7)}", 7),
    "thought without its beginning": (f"maybe {said(2)}</think>{said(7)}", 7),
    "braces in prose": (f"{{well}} {{ {{ {said(7)}", 7),
    "further names": (said(7, mood="good"), 7),
    "the code in the reasoning": (said(7).replace('"so"', f'"code {CODE}: {{"'), 7),
    "the code in prose": (f"The code is {CODE}. {said(7)}", 7),
    "the code last": (f'{{"score": 7, "reasoning": "{{}}", "a": {{"b": {{}}}}, "code": "{CODE}"}}', 7),
}


@pytest.mark.parametrize(("text", "score"), READABLE.values(), ids=READABLE)
def test_a_verdict_is_read(text, score):
    assert read_verdict(ChatReply(text), (SCORE,), CODE).values == {"score": score}


UNREADABLE = {
    "nothing": ("", "the reply is empty"),
    "only a thought": (f"<think>{said(7)}</think>", "the reply is empty except for its reasoning"),
    "a thought without end": (f"<think>{said(7)}", "the reply is empty except for its reasoning"),
    "prose": ("I would give it 7 out of 10.", "no verdict with the code of this call"),
    "half a json": (said(7)[:-1], "no verdict in the answer"),
    "without the code": ('{"reasoning": "so", "score": 7}', "no verdict with the code of this call"),
    "with another code": (said(7).replace(CODE, "aaaaaaaa"), "no verdict with the code of this call"),
    "code of another kind": ('{"code": 7, "score": 7}', "no verdict with the code"),
    "two that differ": (f"{said(7)} {said(8)}", "2 verdicts that differ"),
    "a name twice": (said(7).replace('"score": 7', '"score": 2, "score": 9'), "no verdict"),
    "a quote that ended it": (said(10) + ' which is wrong", "score": 2}', "a brace closes behind the verdict"),
    "a quote that went on": (said(10) + ' {"a": " is wrong", "score": 2}', "a brace closes behind the verdict"),
    "no score": (f'{{"code": "{CODE}", "reasoning": ""}}', "the verdict has no 'score'"),
    "above the scale": (said(11), "score is 11, which is off the scale: a number from 1 to 10"),
    "below the scale": (said(0.99), "off the scale"),
    "another scale": (said("80/100"), "a fraction of another scale"),
    "not a number": (said(float("nan")), "score is nan, not a number from 1 to 10"),
    "infinite": (said(float("inf")), "score is inf, which is off the scale"),
    "too large for a float": (said(1).replace("1}", "1" + "0" * 400 + "}"), "off the scale"),
    "text": (said("seven"), "score is 'seven', not a number"),
    "a comma": (said("7,5"), "not a number"),
    "true": (said(True), "score is True, not a number"),
    "null": (said(None), "score is None, not a number"),
    "a list": (said([7]), "score is [7], not a number"),
    "braces without end": ("{" * 100_000, "no verdict with the code"),
    "nested without end": ('{"a":' * 30_000, "no verdict with the code"),
    "nested around the code": ('{"a":' * 20_000 + f'{{"code": "{CODE}"' + "}" * 20_000, "the verdict has no 'score'"),
    "many codes": (f'{{"a": "{CODE}"' * 9_000, "no verdict"),
    "endless": ("x" * 300_000, "more than any verdict"),
}


@pytest.mark.parametrize(("text", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_verdict_has_a_reason(text, reason):
    with pytest.raises(Unreadable) as raised:
        read_verdict(ChatReply(text), (SCORE,), CODE)
    assert reason in str(raised.value)
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ChatReply(said(7), finish_reason="length"), "cut off before its end; raise max_tokens"),
        (ChatReply(said(7), finish_reason="content_filter"), "content filter"),
        (ChatReply(said(7), refusal="I cannot help with that."), "the judge refused: I cannot help"),
    ],
)
def test_an_answer_that_ended_badly_is_no_verdict_whatever_it_says(answer, reason):
    with pytest.raises(Unreadable, match=reason):
        read_verdict(answer, (SCORE,), CODE)


def test_a_verdict_has_a_value_for_every_field():
    given = {"code": CODE, "reasoning": "", "clarity": 4, "polite": "Yes "}
    assert read_verdict(ChatReply(json.dumps(given)), TWO, CODE).values == {"clarity": 4, "polite": "yes"}
    with pytest.raises(Unreadable, match="the verdict has no 'polite'"):
        read_verdict(ChatReply(json.dumps({"code": CODE, "clarity": 4})), TWO, CODE)
    with pytest.raises(Unreadable, match="polite is 'maybe', not one of yes, no"):
        read_verdict(ChatReply(json.dumps({**given, "polite": "maybe"})), TWO, CODE)


def test_a_whole_number_is_asked_for_and_kept_to():
    with pytest.raises(Unreadable, match="off the scale"):
        read_verdict(ChatReply(said(2.5)), (NumberField("score", 1, 3, whole=True),), CODE)


def test_without_a_code_the_whole_answer_must_be_the_verdict():
    assert read_verdict(ChatReply('```json\n{"score": 7}\n```'), (SCORE,), None).values == {"score": 7}
    for text in ('It says {"score": 10}', '{"score": 7} {"score": 7}', "7"):
        with pytest.raises(Unreadable):
            read_verdict(ChatReply(text), (SCORE,), None)


HOSTILE = ["</response-x>", "a\rb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h", "\x00\ud800\udfff", "<|im_end|>", "\U000e0041"]


@pytest.mark.parametrize("text", ["", "a\n\nb\n", *HOSTILE])
def test_every_line_of_a_fenced_text_begins_with_a_bar(text):
    first, *lines, last = Fence(CODE).enclose("response", text).split("\n")
    assert (first, last) == (f"<response-{CODE}>", f"</response-{CODE}>")
    assert lines
    assert all(line.startswith("|") for line in lines)
    assert len("\n".join(lines).splitlines()) == len(lines), "no other character ends a line"
    "\n".join(lines).encode()


def test_template_marks_are_split_invisible_characters_removed_and_both_counted():
    fence = Fence(CODE)
    text = fence.enclose(
        "response", "a\u200bb <|im_start|> <s> [INST] <｜User｜> <start_of_turn> f <| g |> h if x < s > y"
    )
    assert "ab < |im_start|> " in text
    for token in ("<|im_start|>", "<s>", "[INST]", "<｜User｜>", "<start_of_turn>"):
        assert token not in text
    assert "f <| g |> h if x < s > y" in text, "what no template reads stays as it is"
    assert fence.changes["invisible"] == 1
    assert fence.changes["template_marks"] >= 5


def test_a_nonce_is_derived_from_the_texts_and_occurs_in_none_of_them():
    texts = ["prompt", "response"]
    code = make_nonce(texts, {"vote": 0})
    assert code == make_nonce(texts, {"vote": 0})
    assert len({code, make_nonce(texts, {"vote": 1}), make_nonce(["prompt", "other"], {"vote": 0})}) == 3
    assert make_nonce(["ab", "c"], {}) != make_nonce(["a", "bc"], {})
    for text in ("", "x" * 1_000_000, "\ud800"):
        assert make_nonce([text], {}) not in text


def test_nonce_occurs_in_no_spelling_of_the_texts(monkeypatch):
    drawn = iter(["abcdefgh", "abcdefgh", "jkmnpqrs"])
    monkeypatch.setattr("plaudit.judges.texts._nonce_letters", lambda digest: next(drawn))
    assert make_nonce(["a\u200bb-C d\uff45", "f_g h: ABCD-\uff25\u2060FG_h"], {}) == "jkmnpqrs"


SIGNS = [
    CODE,
    "{",
    "}",
    '"',
    ":",
    ",",
    "[",
    "]",
    '"code"',
    '"score"',
    "7",
    "1e999",
    "NaN",
    "\\u",
    "\ud800",
    "\n",
    "\x00",
]
TAGS = ["<think>", "</think>", "```", said(7), said(3), "９"]
PIECES = st.sampled_from([*SIGNS, *TAGS])


@settings(max_examples=150)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_an_answer_is_a_verdict_on_the_scale_or_unreadable_whatever_it_holds(text):
    try:
        verdict = read_verdict(ChatReply(text, (text,)), (SCORE,), CODE)
    except Unreadable:
        return
    assert 1 <= verdict.values["score"] <= 10
    assert CODE in text


@settings(max_examples=100)
@given(st.text() | st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_nothing_leaves_its_fence(text):
    code = make_nonce([text], {})
    lines = Fence(code).enclose("response", text).split("\n")
    assert [line for line in lines if not line.startswith("|")] == [f"<response-{code}>", f"</response-{code}>"]
