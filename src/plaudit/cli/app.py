"""Put the commands together, and turn errors into one line and an exit code.

Exit codes: 0 done; 1 done, but something did not pass; 2 the input or the command line was wrong; 3 too many samples
were not scored; 4 an audit had no basis for attacks; 70 a bug in plaudit; 130 stopped by Ctrl-C. A traceback is shown
only with `--debug`.
"""

import ast
import functools
import importlib
import inspect
import io
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, dataclass_transform

import typer
from typer.exceptions import TyperException

from plaudit.cli.console import print_message, print_result, print_warnings, reserve_stdout
from plaudit.errors import PlauditError
from plaudit.version import __version__

DONE, NOT_PASSED, BAD_INPUT, UNSCORED, NOT_ATTACKED, BUG, SIGNAL, INTERRUPTED = 0, 1, 2, 3, 4, 70, 128, 130
"""The exit codes; after SIGNAL is the number of the signal that ended a run."""

ABOUT = "Test, attack and score reward functions for RL of language models, and train models with them."
PANELS = {
    "Write and load rewards": {
        "init": "catalog:init",
        "rewards": "catalog:rewards",
        "export": "catalog:export",
        "compat": "catalog:compat",
        "run": "run:run",
    },
    "Test rewards": {
        "test": "testing:test_command",
        "check": "testing:check",
        "audit": "audit:audit",
        "mutate": "testing:mutate",
        "diff": "comparing:diff",
        "ci": "testing:ci",
        "lock": "testing:lock",
        "mcp": "serve:mcp",
        "labels": "comparing:labels",
        "judge": "judge:judge",
        "verify": "programs:verify",
        "run-code": "programs:run_code",
        "harbor": "harbor:harbor",
    },
    "Score rollouts and look at scores": {
        "score": "score:score",
        "summary": "results:summary",
        "explain": "results:explain",
        "report": "results:report",
        "view": "results:view",
    },
    "Train and evaluate": {
        "train": "training.train:train",
        "watch": "results:watch",
        "hack": "training.train:hack",
        "launch": "training.train:launch",
        "tasks": "training.models:tasks",
        "eval": "training.models:evaluate",
        "sample": "training.models:sample",
        "merge": "training.models:merge",
        "episode": "training.environments:episode",
        "world": "training.environments:world",
        "pairs": "training.reward_model:pairs",
        "train-reward-model": "training.reward_model:train_reward_model",
    },
    "Serve": {"serve": "serve:serve", "doctor": "programs:doctor"},
}
"""Every command and the function that runs it, as `--help` groups them."""
COMMANDS = {name: function for commands in PANELS.values() for name, function in commands.items()}
TAKES_FOREIGN_FLAGS = {"train", "launch"}
"""Commands that read options of other systems themselves."""
RUNS_SCRIPT = "run"
"""The command whose arguments after the first belong to a script."""
COMPLETION = "_PLAUDIT_COMPLETE"
"""The environment variable with which a shell requests completions."""
USES_STDOUT = {RUNS_SCRIPT, "mcp", "world serve"}
"""Commands that give standard output to a script or to a protocol."""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """A command of commands, by name."""

    help: str
    commands: Mapping[str, Callable[..., Any]]


@dataclass_transform(frozen_default=True)
class OptionGroup:
    """The fields of a subclass are options that belong together; each subclass is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


def _flatten(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the fields of its option groups as parameters of their own, for typer."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, OptionGroup):
            groups[parameter.name] = parameter.annotation
            parameters += _parameters_of(parameter)
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        made = {
            name: group(**{each.name: values.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **made)

    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # what typer reads
    return run


def _parameters_of(group: inspect.Parameter) -> list[inspect.Parameter]:
    """The options of a group; a default of the group sets the defaults of its options."""
    parameters = inspect.signature(group.annotation).parameters.values()
    if group.default is group.empty:
        return list(parameters)
    return [each.replace(default=getattr(group.default, each.name)) for each in parameters]


def _build(arguments: Sequence[str]) -> typer.Typer:
    """The command line. Only the requested command is imported; completion needs the options of all commands."""
    app = typer.Typer(
        name="plaudit",
        help=ABOUT,
        epilog="Any command takes --debug, which shows where an error came from.",
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    completes = COMPLETION in os.environ
    requested = any(word in COMMANDS for word in arguments[:1])
    for panel, commands in PANELS.items():
        for name in commands:
            if completes or name in arguments[:1]:
                _add_command(app, name, panel)
            else:
                app.command(name, help=None if requested else _summary(name), rich_help_panel=panel)(_not_imported)
    return app


def _add_command(app: typer.Typer, name: str, panel: str) -> None:
    module, _, function = COMMANDS[name].partition(":")
    command = getattr(importlib.import_module(f"plaudit.cli.{module}"), function)
    if isinstance(command, CommandGroup):
        group = typer.Typer(name=name, no_args_is_help=True, help=command.help)
        group.callback()(_no_options)  # a group stays one where it has one command
        for inner, run in command.commands.items():
            group.command(inner)(_prepare(run, f"{name} {inner}"))
        app.add_typer(group, name=name, rich_help_panel=panel)
        return
    settings = {
        "allow_interspersed_args": name != RUNS_SCRIPT,
        "ignore_unknown_options": name in TAKES_FOREIGN_FLAGS,
    }
    app.command(name, context_settings=settings, rich_help_panel=panel)(_prepare(command, name))


def _prepare(command: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A command as typer runs it."""
    return _flatten(command) if name in USES_STDOUT else reserve_stdout()(_flatten(command))


def _no_options() -> None: ...


def _not_imported() -> None:
    """Listed by `--help` only."""


def _summary(name: str) -> str:
    """The help of a command, read from its file without importing it: a docstring, or `help` of a `CommandGroup`."""
    module, _, function = COMMANDS[name].partition(":")
    path = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_bytes()).body:
        match node:
            case ast.FunctionDef(name=defined) if defined == function:
                return ast.get_docstring(node) or ""
            case ast.Assign(targets=[ast.Name(id=defined)], value=ast.Call(keywords=keywords)) if defined == function:
                return next(str(ast.literal_eval(each.value)) for each in keywords if each.arg == "help")
    raise LookupError(f"{path} does not define {function}")


def _print_version(wanted: bool) -> None:
    if wanted:
        print_result(f"plaudit {__version__} (Python {platform.python_version()}, {platform.system()})")
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None: ...


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with one of the codes above."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters that the encoding lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    ours = words[:1] if words[:1] == [RUNS_SCRIPT] else words
    without_debug = [word for word in ours if word != "--debug"]
    sys.exit(_run(without_debug + words[len(ours) :], debug=without_debug != ours))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        with print_warnings():
            return int(_build(arguments)(arguments, standalone_mode=False, prog_name="plaudit") or DONE)
    except TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        command = context.command_path if context else "plaudit"
        if message := error.format_message():  # empty where the help was shown, since there were no arguments
            print_message(f"error: {message} (`{command} --help` shows how to call it)")
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        print_message("stopped")
        return INTERRUPTED
    except SystemExit as error:
        # The reader closed the pipe: typer exits with 1, but this is no failure.
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
    """The error as a sentence, without the number of system errors."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return int(error.code or DONE)
    print_message(f"error: {error.code}")
    return BAD_INPUT
