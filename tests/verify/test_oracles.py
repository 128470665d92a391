"""A sample of the comparison with the public checkers: Google's of IFEval (lm-eval) and bfcl-eval's.

`make` installs both without what they depend on, and the first one into a folder of its own; where that folder is
absent, there is nothing to compare with, and `benchmarks/catalogue.py` says so.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

from benchmarks.bfcl import as_text, read_rows, responses_to
from benchmarks.catalogue import Label, read_lines
from benchmarks.catalogue_peers import load_bfcl_checker, load_google_ifeval
from plaudit.verify import IfEval, ToolCalls

ORACLES = Path(sys.prefix, "oracles")
NEEDS_DATA = {
    "language:response_language", "change_case:english_capital", "change_case:english_lowercase",
    "change_case:capital_word_frequency", "length_constraints:number_sentences",
}  # fmt: skip
"""Types whose public checker detects languages at random, or needs data of NLTK."""
DOCUMENTED = {
    "keywords:existence": {
        "C has a.b", "C++ has axb",  # keywords are regular expressions there
        "ocean breeze s\u200bea",  # characters that print nothing
    },
    "keywords:frequency": {"Ra\u200bin is rain."},  # characters that print nothing
    "keywords:forbidden_words": {
        "C is a language.", "A gun  fight.", "w\u200bar", "We can’t go.", "sto\u00adp it", "ｓｔｏｐ it",
    },
    "keywords:letter_frequency": {  # a random letter instead of # and !
        "#a #b #c #d", "#### heading", "#a #b #c", "aaaa eeee tttt oooo", "zzzz", "Calm!", "!!",
        "Calm and quiet, all the letters of the alphabet.",
    },
    "length_constraints:number_words": {"__ __ __ __ __ __"},
    "length_constraints:nth_paragraph_first_word": {
        "First.\n\n\n\nweekend, then.\n\nLast.", "First.\n \nWeekend: a word.\n\nLast.",
        "I like tea.\n\nHowever—and I mean it—coffee.", "I like tea.\r\n\r\nHowever, coffee.",
        "Hello.\n\nWeekend: rest.\n\nBye.",
    },
}  # fmt: skip
"""Responses on which `published=True` and Google's checker differ; the card of `ifeval` says why."""
EVERY = 25  # rows of BFCL
REFUSED_BY_BFCL = {"simple_python_200"}  # its checker refuses the gold calls without an optional argument


@pytest.fixture
def oracles(monkeypatch):
    monkeypatch.syspath_prepend(str(ORACLES))
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        if name.partition(".")[0] in ("lm_eval", "bfcl_eval"):
            del sys.modules[name]


if ORACLES.is_dir():

    def test_the_published_mode_of_ifeval_judges_as_googles_checkers_do(oracles):
        judge, verifier, compared = load_google_ifeval(loose=False), IfEval(published=True), 0
        for line in read_lines("ifeval"):
            names = line.row.get("instruction_id_list")
            if line.settings or line.label is Label.DECLINE or not isinstance(line.response, str):
                continue
            if not isinstance(names, list) or NEEDS_DATA & set(names) or not line.response.strip():
                continue
            if line.response in DOCUMENTED.get(names[0], ()):
                continue
            compared += 1
            verdict = verifier.verify(line.row, line.response)
            assert verdict.score == judge(line.row, line.response), (names, line.response)
        assert compared > 400

    @pytest.mark.parametrize("category", ["simple_python", "multiple", "parallel", "parallel_multiple", "live_simple"])
    def test_gold_calls_of_bfcl_pass_changed_ones_fail_and_its_checker_agrees(oracles, category):
        check, verifier = load_bfcl_checker(), ToolCalls()
        folder = Path(str(importlib.util.find_spec("bfcl_eval").origin)).parent / "data"
        for row in list(read_rows(folder, category))[::EVERY]:
            for response in responses_to(row):
                passed = verifier.verify(row, as_text(response.calls)).passed
                assert passed == response.is_right, (row["id"], response)
                if row["id"] not in REFUSED_BY_BFCL:
                    assert check(row, response.calls) == response.is_right, (row["id"], response)
