"""`plaudit watch`: what the rollouts of a run show, while it trains or afterwards."""

from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from plaudit import watch as watching
from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.cli.scoring.summary import require_scored
from plaudit.report.run_files import run_files

__all__ = ["watch"]

SEEN = 1


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a rollouts file of a run.")],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what training appends, until Ctrl-C.")
    ] = False,
    every: Annotated[int, typer.Option("--every", min=1, help="How many steps between two looks.")] = 10,
    window: Annotated[int, typer.Option("--window", min=1, help="How many steps a look goes back.")] = 20,
    stop_on: Annotated[
        list[str] | None,
        typer.Option("--stop-on", metavar="SIGN", help="End when this sign is there three times in a row."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Look at the groups, lengths, components, copies and phrases of a run every few steps; say what is new.

    The exit code is 1 when the last look saw a sign.
    """
    looks: list[watching.Look] = []
    for look in watching.watch_run(
        run, watching.RewardWatch(every=every, window=window, stop_on=stop_on or ()), follow=follow
    ):
        looks.append(look)
        if not json:
            for sign in look.new:
                print_result(f"step {look.step}: {sign}")
        if look.stop is not None:
            break
    last = looks[-1] if looks else None
    if last is None and not follow:
        _refuse_unscored(run)
    if json:
        print_json([_plain(look) for look in looks])
    elif last is None:
        print_result(f"no look yet: the run has fewer than {every} steps with rollouts")
    elif not last.signs:
        print_result(f"step {last.step}: no sign in the last {last.figures.summary.count:,} samples")
    return SEEN if last is not None and last.signs else 0


def _refuse_unscored(run: Path) -> None:
    """Raise where there was nothing to look at because the file has broken lines, or samples without a reward."""
    reader = options.open_rollouts(str(run_files(run).rollouts), None)
    deque(require_scored(reader, reader), maxlen=0)


def _plain(look: "watching.Look") -> dict[str, Any]:
    return {"step": look.step, **look.to_metrics(), "signs": [asdict(sign) for sign in look.signs]}
