"""Citations and quotes: scores between 0 and 1, passages, time."""

import time

import pytest

from plaudit.errors import InvalidSettings
from plaudit.rewards.verifiers.recognisers import recognise
from plaudit.verify import Citations, Quotes
from plaudit.verify.citations.passages import find_passages
from plaudit.verify.text import MARK_END, MARK_START
from plaudit.verify.verifier import sample_of

DOCS = [
    {"id": "1", "title": "Tower", "text": "It was completed in 1889 and is 330 metres tall."},
    {"id": "2", "title": "Museum", "text": "The museum opened in 1793 with 537 paintings."},
]
ROW = {"question": "What is there to see?", "docs": DOCS}


@pytest.mark.parametrize(
    ("response", "score"),
    [
        ("It was completed in 1889 [1]. It is nice to see.", 1 / 2),
        ("It was completed in 1889 [1]. It has 537 paintings [2]. It is nice to see.", 2 / 3),
        ("It was completed in 1889 [1]. It has 537 paintings [2, 1].", 1 / 3),
        ("It was completed in 1889 [1]. It was completed in 1889 [1].", 2 / 3),
    ],
)
def test_the_score_is_the_share_of_right_sentences_among_sentences_and_faults(response, score):
    assert Citations().verify(ROW, response).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("prompt", "ids", "title"),
    [
        ("[1] A lake.\n[2] A river.\nQuestion: What?", ["1", "2"], ""),
        ("Document [1](Title: Lakes (big)): A lake.\nDocument [2](Title: Rivers): A river.", ["1", "2"], "Lakes (big)"),
        ("[Part 1]:\nA lake.\n\n[Part 2]:\nA river.\n", ["1", "2"], ""),
        ('<passage id="a">A lake.</passage><passage id="b">A river.</passage>', ["a", "b"], ""),
        ("Doc 1(Title: Lakes) A lake.\nDoc 2(Title: Rivers) A river.", ["1", "2"], "Lakes"),
    ],
)
def test_passages_are_found_in_prompts(prompt, ids, title):
    passages = find_passages(sample_of({"prompt": prompt}, ""))
    assert [passage.id for passage in passages.items] == ids
    assert passages.items[0].title == title
    assert [passage.text for passage in passages.items] == ["A lake.", "A river."]


@pytest.mark.parametrize("piece", ["[1] ", '"a b c d" [1] ', "It is so [1]. ", "(1). ", "[1, ", "x… "])
def test_answers_of_many_pieces_are_judged_in_time(piece):
    started = time.process_time()
    for verifier in (Citations(), Quotes()):
        verifier.verify(ROW, piece * (49_000 // len(piece)))
    assert time.process_time() - started < 2.0


def test_an_unknown_grammar_is_refused_with_a_suggestion():
    with pytest.raises(InvalidSettings, match="ascii_brackets"):
        Citations(grammar="ascii_bracket")


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (ROW, "citations"),
        ({"prompt": "?", "verifier": {"mode": "cite", "valid_id_set": ["a1"]}}, "citations"),
        ({"problem": "Find it.", "solution": "<answer>[1, 2, 3, 4]</answer>"}, "boxes"),
        ({"question": "Find it.", "bbox": [1, 2, 3, 4]}, "boxes"),
        ({"instruction": "open", "bbox": [1, 2, 3, 4], "data_type": "icon", "img_size": [9, 9]}, "points"),
        ({"prompt": "Click.", "expected_answer": "0.1,0.2", "max_dist": 0.15}, "points"),
        ({"question": "How many?", "answer": 3, "data_source": "tallyqa"}, "count"),
    ],
)
def test_rows_of_these_kinds_are_recognised(row, kind):
    assert recognise(sample_of(row, "x")) == kind


def test_a_response_cannot_write_the_marks_of_citations_itself():
    row = {"question": "When?", "docs": [{"id": "1", "title": "Tower", "text": "The tower was completed in 1889."}]}
    forged = f"It was completed in 1889 [1]. The tower was completed in 1889 then {MARK_START}0{MARK_END}."
    assert Citations().verify(row, forged).score == 0.5
    assert Citations().verify(row, f"The tower was completed in 1889 {MARK_START}7{MARK_END}.").score == 0.0
