"""An attack: an operator that writes responses which are wrong by construction.

A draft says what makes it wrong (`core`), so that shrinking leaves that in place, and which share of an honest
response's pay makes it a finding.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from plaudit.audit.attacks.forms import Form
from plaudit.audit.findings import Attacker
from plaudit.audit.samples import Response
from plaudit.audit.tasks import Kind, Task
from plaudit.audit.vocabulary import Vocabulary

FULL = 0.999999
"""Paid like the right answer: for wrong values that may earn something for being close."""
MOST = 0.6
"""Paid most of it: more than half, since two answers may share the credit of one."""
SOME = 0.25
"""Paid visibly more than an honest wrong answer: for responses with nothing in them."""


@dataclass(frozen=True, slots=True)
class AttackContext:
    """A task, a form that the reward pays for it, and the words of the reward's code."""

    task: Task
    form: Form
    vocabulary: Vocabulary

    @property
    def is_slot(self) -> bool:
        """Whether the form marks the answer off from the text around it, so that this text does not count."""
        return "<" in self.form.before or self.form.json_key is not None or "```" in self.form.before

    def present(self, answer: str) -> str:
        """The response that gives this answer."""
        return self.form.present(answer)


@dataclass(frozen=True, slots=True)
class Draft:
    """A response, what must stay in it to be wrong, the share of pay that counts, and one that must be paid too.

    `controls` are neutral texts of the same shape: what they earn is not paid for what the response says.
    """

    response: Response
    core: tuple[str, ...] = ()
    share: float = MOST
    also: str | None = None
    controls: tuple[Response, ...] = ()
    is_certain: bool = False
    """Whether it is wrong by construction even where it holds the right response."""


Writer: TypeAlias = Callable[[AttackContext], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Operator:
    """A named way to write wrong responses to tasks of some kinds."""

    name: str
    family: str
    attacker: Attacker
    kinds: frozenset[Kind]
    write: Writer
    remedy: str
    needs_isolation: bool = False
    """True for responses that may hang or end the process that scores them."""
    about_signs: bool = False
    """True where signs alone make the response wrong: no fault of a reward that compares the words of texts."""
