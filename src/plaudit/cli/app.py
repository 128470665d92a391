"""Put the commands together, and turn errors into one line and an exit code.

Exit codes: 0 done; 1 done, but something did not pass; 2 the input or the command line was wrong; 70 a bug in plaudit;
130 stopped by Ctrl-C. A traceback is shown only with `--debug`.
"""

import sys

import typer
from typer.exceptions import TyperException

from plaudit.cli.console import print_message
from plaudit.cli.rewards import catalogue, check, test
from plaudit.cli.scoring import explain, score
from plaudit.cli.system import doctor, run_code, verify, version
from plaudit.cli.training import train
from plaudit.errors import PlauditError

__all__ = ["app", "main"]

BAD_INPUT, BUG, INTERRUPTED = 2, 70, 130

app = typer.Typer(
    name="plaudit",
    help="Write reward functions for RL of language models once; test them, score with them, train with them.",
    epilog="Any command takes --debug, which shows where an error came from.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("score")(score.score)
app.command("explain")(explain.explain)
app.command("test")(test.test_command)
app.command("check")(check.check)
app.command("train")(train.train)
app.command("verify")(verify.verify)
app.command("run-code")(run_code.run_code)
app.command("doctor")(doctor.doctor)
app.add_typer(catalogue.app, name="rewards")
app.command("version")(version.version)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with one of the codes above."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    sys.exit(_run([argument for argument in given if argument != "--debug"], debug=debug))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        return int(app(arguments, standalone_mode=False, prog_name="plaudit") or 0)
    except TyperException as error:
        print_message(f"error: {error.format_message()} (`plaudit --help` shows how to call it)")
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        print_message("stopped")
        return INTERRUPTED
    except SystemExit as error:
        # Whoever read our output has seen enough: typer makes an exit with 1 of that, but it is no failure.
        return 0 if isinstance(error.__context__, BrokenPipeError) else int(error.code or 0)
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
