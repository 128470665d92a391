"""Patterns that are compiled when they are first used."""

import gc
import re

import pytest

from plaudit.verify import verify_math
from plaudit.verify.patterns import _Late, compile_late


def test_a_late_pattern_works_like_a_compiled_one():
    late = compile_late(r"(?P<count>\d+)", re.ASCII)
    assert late.search("a 12")["count"] == "12"
    assert late.sub("#", "1 and 2") == "# and #"
    assert [found[0] for found in late.finditer("1 2")] == ["1", "2"]
    assert late.pattern == r"(?P<count>\d+)"


def test_a_pattern_that_cannot_be_compiled_is_reported_when_used():
    with pytest.raises(re.error):
        compile_late("(").search("x")


def test_every_late_pattern_compiles():
    verify_math("1/2", "0.5")
    gc.unfreeze()  # tests/conftest.py keeps what was imported out of sight
    late = [found for found in gc.get_objects() if type(found) is _Late and found._source[0] != "("]
    gc.freeze()
    assert len(late) > 50
    assert all(re.compile(*pattern._source) for pattern in late)
