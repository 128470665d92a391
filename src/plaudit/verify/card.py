"""The card of a verifier: what it reads, when it accepts, what it withstands, how often it is wrong.

A card is the file `cards/KIND.toml`. Its table `[measured]` is written by `benchmarks/catalogue.py --write KIND` and
never by hand.
"""

import tomllib
from pathlib import Path

import msgspec

from plaudit.errors import InvalidSettings, did_you_mean

CARDS = Path(__file__).parent / "cards"


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The measured error rates of a verifier on labelled responses, and its time."""

    command: str
    right: int
    """Responses that must pass."""
    wrong: int
    """Responses that must not pass."""
    declined: int
    """Rows and responses that must not be decided."""
    false_passes: int
    false_fails: int
    misjudged_declines: int
    """Lines that were decided and should not have been, or the other way round."""
    microseconds: float
    """CPU time per sample."""

    def describe(self) -> str:
        """The rates in a sentence."""
        return (
            f"false passes {self.false_passes} of {self.wrong} ({_percent(self.false_passes, self.wrong)}), "
            f"false fails {self.false_fails} of {self.right} ({_percent(self.false_fails, self.right)}), "
            f"wrongly decided or declined {self.misjudged_declines} of {self.right + self.wrong + self.declined}; "
            f"{self.microseconds:.0f} µs per sample; measured with `{self.command}`"
        )


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The facts that a user needs before trusting a verifier."""

    inputs: dict[str, str]
    """Columns and what they hold; the data sets that have them."""
    rules: list[str]
    """When a response is accepted, in order."""
    attacks: list[str]
    """Responses that earn nothing."""
    differs: list[str] = []
    """Where a public definition differs, and which one holds here."""
    measured: Measurement | None = None

    def sections(self) -> dict[str, list[str]]:
        """The parts of the card by title, each as lines."""
        return {
            "inputs": [f"{column}: {text}" for column, text in self.inputs.items()],
            "accepts": [f"{number}. {rule}" for number, rule in enumerate(self.rules, 1)],
            "withstands": self.attacks,
            "differs from": self.differs,
            "measured": [self.measured.describe() if self.measured else "not yet"],
        }


def kinds() -> list[str]:
    """Every kind that has a card."""
    return sorted(path.stem for path in CARDS.glob("*.toml"))


def load_card(kind: str) -> Card:
    """The card of a kind."""
    if kind not in kinds():
        raise InvalidSettings(
            f"no verifier named {kind!r}{did_you_mean(kind, kinds())} (there are {', '.join(kinds())})"
        )
    return msgspec.convert(tomllib.loads((CARDS / f"{kind}.toml").read_text()), Card)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "no lines"
