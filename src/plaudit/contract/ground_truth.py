"""Whether a reward needs a ground truth, and whether samples have one. Commands ask this before they score anything.

A function needs a ground truth if it has a parameter for it without a default, and uses it: a function of verl or
OpenRLHF always takes one, but need not look at it. A reward class declares it (`needs_ground_truth`).
"""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from plaudit.columns import foreign_names_of
from plaudit.contract.contents import rewards_within
from plaudit.contract.function import RewardFunction
from plaudit.contract.scoring import Style
from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory

MAX_CHECKED = 1_000


def check_ground_truth(reward: RewardFunction, samples: Iterable[Trajectory], option: str) -> Iterator[Trajectory]:
    """All of the samples; raises InvalidSettings if the first 1,000 that reach a part lack the ground truth it needs.

    Samples are read only until every part that they reached has met a ground truth, so a stream is not held up.
    `option` is how a user names the column that holds the ground truth.
    """
    remaining = iter(samples)
    has_needs = any(map(truth_parameter, rewards_within(reward)))
    checked: list[Trajectory] = []
    met: set[tuple[str, str]] = set()
    unmet: list[tuple[str, str]] = []
    for sample in islice(remaining, MAX_CHECKED if has_needs else 0):
        checked.append(sample)
        needs = [(part.name, truth_parameter(part)) for part in _reached(reward, sample)]
        met.update(need for need in needs if _has_truth(sample, need[1]))
        unmet = [need for need in dict.fromkeys([*unmet, *needs]) if need[1] and need not in met]
        if not unmet:
            break
    if unmet:
        name, parameter = unmet[0]
        columns = dict.fromkeys(column for sample in checked for column in (*sample.columns, *sample.metadata))
        option = option.replace("COLUMN", next(iter(foreign_names_of("ground_truth", columns)), "COLUMN"))
        raise InvalidSettings(
            f"{name} needs a ground truth ({parameter!r}), and no sample has one; "
            f"the other columns are: {', '.join(columns) or 'none'}; name the column that holds it: {option}"
        )
    return chain(checked, remaining)


def _reached(reward: RewardFunction, sample: Trajectory) -> Iterator[RewardFunction]:
    """The rewards within a reward that score a sample: a reward may give a sample to some of its parts only."""
    if reward.call_style is not Style.COMPOUND:
        yield from rewards_within(reward)
        return
    with suppress(Exception):  # a chat template may refuse a prompt
        for part, sent in reward.samples_for(sample):  # type: ignore[attr-defined]  # of every compound reward
            if sent is not None:
                yield from _reached(part, sample)


def truth_parameter(reward: RewardFunction) -> str:
    """The parameter or field by which a reward reads the ground truth that it needs; empty if it needs none."""
    binding = getattr(reward, "binding", None)
    if binding is None:
        return "ground_truth" if reward.needs_ground_truth else ""
    return next((name for name in binding.truth_parameters if _is_used(binding.function, name)), "")


def _has_truth(sample: Trajectory, parameter: str) -> bool:
    return sample.ground_truth is not None or parameter in sample.columns or parameter in sample.metadata


def _is_used(function: Callable[..., Any], parameter: str) -> bool:
    """Whether the code of a function uses a parameter; True where the code cannot be read."""
    code = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    if not inspect.isroutine(code):
        code = type(code).__call__
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return True
    loads = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    names = [node.id for node in loads]
    loops = [loop for loop in map(_zipped, ast.walk(tree)) if parameter in loop]
    in_unused_loops = sum(loop[parameter] not in names for loop in loops)
    return names.count(parameter) > in_unused_loops


def _zipped(node: ast.AST) -> dict[str, str]:
    """`{"queries": "query", "labels": "label"}` of `for query, label in zip(queries, labels)`."""
    if not isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return {}
    loop, target = node.iter, node.target
    if not (isinstance(loop, ast.Call) and isinstance(loop.func, ast.Name) and loop.func.id == "zip"):
        return {}
    targets: Sequence[ast.expr] = target.elts if isinstance(target, ast.Tuple) else []
    pairs = zip(loop.args, targets, strict=False)
    return {one.id: other.id for one, other in pairs if isinstance(one, ast.Name) and isinstance(other, ast.Name)}
