"""Make the command with which another trainer runs a config: `plan_launch(config, "verl", folder)`.

Arguments are checked against the trainer's own definitions before anything is written down as a command.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.launching.command_builder import CommandBuilder, Launch, Machines
from plaudit.launching.definitions import Definitions, find_definitions
from plaudit.launching.launch_files import write_launch_files
from plaudit.training.config.schema import RunConfig

__all__ = ["TRAINERS", "find_trainer", "plan_launch", "read_extra"]

TRAINERS = {
    "openrlhf": "plaudit.launching.to_openrlhf",
    "verl": "plaudit.launching.to_verl",
    "trl": "plaudit.launching.to_trl",
}
"""Every trainer and the module that writes a config for it."""
GPUS = 8


def plan_launch(
    config: RunConfig,
    trainer: str,
    folder: str | Path,
    *,
    machines: Machines | None = None,
    version: str | None = None,
    extra: Sequence[str] = (),
) -> Launch:
    """The command for a config, with the reward file and the data that it needs written to `folder`.

    `version` is that of the trainer, where it is not the one installed; `extra` are arguments of its own that are added
    or take the place of ours.
    """
    module = find_trainer(trainer)
    definitions = find_definitions(trainer, version)
    given = read_extra(extra, definitions)
    definitions.check(given)
    machines = machines or Machines(1 if trainer == "trl" and config.model.device == "cpu" else GPUS)
    builder = CommandBuilder(config, write_launch_files(config, trainer, Path(folder)), machines, definitions)
    module.build_command(builder)
    builder.override(given)
    definitions.check(builder.arguments)
    return Launch(
        trainer=trainer,
        version=definitions.version,
        origin=definitions.origin,
        words=[_program(trainer, module, builder), *_words(trainer, builder.arguments)],
        unmapped=builder.unmapped(),
        differences=builder.differences,
        files=list(builder.launch_files.written),
    )


def find_trainer(name: str) -> ModuleType:
    """What writes configs for a trainer."""
    if name not in TRAINERS:
        raise InvalidSettings(f"no trainer {name!r}{did_you_mean(name, TRAINERS)} (there are {', '.join(TRAINERS)})")
    return importlib.import_module(TRAINERS[name])


def read_extra(extra: Sequence[str], definitions: Definitions) -> dict[str, list[str]]:
    """Arguments of a trainer's own, as `--name value` or, for verl, `name=value`."""
    found: dict[str, list[str]] = {}
    words = list(extra)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            name, equals, value = word.partition("=")
            if not equals:
                raise InvalidSettings(f"{word!r} belongs to no argument of {definitions.trainer}")
            found[name.lstrip("+")] = [value]
            continue
        name, equals, value = word.removeprefix("--").partition("=")
        found[name] = [value] if equals else _values_of(name, words, definitions)
    return found


def _values_of(name: str, words: list[str], definitions: Definitions) -> list[str]:
    arity = definitions.known[name].arity if name in definitions.known else "*"
    values: list[str] = []
    while words and not words[0].startswith("--") and (isinstance(arity, str) or len(values) < arity):
        values.append(words.pop(0))
    return values


def _program(trainer: str, module: ModuleType, builder: CommandBuilder) -> list[str]:
    if trainer != "trl":
        return list(module.PROGRAM)
    machines = builder.machines  # the reward is imported by name, and the processes are accelerate's
    processes = ["--num_processes", str(machines.processes)] if machines.processes > 1 else []
    nodes = ["--num_machines", str(machines.nodes)] if machines.nodes > 1 else []
    return ["env", f"PYTHONPATH={builder.launch_files.folder}", *module.PROGRAM, *processes, *nodes]


def _words(trainer: str, arguments: Mapping[str, Sequence[str]]) -> list[list[str]]:
    if trainer == "verl":
        return [[f"{name}={value}"] for name, (value,) in arguments.items()]
    return [[f"--{name}", *values] for name, values in arguments.items()]
