"""Put the commands together, and turn errors into one line and an exit code.

Exit codes: 0 done; 1 done, but something did not pass; 2 the input or the command line was wrong; 3 too many samples
were not scored; 4 an audit had no basis for attacks; 70 a bug in plaudit; 130 stopped by Ctrl-C. A traceback is shown
only with `--debug`.
"""

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.exceptions import TyperException

from plaudit.cli.console import print_message, print_warnings, reserve_stdout
from plaudit.cli.system.version import version
from plaudit.errors import PlauditError

__all__ = ["main"]

DONE, BAD_INPUT, BUG, INTERRUPTED = 0, 2, 70, 130

ABOUT = "Write reward functions for RL of language models once; test them, score with them, train with them."
COMMANDS = {
    "init": "rewards.init:init",
    "score": "scoring.score:score",
    "summary": "scoring.summary:summary",
    "explain": "scoring.explain:explain",
    "report": "reporting.report:report",
    "view": "reporting.view:view",
    "watch": "reporting.watch:watch",
    "diff": "scoring.diff:diff",
    "test": "rewards.test:test_command",
    "check": "rewards.check:check",
    "audit": "rewards.audit:audit",
    "rewards": "rewards.catalog:rewards",
    "export": "rewards.export:export",
    "train": "training.train:train",
    "pairs": "training.pairs:pairs",
    "train-reward-model": "training.reward_model:train_reward_model",
    "launch": "training.launch:launch",
    "tasks": "training.tasks:tasks",
    "eval": "training.evaluate:evaluate",
    "sample": "training.sample:sample",
    "episode": "training.episode:episode",
    "merge": "training.merge:merge",
    "serve": "system.serve:serve",
    "run": "system.run:run",
    "verify": "system.verify:verify",
    "run-code": "system.run_code:run_code",
    "doctor": "system.doctor:doctor",
    "compat": "system.compat:compat",
    "version": "system.version:version",
}
"""Every command and the function that runs it."""
TAKES_FOREIGN_FLAGS = {"train", "launch"}
"""Commands that are given options they do not declare, and read or refuse them themselves."""
RUNS_SCRIPT = "run"
"""The command whose arguments after the first belong to a script, as does standard output."""


def _build(arguments: Sequence[str]) -> typer.Typer:
    """The command line with the command that is asked for, or with all of them, so that no other is imported."""
    app = typer.Typer(
        name="plaudit",
        help=ABOUT,
        epilog="Any command takes --debug, which shows where an error came from.",
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[name].partition(":")
        command = getattr(importlib.import_module(f"plaudit.cli.{module}"), function)
        if name == RUNS_SCRIPT:
            app.command(name, context_settings={"allow_interspersed_args": False})(command)
        else:
            settings = {"ignore_unknown_options": name in TAKES_FOREIGN_FLAGS}
            app.command(name, context_settings=settings)(reserve_stdout()(command))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None: ...


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with one of the codes above."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # an encoding that lacks a character is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    own = given[:1] if given[:1] == [RUNS_SCRIPT] else given
    debug = "--debug" in own
    sys.exit(_run([each for each in own if each != "--debug"] + given[len(own) :], debug=debug))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        with print_warnings():
            return int(_build(arguments)(arguments, standalone_mode=False, prog_name="plaudit") or DONE)
    except TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        command = context.command_path if context else "plaudit"
        print_message(f"error: {error.format_message()} (`{command} --help` shows how to call it)")
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        print_message("stopped")
        return INTERRUPTED
    except SystemExit as error:
        # Whoever read our output has seen enough: typer makes an exit with 1 of that, but it is no failure.
        return DONE if isinstance(error.__context__, BrokenPipeError) else _exit_code(error)
    except (PlauditError, OSError) as error:
        if debug:
            raise
        print_message(f"error: {_describe(error)}")
        return BAD_INPUT
    except Exception as error:
        if debug:
            raise
        print_message(f"a bug in plaudit: {type(error).__name__}: {error} (run it again with --debug to see where)")
        return BUG


def _describe(error: PlauditError | OSError) -> str:
    """The error in a sentence; those of the system come with a number that tells nobody anything."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return int(error.code or DONE)
    print_message(f"error: {error.code}")
    return BAD_INPUT
