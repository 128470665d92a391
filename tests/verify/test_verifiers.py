"""What holds for every verifier: thoughts, blank answers, bad rows, messages, any text, long texts."""

import pickle
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit import Status, Trajectory
from plaudit.rewards import BUILT_INS
from plaudit.verify import Contains, Verdict
from plaudit.verify.text import MARK, MARK_END, MARK_START
from plaudit.verify.verifier import answer_of, sample_of
from tests.parts import part
from tests.verify.catalogue import KINDS, Label, lines_with

every_kind = pytest.mark.parametrize("kind", KINDS)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def texts_with(kind, *labels):
    return [line for line in lines_with(kind, *labels) if isinstance(line.response, str)]


def score_of(kind, line, response):
    output = BUILT_INS[kind](**line.settings).compute_reward(sample_of(line.row, response))
    return output.score


@every_kind
@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b\u2060", "<think>It is so.</think>", "<think></think>\n"])
def test_a_blank_answer_never_passes(kind, blank):
    for line in lines_with(kind, Label.PASS):
        assert score_of(kind, line, blank) == 0.0


@every_kind
def test_an_answer_only_in_thoughts_does_not_count(kind):
    for line in texts_with(kind, Label.PASS):
        for thought in (f"<think>{line.response}</think>", f"<think>{line.response}", f"{line.response}</think>"):
            assert score_of(kind, line, thought) == 0.0, thought


@every_kind
def test_thoughts_before_the_answer_change_nothing(kind):
    for line in texts_with(kind, Label.PASS, Label.FAIL):
        if line.settings.get("thoughts"):
            continue  # asks for thoughts in a language
        thought = f"<think>Perhaps not so.</think>\n{line.response}"
        assert score_of(kind, line, thought) == score_of(kind, line, line.response), thought


@every_kind
def test_characters_that_verifiers_use_as_marks_change_nothing_in_a_response(kind):
    for line in texts_with(kind, Label.PASS, Label.FAIL)[:40]:
        words = line.response.split(" ")
        for written in (MARK.join([" ", line.response]), " ".join([*words[:-1], f"{MARK_START}{words[-1]}{MARK_END}"])):
            assert score_of(kind, line, written) == score_of(kind, line, line.response), written


@every_kind
def test_a_response_may_be_a_list_of_messages(kind):
    for line in texts_with(kind, Label.PASS, Label.FAIL):
        messages = [{"role": "assistant", "content": line.response}]
        expected = score_of(kind, line, line.response)
        assert score_of(kind, line, messages) == expected
        assert score_of(kind, line, messages[0]) == expected


@every_kind
def test_a_row_without_its_columns_is_declined_whatever_the_response(kind):
    for line in texts_with(kind, Label.PASS):
        for response in (line.response, ""):
            output = BUILT_INS[kind](**line.settings).compute_reward(sample_of({"prompt": "?"}, response))
            if "pattern" not in line.settings and kind != "structured":  # its settings are enough for form
                assert output.status is Status.UNPARSED
                assert output.reason


@every_kind
def test_no_text_raises(kind):
    line = lines_with(kind, Label.PASS)[0]
    reward = BUILT_INS[kind](**line.settings)

    @settings(max_examples=60, deadline=None)
    @given(st.text() | st.text("aB1 .,:()[]{}<>\\*_|\n\"'-+=/", max_size=80))
    def check(response):
        output = reward.compute_reward(sample_of(line.row, response))
        assert output.status in (Status.OK, Status.UNPARSED)

    check()


@every_kind
def test_no_row_raises(kind):
    lines = lines_with(kind, Label.PASS)
    names = sorted({name for line in lines for name in line.row} - {"prompt"})

    @settings(max_examples=50, deadline=None)
    @given(st.sampled_from(lines), st.sampled_from(names), JUNK)
    def check(line, name, junk):
        output = BUILT_INS[kind](**line.settings).verify({**line.row, name: junk}, line.response)
        assert isinstance(output, Verdict)
        assert output.score is None or 0.0 <= output.score <= 1.0

    check()


PIECES = ("the answer is ", "((((", "a1 ", "\\boxed{", "<answer>", "- x | y |\n", "é ")


@pytest.mark.parametrize(
    ("kind", "piece"), [(kind, piece) for kind in KINDS for piece in PIECES if part([f"{kind} {piece}"], 3)]
)
def test_a_long_response_is_judged_in_time(kind, piece):
    line = lines_with(kind, Label.PASS)[0]
    reward, sample = BUILT_INS[kind](**line.settings), sample_of(line.row, piece * (250_000 // len(piece)))
    started = time.process_time()
    assert reward.compute_reward(sample).status in (Status.OK, Status.UNPARSED)
    assert time.process_time() - started < 1.5


@every_kind
def test_the_reward_pickles_and_equals_itself(kind):
    reward = BUILT_INS[kind]()
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert repr(reward) == f"{type(reward).__name__}()"


def test_tool_calls_are_found_in_messages_and_are_no_blank_answer():
    call = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    for sample in (
        sample_of({"prompt": "?"}, message),
        sample_of({"prompt": "?"}, [message]),
        Trajectory.from_dict({"messages": [{"role": "user", "content": "?"}, message]}),
    ):
        answer = answer_of(sample)
        assert answer.tool_calls == [call]
        assert answer.text == ""
        assert not answer.is_blank


def test_a_response_that_is_no_text_is_not_decided():
    verdict = Contains().verify({"contains": "x"}, 5)
    assert not verdict.decided
    assert "response must be text" in verdict.reason


def test_columns_are_found_in_the_ground_truth_and_in_the_metadata():
    for row in (
        {"contains": "x"},
        {"reward_model": {"ground_truth": {"contains": "x"}}},
        {"extra_info": {"contains": "x"}},
    ):
        assert Contains().verify(row, "x").passed
