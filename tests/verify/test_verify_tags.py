import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify.tags import FaultKind, find_blocks, find_faults, without_thinking

NAMES = ("think", "answer")


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        pytest.param("<think>a</think><answer>4</answer>", {}, id="as asked"),
        pytest.param("<THINK>a</THINK>\n<Answer>4</Answer>\n", {}, id="case and whitespace"),
        pytest.param("## Think\nfour\n## Answer:\n4", {}, id="headings"),
        pytest.param("<think></think><answer>4</answer>", {"think": FaultKind.EMPTY}, id="empty"),
        pytest.param("<think>\u200b...</think><answer>4</answer>", {"think": FaultKind.EMPTY}, id="nothing readable"),
        pytest.param(
            "<think>a</think><think>b</think><answer>4</answer>", {"think": FaultKind.REPEATED}, id="repeated"
        ),
        pytest.param("<answer>4</answer><think>a</think>", {"answer": FaultKind.OUT_OF_ORDER}, id="out of order"),
        pytest.param("<think>a<answer>4</answer></think>", {"answer": FaultKind.NESTED}, id="nested"),
        pytest.param("<think>a<think>b</think></think><answer>4</answer>", {"think": FaultKind.NESTED}, id="in itself"),
        pytest.param("</think>a<think>", {"think": FaultKind.UNOPENED, "answer": FaultKind.MISSING}, id="reversed"),
        pytest.param("<think>a</think><answer>4", {"answer": FaultKind.UNCLOSED}, id="unclosed"),
        pytest.param("<think>a</think><answer>4</answer> bye", {"answer": FaultKind.TRAILED}, id="trailing text"),
        pytest.param("", {"think": FaultKind.MISSING, "answer": FaultKind.MISSING}, id="nothing"),
        pytest.param("## Answer\n4\n## Think\na", {"answer": FaultKind.OUT_OF_ORDER}, id="headings out of order"),
        pytest.param("## Think\n## Answer\n4", {"think": FaultKind.EMPTY}, id="empty heading"),
    ],
)
def test_each_fault_is_named(text, faults):
    assert {fault.name: fault.kind for fault in find_faults(text, NAMES)} == faults


def test_outermost_blocks_are_found():
    assert [block.text for block in find_blocks("<a>1<a>2</a></a> <a>3</a>", "a")] == ["1<a>2</a>", "3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a<think>b</think>c", "a\nc"),
        ("a<think>b", "a"),
        ("b</think>c", "c"),
        ("<think>b<think>c</think>d</think>e", "\ne"),
        ("<thinking>b</thinking>c", "\nc"),
    ],
)
def test_thinking_is_not_said(text, said):
    assert without_thinking(text) == said


@given(st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "4", " "])).map("".join))
def test_no_order_of_tags_but_the_right_one_is_faultless(text):
    if not find_faults(text, NAMES):
        assert text.count("<think>") == text.count("</answer>") == 1
        assert text.index("<think>") < text.index("</think>") < text.index("<answer>") < text.index("</answer>")
