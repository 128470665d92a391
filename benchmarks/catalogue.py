"""How often is each verifier wrong, and how long does it take? Beside the peers that are installed.

The lines are ours: `catalogue_lines/KIND.yaml` has rows of public data sets with responses that must pass, that must
fail, and that must not be decided. They are hard on purpose: the rates compare verifiers, they are not those of
ordinary responses. `python benchmarks/catalogue.py mcq qa` measures two kinds, without names all; `--write` puts the
rates of ours into the cards and the guide; `--lines` shows every line that was judged wrongly.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from plaudit import Trajectory
from plaudit.rewards import BUILT_INS
from plaudit.verify.card import CARDS, Measurement, kinds, load_card
from plaudit.verify.verifier import Response, sample_of

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, from anywhere

from benchmarks.catalogue_peers import PEERS, Peer

LINES = Path(__file__).parent / "catalogue_lines"
GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "verifiers.md"
TABLE_HEAD = "| kind | false passes | false fails | µs per sample |\n|---|---|---|---|"
REPEATS = 5


class Label(Enum):
    """What must become of a response; also what became of it."""

    PASS = "pass"
    FAIL = "fail"
    DECLINE = "decline"


@dataclass(frozen=True, slots=True)
class Line:
    """One labelled response."""

    row: dict[str, Any]
    response: Response
    label: Label
    settings: dict[str, Any]

    def sample(self) -> Trajectory:
        """The line as a sample."""
        return sample_of(self.row, self.response)


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The reader of C takes a tenth of the time: the tests read these files hundreds of times."""


def read_lines(kind: str) -> list[Line]:
    """The labelled responses of a kind; raises where the file has keys that are no labels."""
    cases = yaml.load((LINES / f"{kind}.yaml").read_text(), LOADER)
    return [line for case in cases for line in _lines_of(case)]


def _lines_of(case: dict[str, Any]) -> Iterator[Line]:
    for key, responses in case.items():
        if key not in ("row", "settings", "note"):
            yield from (Line(case["row"], each, Label(key), case.get("settings", {})) for each in responses)


@dataclass(slots=True)
class Tally:
    """What a verifier made of the lines."""

    name: str
    verdicts: list[tuple[Line, Label]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def count(self, expected: Label, verdict: Label | None = None) -> int:
        """How many lines have a label, and got this verdict if one is given."""
        return sum(line.label is expected and verdict in (None, actual) for line, actual in self.verdicts)

    def errors(self) -> list[tuple[Line, Label]]:
        """The lines that were judged wrongly."""
        return [(line, actual) for line, actual in self.verdicts if line.label is not actual]

    def measurement(self, command: str) -> Measurement:
        """The rates for a card. A right response that is not decided counts as a false fail too."""
        declines = sum((line.label is Label.DECLINE) is not (actual is Label.DECLINE) for line, actual in self.verdicts)
        return Measurement(
            command=command,
            right=self.count(Label.PASS),
            wrong=self.count(Label.FAIL),
            declined=self.count(Label.DECLINE),
            false_passes=self.count(Label.FAIL, Label.PASS),
            false_fails=self.count(Label.PASS, Label.FAIL),
            misjudged_declines=declines,
            microseconds=round(1e6 * statistics.median(self.seconds), 1),
        )


def judge_lines(kind: str, lines: list[Line]) -> Tally:
    """The verdicts of our verifier, and the CPU time of each."""
    tally = Tally("plaudit")
    for line in lines:
        reward, sample = BUILT_INS[kind](**line.settings), line.sample()
        output = reward.compute_reward(sample)
        tally.verdicts.append((line, _label(output.score if output.ok else None)))
        tally.seconds.append(_cpu_time(partial(reward.compute_reward, sample)))
    return tally


def judge_by_peer(peer: Peer, lines: list[Line]) -> Tally:
    """The verdicts of a peer; one that raises has declined."""
    tally, judge = Tally(peer.name), peer.load()
    for line in lines:
        try:
            verdict = _label(judge(line.row, line.response))
        except Exception:  # noqa: BLE001 - the code of a peer may raise anything
            verdict = Label.DECLINE
        tally.verdicts.append((line, verdict))
        tally.seconds.append(0.0)
    return tally


def _label(score: float | None) -> Label:
    return Label.DECLINE if score is None else Label.PASS if score >= 1.0 else Label.FAIL


def _cpu_time(call: Callable[[], object]) -> float:
    """The CPU time of a call: the least of several."""
    taken = []
    for _ in range(REPEATS):
        started = time.process_time()
        call()
        taken.append(time.process_time() - started)
    return min(taken)


def measure(kind: str) -> list[Tally]:
    """The tallies of a kind: ours, then those of the peers that are installed."""
    lines = read_lines(kind)
    tallies = [judge_lines(kind, lines)]
    for peer in PEERS.get(kind, ()):
        try:
            tallies.append(judge_by_peer(peer, lines))
        except ImportError as error:
            print(f"{kind}: {peer.name} is left out: {error}")
    return tallies


def write_card(kind: str, measurement: Measurement) -> None:
    """Replace the table `[measured]` at the end of a card."""
    path = CARDS / f"{kind}.toml"
    written = path.read_text().partition("\n[measured]\n")[0].rstrip("\n")
    names = measurement.__struct_fields__
    table = [f"{name} = {_toml(getattr(measurement, name))}" for name in names]
    path.write_text("\n".join([written, "", "[measured]", *table, ""]))


def write_guide() -> None:
    """Replace the rows of the table in the guide by those of the cards."""
    text = GUIDE.read_text()
    head, _, rest = text.partition(TABLE_HEAD)
    GUIDE.write_text(head + TABLE_HEAD + guide_rows() + rest[rest.index("\n\n") :])


def guide_rows() -> str:
    """The rows of the table in the guide."""
    return "".join(f"\n| `{kind}` | {_rates(load_card(kind).measured)} |" for kind in kinds())


def _rates(measured: Measurement | None) -> str:
    if measured is None:
        return "not measured | |"
    passes = f"{measured.false_passes} of {measured.wrong}"
    fails = f"{measured.false_fails} of {measured.right}"
    return f"{passes} | {fails} | {measured.microseconds:.0f}"


def _toml(value: str | float) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help="kinds to measure; all by default")
    parser.add_argument("--write", action="store_true", help="put the rates of ours into the cards")
    parser.add_argument("--lines", action="store_true", help="show the lines that were judged wrongly")
    options = parser.parse_args()
    print(f"{'kind':14} {'verifier':24} {'false passes':>16} {'false fails':>16} {'declines wrong':>15} {'µs':>7}")
    for kind in options.kinds or kinds():
        for tally in measure(kind):
            measured = tally.measurement(f"python benchmarks/catalogue.py {kind}")
            passes = f"{measured.false_passes} of {measured.wrong}"
            fails = f"{measured.false_fails} of {measured.right}"
            time_taken = f"{measured.microseconds:.0f}" if tally.name == "plaudit" else ""
            print(
                f"{kind:14} {tally.name:24} {passes:>16} {fails:>16} {measured.misjudged_declines:>15} {time_taken:>7}"
            )
            for line, actual in tally.errors() if options.lines else ():
                print(f"    {line.label.value} but {actual.value}: {line.response!r:.160}  row {line.row!r:.160}")
            if options.write and tally.name == "plaudit":
                write_card(kind, measured)
    if options.write:
        write_guide()


if __name__ == "__main__":
    main()
