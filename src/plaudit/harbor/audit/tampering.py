"""Other contents of the files that a verifier reads and an agent can write.

They are tried with results that the verifier rejects, so a reward is due to these contents alone.
"""

import difflib
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from plaudit.harbor.audit.surface import Surface

MOST_ALONE = 4
SUMS = ("sha256", "sha1", "md5", "sha512")
_WORD = re.compile(rb"[\w.]*\w")
_SWITCH = re.compile(rb"\b(?:true|false|yes|no|on|off)\b", re.IGNORECASE)
_NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tampering:
    """The results, files and texts that the other contents are made from."""

    right: dict[str, bytes]
    """The results of the solution."""
    wrong: dict[str, bytes]
    """Results that the verifier rejects by themselves."""
    image: dict[str, bytes]
    words: list[str] = field(default_factory=list)
    """Texts that the tests look for."""
    sums: list[str] = field(default_factory=list)
    """Kinds of sums that they name."""

    def variants(self, surface: Surface) -> Iterator[tuple[str, dict[str, bytes]]]:
        """What is changed, and the new contents by path: of all files, then of each file of the image alone."""
        marks = ["1\n", "PASS\n", "".join(f"{each}\n" for each in self.words)]
        contents: dict[str, Callable[[str], bytes | None]] = {
            "emptied": lambda path: b"" if path in self.image else None,
            "with the contents of the results": self._like,
            "with the wrong values": self._agreeing,
            **{
                f"with the {'bare ' if bare else ''}{name} sums of the results": partial(
                    self._summed, name=name, bare=bare
                )
                for bare in (False, True)
                for name in self.sums
            },
            "with large numbers": partial(self._with_values, number=b"999999999", switch=b"true"),
            "with zeros": partial(self._with_values, number=b"0", switch=b"false"),
            **{f"with {text[:40].strip()!r}": partial(self._marked, text=text) for text in marks},
        }
        existing, missing = surface.existing, surface.missing
        alone = [[path] for path in existing[:MOST_ALONE]] if len(existing) + len(missing) > 1 else []
        for paths in ([*existing, *missing], *alone):
            for name, content in contents.items():
                files = {path: new for path in paths if (new := content(path)) is not None}
                if files:
                    yield f"{', '.join(files)[:200]} {name}", files
        if surface.left:
            yield f"{', '.join(surface.left)[:200]} as a verification that passes leaves them", surface.left

    def _marked(self, path: str, text: str) -> bytes | None:
        return None if path in self.image else text.encode()

    def _like(self, path: str) -> bytes | None:
        """The wrong result whose path is most similar."""
        nearest = max(self.wrong, key=lambda each: difflib.SequenceMatcher(None, each, path).ratio(), default=None)
        return None if nearest is None else self.wrong[nearest]

    def _summed(self, path: str, name: str, *, bare: bool) -> bytes:
        folder = os.path.dirname(path)
        sums = {each: hashlib.new(name, content).hexdigest() for each, content in self.wrong.items()}
        lines = sums.values() if bare else (f"{sums[each]}  {each.removeprefix(f'{folder}/')}" for each in sums)
        return "".join(f"{line}\n" for line in lines).encode()

    def _agreeing(self, path: str) -> bytes | None:
        """The file with each word of the right results that the wrong ones have changed."""
        old = self.image.get(path)
        new = old
        for result, wrong in self.wrong.items():
            before, after = (_WORD.findall(each) for each in (self.right[result], wrong))
            for one, other in zip(before, after, strict=False) if len(before) == len(after) else ():
                if one != other and new is not None:
                    new = re.sub(rb"(?<![\w.])%s(?![\w.])" % re.escape(one), other, new)
        return new if new != old else None

    def _with_values(self, path: str, number: bytes, switch: bytes) -> bytes | None:
        old = self.image.get(path)
        if old is None or b"\0" in old:
            return None
        new = _SWITCH.sub(switch, _NUMBER.sub(number, old))
        return new if new != old else None
