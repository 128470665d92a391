"""Copies of verifiers with one planted bug each, and what an audit must report of them.

Each is a reward for rows of its kind, written the way such checkers are often written. `BROKEN` names the kind whose
labelled rows it is audited with, and the attacks one of which must find the bug.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

from plaudit import Trajectory
from plaudit.verify.answers.final_answer import f1_of_words, squad_words
from plaudit.verify.rows import find_column, read_literal
from plaudit.verify.text import words

__all__ = ["BROKEN", "BrokenCopy"]


def mcq_any_letter(trajectory: Trajectory) -> float:
    """The right letter as a word anywhere."""
    truth = trajectory.ground_truth
    letter = chr(65 + truth) if isinstance(truth, int) else str(truth)
    return float(re.search(rf"\b{letter}\b", trajectory.response) is not None)


def mcq_last_letter(trajectory: Trajectory) -> float:
    """The last capital letter that stands alone."""
    letters = re.findall(r"\b([A-Z])\b", trajectory.response)
    return float(bool(letters) and letters[-1] == chr(65 + int(trajectory.ground_truth or 0)))


def choice_substring(trajectory: Trajectory) -> float:
    """The label anywhere in the text."""
    return float(("yes" if trajectory.ground_truth else "no") in trajectory.response.lower())


def qa_sub_match(trajectory: Trajectory) -> float:
    """An accepted answer anywhere in the text."""
    return float(any(gold.lower() in trajectory.response.lower() for gold in _gold(trajectory)))


def qa_empty_gold(trajectory: Trajectory) -> float:
    """An empty accepted answer is in every text."""
    text = " ".join(squad_words(trajectory.response))
    return float(any(" ".join(squad_words(gold)) in text[: len(gold) + 20] for gold in _gold(trajectory)))


def qa_any_overlap(trajectory: Trajectory) -> float:
    """One shared word is enough."""
    return float(any(f1_of_words(squad_words(trajectory.response), squad_words(g)) > 0 for g in _gold(trajectory)))


def _gold(trajectory: Trajectory) -> list[str]:
    truth = trajectory.ground_truth
    listed = truth.get("text", truth.get("aliases", [])) if isinstance(truth, dict) else truth
    return [listed] if isinstance(listed, str) else [str(each) for each in listed or [""]]


def tool_call_ignores_extra(trajectory: Trajectory) -> float:
    """Every expected call is there; further ones cost nothing."""
    calls = _calls(trajectory.response)
    return float(all(_accepts(calls, expected) for expected in read_literal(trajectory.ground_truth)))


def tool_call_names_only(trajectory: Trajectory) -> float:
    """The names of the calls are right."""
    expected = [name for entry in read_literal(trajectory.ground_truth) for name in entry]
    return float(sorted(expected) == sorted(re.findall(r"(?<![\w.])([\w.]++)\(", trajectory.response)))


def tool_call_in_thoughts(trajectory: Trajectory) -> float:
    """Calls in thoughts count."""
    calls, expected = _calls(trajectory.response), read_literal(trajectory.ground_truth)
    return float(len(calls) == len(expected) and all(_accepts(calls, each) for each in expected))


def tool_call_greedy(trajectory: Trajectory) -> float:
    """One call may serve several expected ones."""
    calls, expected = _calls(trajectory.response), read_literal(trajectory.ground_truth)
    return float(bool(calls) and all(_accepts(calls[:1] + calls, each) for each in expected))


def _calls(text: str) -> list[tuple[str, str]]:
    return re.findall(r"(?<![\w.])([\w.]++)\(([^()]*+)\)", text)


def _accepts(calls: list[tuple[str, str]], expected: dict[str, dict[str, list[Any]]]) -> bool:
    [(name, arguments)] = expected.items()
    return any(
        called == name
        and all("" in values or any(f"{key}={value!r}" in written.replace('"', "'") for value in values)
                for key, values in arguments.items())
        for called, written in calls
    )  # fmt: skip


def ifeval_passes_unknown(trajectory: Trajectory) -> float:
    """An instruction that the table lacks counts as followed."""
    checks: dict[str, Callable[[str], bool]] = {
        "punctuation:no_comma": lambda text: "," not in text and bool(text.strip()),
        "change_case:english_lowercase": lambda text: text.islower(),
        "change_case:english_capital": lambda text: text.isupper(),
    }
    names = read_literal(find_column(trajectory, "instruction_id_list"))
    return float(all(checks[name](trajectory.response) for name in names if name in checks))


def ifeval_empty(trajectory: Trajectory) -> float:
    """An empty answer has no comma."""
    return float("," not in trajectory.response and trajectory.response != "I do not know.")


def language_passes_blank(trajectory: Trajectory) -> float:
    """A text without letters has no wrong language."""
    ascii_share = sum(letter.isascii() for letter in trajectory.response if letter.isalpha())
    umlauts = re.search(r"[äöüß]|\b(?:und|der|die|das|ist|nicht|ein)\b", trajectory.response, re.IGNORECASE)
    return float(ascii_share == 0 or umlauts is not None)


def regex_unanchored(trajectory: Trajectory) -> float:
    """The anchors of the pattern are dropped."""
    pattern = str(find_column(trajectory, "pattern")).strip("^$")
    return float(re.search(pattern, trajectory.response) is not None)


def contains_in_words(trajectory: Trajectory) -> float:
    """The text may be part of a longer word."""
    wanted = find_column(trajectory, "contains")
    listed = [wanted] if isinstance(wanted, str) else wanted or []
    return float(all(each.lower() in trajectory.response.lower() for each in listed))


def length_without_maximum(trajectory: Trajectory) -> float:
    """Only the minimum is checked."""
    return float(len(words(trajectory.response)) >= int(find_column(trajectory, "min_words") or 0))


def countdown_any_numbers(trajectory: Trajectory) -> float:
    """The target is there; which numbers make it is not checked."""
    text = re.sub(r"<[^<>]*>", "", trajectory.response)
    return float(re.search(rf"\b{find_column(trajectory, 'target')}\b", text) is not None or "+" in text)


def sudoku_forgets_puzzle(trajectory: Trajectory) -> float:
    """Every row has each digit once; the given digits and the columns are not checked."""
    rows = [re.sub(r"\D", "", line) for line in trajectory.response.splitlines()]
    grid = [row for row in rows if len(row) in (4, 9)]
    return float(bool(grid) and len(grid) == len(grid[0]) and all(len(set(row)) == len(row) for row in grid))


def wer_as_recall(trajectory: Trajectory) -> float:
    """The share of reference words that occur; order and further words cost nothing."""
    reference = squad_words(str(find_column(trajectory, "transcription") or trajectory.ground_truth))
    return sum(word in squad_words(trajectory.response) for word in reference) / max(1, len(reference))


def table_cells_anywhere(trajectory: Trajectory) -> float:
    """Every cell of the table occurs in the text."""
    rows = trajectory.ground_truth if isinstance(trajectory.ground_truth, list) else []
    cells = [str(cell) for row in rows if isinstance(row, dict) for cell in row.values()]
    return float(bool(cells) and all(cell in trajectory.response.replace(",", "") for cell in cells))


def units_number_only(trajectory: Trajectory) -> float:
    """The number is right, whatever the unit."""
    written = str(find_column(trajectory, "answer_number") or trajectory.ground_truth)
    wanted, numbers = re.search(r"[\d.]+", written), re.findall(r"[\d.]+", trajectory.response)
    return float(wanted is not None and wanted[0] in numbers)


def sql_as_sets(trajectory: Trajectory) -> float:
    """Results are compared as sets."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(str(find_column(trajectory, "db_script")))
        gold = connection.execute(str(find_column(trajectory, "query", "SQL") or trajectory.ground_truth)).fetchall()
        query = re.sub(r"```\w*", "", trajectory.response).strip()
        return float(set(connection.execute(query).fetchmany(1000)) == set(gold))
    except sqlite3.Error:
        return 0.0
    finally:
        connection.close()


