"""Regular expressions that are compiled when they are first used.

Verifiers have some hundred of them, most of which a given response never needs; compiling all takes as long as a
thousand verifications.
"""

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


class _Late:
    """Stands in for a pattern; after the first use its methods are the pattern's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def compile_late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""A pattern like that of `re.compile`; whether it can be compiled shows when it is used.

    >>> compile_late(r"\d+").search("a 12")[0]
    '12'
    """
    return cast("re.Pattern[str]", _Late(pattern, flags))
