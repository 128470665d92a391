"""`plaudit init`: a folder to start from, with a reward, its cases, a config and a test that pass as they are."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from plaudit.cli import options
from plaudit.cli.console import print_result
from plaudit.errors import RolloutsError

__all__ = ["init"]

TEMPLATES = ("reward.py", "reward.cases.yaml", "train.yaml", "test_reward.py", "rollouts.jsonl")


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where to write; by default the current folder.")
    ] = Path(),
    overwrite: options.Overwrite = False,
) -> None:
    """Write a reward, a table of cases, a few rollouts, a training config and a test to start from."""
    if folder.exists() and not folder.is_dir():
        raise RolloutsError(f"{folder} is a file; name a folder")
    there = [name for name in TEMPLATES if (folder / name).exists()]
    if there and not overwrite:
        raise RolloutsError(f"{', '.join(there)} exist already in {folder}; name another folder, or give --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    templates = files("plaudit.examples") / "project"
    for name in TEMPLATES:
        (folder / name).write_text((templates / f"{name}.template").read_text(encoding="utf-8"), encoding="utf-8")
    move = "" if folder == Path() else f"  cd {folder}\n"
    print_result(
        f"wrote {', '.join(TEMPLATES)}; to begin with:\n{move}"
        "  plaudit test reward.cases.yaml                # the cases pass\n"
        "  plaudit check reward.py rollouts.jsonl        # it keeps the contract\n"
        "  plaudit score reward.py rollouts.jsonl        # what it gives\n"
        "  plaudit explain reward.py rollouts.jsonl      # and why\n"
        "  pytest                                        # the same in a test suite\n"
        "  plaudit train train.yaml                      # train a small model with it"
    )