def boxes_without_matching(trajectory: Trajectory) -> float:
    """Any box of the response may match the expected one, and others cost nothing."""
    wanted = find_column(trajectory, "bbox")
    boxes = re.findall(r"\[\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\]", trajectory.response)
    wanted = json.loads(wanted) if isinstance(wanted, str) else wanted
    return float(any([float(each) for each in box] == [float(each) for each in wanted or []] for box in boxes))


class BrokenCopy(NamedTuple):
    """A broken copy: the kind of its rows, and the attacks one of which must find its bug."""

    reward: Callable[[Trajectory], float]
    kind: str
    attacks: frozenset[str]


def _copy(reward: Callable[[Trajectory], float], kind: str, *attacks: str) -> BrokenCopy:
    return BrokenCopy(reward, kind, frozenset(attacks))


BROKEN: tuple[BrokenCopy, ...] = (
    _copy(mcq_any_letter, "mcq", "every option", "right, denied", "right beside another answer"),
    _copy(mcq_last_letter, "mcq", "right, denied"),
    _copy(choice_substring, "choice", "every option", "right, denied"),
    _copy(qa_sub_match, "qa", "right beside another answer", "right, denied"),
    _copy(qa_empty_gold, "qa", "row that cannot be judged"),
    _copy(qa_any_overlap, "qa", "right beside another answer", "right, denied"),
    _copy(tool_call_ignores_extra, "tool_call", "right beside another answer"),
    _copy(tool_call_names_only, "tool_call", "right response with other values"),
    _copy(tool_call_in_thoughts, "tool_call", "right only in the thoughts"),
    _copy(tool_call_greedy, "tool_call", "right beside another answer"),
    _copy(ifeval_passes_unknown, "ifeval", "row that cannot be judged"),
    _copy(ifeval_empty, "ifeval", "nothing to judge"),
    _copy(language_passes_blank, "language", "nothing to judge"),
    _copy(regex_unanchored, "regex", "right inside other text"),
    _copy(contains_in_words, "contains", "right inside other text", "right only in the thoughts"),
    _copy(length_without_maximum, "length_target", "right inside other text"),
    _copy(countdown_any_numbers, "countdown", "the row itself", "part of the right response"),
    _copy(sudoku_forgets_puzzle, "sudoku", "right response in another order"),
    _copy(wer_as_recall, "wer", "right response in another order", "right inside other text"),
    _copy(table_cells_anywhere, "table_f1", "right response in another order"),
    _copy(units_number_only, "units", "part of the right response"),
    _copy(sql_as_sets, "sql", "query with other rows"),
    _copy(boxes_without_matching, "boxes", "right beside another answer"),
)
