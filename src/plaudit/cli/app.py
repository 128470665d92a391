"""Put the commands together, and turn errors into one line and an exit code.

Exit codes: 0 done; 1 done, but something did not pass; 2 the input or the command line was wrong; 70 a bug in plaudit;
130 stopped by Ctrl-C. A traceback is shown only with `--debug`.
"""

import io
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from typer.exceptions import TyperException

from plaudit.cli.console import print_message, reserve_stdout
from plaudit.cli.rewards import catalogue, check, init, test
from plaudit.cli.scoring import explain, score, summary
from plaudit.cli.system import doctor, run_code, verify, version
from plaudit.cli.training import evaluate, merge, sample, train
from plaudit.errors import PlauditError

__all__ = ["app", "main"]

DONE, BAD_INPUT, BUG, INTERRUPTED = 0, 2, 70, 130

app = typer.Typer(
    name="plaudit",
    help="Write reward functions for RL of language models once; test them, score with them, train with them.",
    epilog="Any command takes --debug, which shows where an error came from.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, Callable[..., int | None]] = {
    "init": init.init,
    "score": score.score,
    "summary": summary.summary,
    "explain": explain.explain,
    "test": test.test_command,
    "check": check.check,
    "train": train.train,
    "eval": evaluate.evaluate,
    "sample": sample.sample,
    "merge": merge.merge,
    "verify": verify.verify,
    "run-code": run_code.run_code,
    "doctor": doctor.doctor,
    "version": version.version,
}
for name, command in COMMANDS.items():
    app.command(name)(reserve_stdout()(command))
app.add_typer(catalogue.app, name="rewards")


def _print_version(wanted: bool) -> None:
    if wanted:
        version.version()
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Write reward functions for RL of language models once; test them, score with them, train with them."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with one of the codes above."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # an encoding that lacks a character is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    sys.exit(_run([argument for argument in given if argument != "--debug"], debug=debug))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        return int(app(arguments, standalone_mode=False, prog_name="plaudit") or DONE)
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
        print_message(f"error: {error}")
        return BAD_INPUT
    except Exception as error:
        if debug:
            raise
        print_message(f"a bug in plaudit: {type(error).__name__}: {error} (run it again with --debug to see where)")
        return BUG


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return int(error.code or DONE)
    print_message(f"error: {error.code}")
    return BAD_INPUT
