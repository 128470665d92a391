"""Every gold answer of BFCL v4 as a response: does `tool_call` pass it, and refuse it once it is changed?

The rows are those of the wheel `bfcl-eval`, which may be in another environment:
`python benchmarks/bfcl.py --site-packages VENV/lib/python3.11/site-packages` prints the counts for each category, and
those of bfcl-eval's own checker on the same calls. `--lines` shows every response that was judged wrongly.
"""

import argparse
import copy
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, from anywhere

from benchmarks.catalogue_peers import load_bfcl_checker
from plaudit.verify import ToolCalls

SINGLE_TURN = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
NO_CALL = ("irrelevance", "live_irrelevance")
Calls = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Response:
    """Calls, what was done to the gold answer to get them, and whether they are still right."""

    calls: Calls
    change: str
    is_right: bool


def read_rows(folder: Path, category: str) -> Iterator[dict[str, Any]]:
    """The rows of a category with their gold answers, where it has any."""
    answers = folder / "possible_answer" / f"BFCL_v4_{category}.json"
    gold = {row["id"]: row["ground_truth"] for row in _read_jsonl(answers)} if answers.exists() else {}
    for row in _read_jsonl(folder / f"BFCL_v4_{category}.json"):
        yield {**row, "ground_truth": gold[row["id"]]} if row["id"] in gold else row


def responses_to(row: dict[str, Any]) -> Iterator[Response]:
    """The gold calls in several choices of accepted values, and changes that make them wrong."""
    gold: list[dict[str, Any]] = row["ground_truth"]
    yield Response(_choose(gold, 0, optional=True), "first values", True)
    yield Response(_choose(gold, -1, optional=True), "last values", True)
    required = _choose(gold, 0, optional=False)
    yield Response(required, "required arguments only", True)
    yield Response(required[::-1], "calls in reverse order", True)
    yield Response([*required, required[0]], "a call twice", False)
    yield Response(required[1:], "a call less", False)
    yield Response([(f"{required[0][0]}_x", required[0][1]), *required[1:]], "another name", False)
    yield Response([(required[0][0], {**required[0][1], "zz_other": 1}), *required[1:]], "another argument", False)
    for index, (name, arguments) in enumerate(required):
        [alternatives] = gold[index].values()
        for key, value in arguments.items():
            rest = {other: each for other, each in arguments.items() if other != key}
            if "" not in alternatives[key]:
                yield Response(_replace(required, index, (name, rest)), "an argument less", False)
            changed = _change(value)
            if changed not in alternatives[key]:
                yield Response(_replace(required, index, (name, {**rest, key: changed})), "a changed value", False)


def _choose(gold: list[dict[str, Any]], place: int, *, optional: bool) -> Calls:
    return [
        (name, _choose_arguments(alternatives, place, optional))
        for entry in gold
        for name, alternatives in entry.items()
    ]


def _choose_arguments(alternatives: dict[str, list[Any]], place: int, optional: bool) -> dict[str, Any]:
    chosen = {}
    for key, values in alternatives.items():
        others = [value for value in values if value != ""]
        if others and (optional or "" not in values):
            chosen[key] = _plain(others[place])
        elif not others:
            chosen[key] = ""
    return chosen


def _plain(value: Any) -> Any:
    """A value whose objects hold the first accepted value of each key."""
    if isinstance(value, dict):
        if all(isinstance(each, list) and each for each in value.values()):
            return _choose_arguments(value, 0, optional=True)
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _change(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 7919
    if isinstance(value, str):
        return f"{value}zq"
    if isinstance(value, list):
        return [*value, _change(value[-1]) if value else 1]
    return {**value, "zz_other": 1} if isinstance(value, dict) else "zq"


def _replace(calls: Calls, index: int, call: tuple[str, dict[str, Any]]) -> Calls:
    return [*calls[:index], call, *calls[index + 1 :]]


def as_text(calls: Calls) -> str:
    """Calls as xLAM and most chat templates write them."""
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site-packages", type=Path, help="where bfcl-eval is installed, if not here")
    parser.add_argument("--lines", action="store_true", help="show the responses that were judged wrongly")
    options = parser.parse_args()
    if options.site_packages is not None:
        sys.path.append(str(options.site_packages))
    package = importlib.util.find_spec("bfcl_eval")
    if package is None or package.origin is None:
        sys.exit("bfcl-eval is not installed: pip install --no-deps bfcl-eval")
    folder = Path(package.origin).parent / "data"
    check, totals = load_bfcl_checker(), Counter[str]()
    print(f"{'category':24} {'rows':>5} {'right refused':>20} {'wrong passed':>20} {'not scored':>10}   bfcl-eval")
    for category in SINGLE_TURN:
        counts, peer = Counter[str](), Counter[str]()
        for row in read_rows(folder, category):
            counts["rows"] += 1
            for response in responses_to(row):
                verdict = ToolCalls().verify(row, as_text(response.calls))
                _count(counts, response, verdict.score)
                wrong = verdict.passed is not response.is_right
                if options.lines and wrong:
                    print(f"    {row['id']}: {response.change}: {verdict.reason}")
                if "java" not in category:
                    _count(peer, response, float(check(row, copy.deepcopy(response.calls))))
        totals += counts
        print(f"{category:24} {counts['rows']:>5} {_rates(counts)}   {_rates(peer) if peer else ''}")
    print(f"{'all':24} {totals['rows']:>5} {_rates(totals)}")
    for category in NO_CALL:
        rows = list(read_rows(folder, category))
        refused = sum(not ToolCalls().verify(row, "None of the functions can do that.").passed for row in rows)
        names = [row["function"][0]["name"] if row["function"] else "any" for row in rows]
        call = [ToolCalls().verify(row, as_text([(name, {"a": 1})])) for row, name in zip(rows, names, strict=True)]
        print(f"{category:24} {len(rows):>5} text refused {refused}, call passed {sum(v.passed for v in call)}")


def _count(counts: Counter[str], response: Response, score: float | None) -> None:
    kind = "right" if response.is_right else "wrong"
    counts[kind] += 1
    counts["not scored"] += score is None
    counts[f"{kind} passed"] += score == 1.0


def _rates(counts: Counter[str]) -> str:
    refused = f"{counts['right'] - counts['right passed']} of {counts['right']}"
    return f"{refused:>20} {counts['wrong passed']:>9} of {counts['wrong']:<7} {counts['not scored']:>10}"


def _read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
