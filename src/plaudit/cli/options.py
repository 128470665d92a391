"""Arguments and options that several commands share, and what they mean together.

A command takes groups of options as parameters; `app` makes a parameter of each of their fields.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from rich.console import RenderableType
from typer import Argument, Option

from plaudit.cli.app import OptionGroup
from plaudit.cli.console import Advance, print_json, print_message, print_result, print_text, show_progress
from plaudit.contract.function import RewardFunction
from plaudit.contract.ground_truth import check_ground_truth
from plaudit.engine import Scorer
from plaudit.engine.batch_dependence import TOGETHER, undeclared_batch_functions, warn_of_batch_dependence
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.loading import Loaded, resolve, spec_using
from plaudit.report.selection import Condition, Selection
from plaudit.rollouts import Rollout, RolloutsReader, read_rollouts
from plaudit.trajectory import Trajectory

REWARD = (
    "file.py:name, pkg.mod:name, a built-in such as 'length(target=200)', an expression such as "
    "'0.8 * math + 0.2 * format', or a .yaml file."
)
Reward: TypeAlias = Annotated[str, Argument(metavar="REWARD", help=REWARD)]
Rollouts: TypeAlias = Annotated[
    str, Argument(metavar="ROLLOUTS", help="JSON lines (.jsonl, .gz), .parquet, .csv, or - for standard input.")
]
MoreRollouts: TypeAlias = Annotated[
    str | None, Argument(metavar="[ROLLOUTS]", help="Samples of your own, tried in addition to the built-in ones.")
]
Scored: TypeAlias = Annotated[
    str, Argument(metavar="SCORED", help="A file that `plaudit score` or a training run wrote; - for stdin.")
]
Folder: TypeAlias = Annotated[Path, Argument(metavar="[FOLDER]", help="The folder; by default the current one.")]
Model: TypeAlias = Annotated[
    str, Argument(metavar="RUN|MODEL|URL", help="A run folder, a model folder or name, or an OpenAI-compatible server.")
]
Columns: TypeAlias = Annotated[
    list[str] | None,
    Option("--columns", "-c", metavar="FIELD=COLUMN", help="The column that holds a field, e.g. response=text."),
]
SkipBad: TypeAlias = Annotated[bool, Option("--skip-bad", help="Skip lines that cannot be read, and print how many.")]
Overwrite: TypeAlias = Annotated[bool, Option("--overwrite", help="Replace existing files.")]
Limit: TypeAlias = Annotated[int | None, Option("--limit", min=1, help="Only the first N samples.")]
Against: TypeAlias = Annotated[
    str | None, Option("--against", metavar="COLUMN", help="Compare with labels that say right or wrong.")
]
Threshold: TypeAlias = Annotated[float, Option("--threshold", help="The least score, or reward, of a right sample.")]
Temperature: TypeAlias = Annotated[
    float, Option("--temperature", "-t", min=0.0, help="Sampling temperature; 0 = the likeliest response.")
]
MaxNewTokens: TypeAlias = Annotated[
    int | None, Option("--max-new-tokens", min=1, help="The most tokens of a response; by default as in training.")
]
Seed: TypeAlias = Annotated[int, Option("--seed", help="The same seed draws the same samples.")]
Port: TypeAlias = Annotated[int, Option("--port", "-p", min=0, max=65535, help="The port to listen on; 0: a free one.")]
PrintConfig: TypeAlias = Annotated[
    bool, Option("--print-config", help="Print the config with the meaning of every key, and stop.")
]
RayJob: TypeAlias = Annotated[
    str | None,
    Option(
        "--ray", metavar="ADDRESS", help="Run as a job there, and follow its log: auto, host:port, http://host:8265."
    ),
]
Workers: TypeAlias = Annotated[
    int | None, Option("--workers", "-w", min=1, help="Worker processes; one per core by default.")
]
DEFAULT_DEADLINE_S = 10.0
Deadline: TypeAlias = Annotated[
    float, Option("--deadline", metavar="SECONDS", help="Time limit per sample; 0 = no limit.")
]
Address: TypeAlias = Annotated[
    str | None, Option("--address", help="The Ray cluster to use: auto, host:port or ray://host:port.")
]
Cache: TypeAlias = Annotated[
    Path | None,
    Option("--cache", metavar="FILE", help="Store scores here and reuse them; not if deterministic=False is declared."),
]


def out_file(help: str) -> Any:
    """The option for the file that a command writes."""
    return Option("--out", "-o", metavar="FILE", help=help)


def out_folder(help: str) -> Any:
    """The option for the folder that a command writes."""
    return Option("--out", "-o", metavar="FOLDER", help=help)


def file_option(name: str, help: str) -> Any:
    """An option for a further file."""
    return Option(name, metavar="FILE", help=help)


def count(help: str, *, least: int = 1) -> Any:
    """The option for how many of something there are."""
    return Option("--count", "-n", min=least, help=help)


class Output(OptionGroup):
    """What goes to standard output is the result, as tables or as JSON; what `quiet` hides is everything else."""

    json: Annotated[bool, Option("--json", help="Print the result as JSON.")] = False
    quiet: Annotated[bool, Option("--quiet", "-q", help="No progress and no notes, only results.")] = False

    def show(self, plain: Any, *lines: RenderableType) -> None:
        """Print a result: plain data with --json, else the lines."""
        if self.json:
            print_json(plain)
        else:
            print_result(*lines)

    def show_text(self, plain: Any, text: str) -> None:
        """The same for a text that is printed unchanged, to be copied or piped."""
        if self.json:
            print_json(plain)
        else:
            print_text(text)

    def note(self, *messages: str) -> None:
        """Print messages about the run, unless --quiet hides them."""
        for message in () if self.quiet else messages:
            print_message(message)

    def note_input(self, reader: RolloutsReader) -> None:
        """Print what was left out of the input."""
        if reader.bad:
            first = reader.bad[0]
            lines = "1 line" if reader.bad_count == 1 else f"{reader.bad_count:,} lines"
            self.note(f"left out {lines} that cannot be read; the first is {reader.name}:{first.line}: {first.reason}")
        if reader.note:
            self.note(reader.note)

    def progress(self, what: str, total: int | None, *, done: int = 0) -> AbstractContextManager[Advance]:
        """A bar that shows progress while a block runs."""
        return show_progress(what, total, done=done, quiet=self.quiet)

    def load(self, spec: str) -> Loaded:
        """The reward of a spec; prints a note on the interpretation where the spec is ambiguous."""
        loaded = resolve(spec)
        if not loaded.convention.startswith("plaudit"):
            self.note(f"loaded {loaded.origin} as {loaded.convention}")
        return loaded


class Reading(OptionGroup):
    """The options for reading REWARD, for facts that its code does not declare."""

    dialect: Annotated[
        str | None,
        Option("--dialect", metavar="SYSTEM", help="The system REWARD was written for, e.g. openrlhf or trl:messages."),
    ] = None
    scope: Annotated[
        str | None,
        Option("--scope", help="What a batch function gets in one call: sample (any samples), group or batch."),
    ] = None
    max_batch: Annotated[
        int | None, Option("--max-batch", min=1, help="The most samples that a batch function gets in one call.")
    ] = None
    chat_template: Annotated[
        str | None,
        Option(
            "--chat-template", metavar="NAME", help="How chat prompts become text: chatml, llama3, gemma, a tokenizer."
        ),
    ] = None

    def spec(self, reward: str) -> str:
        """The spec of a reward with these options in it."""
        return spec_using(
            reward, dialect=self.dialect, scope=self.scope, max_batch=self.max_batch, chat_template=self.chat_template
        )


class Rows(OptionGroup):
    """Which columns of a file hold a sample, and how many samples are read."""

    columns: Columns = None
    limit: Limit = None

    def open(self, rollouts: str, **settings: bool) -> RolloutsReader:
        """The rollouts file that was named; `limit` is left to the caller."""
        return open_rollouts(rollouts, self.columns, **settings)

    def read(self, rollouts: str, **settings: bool) -> list[Rollout]:
        """The first rollouts of a file."""
        return list(islice(self.open(rollouts, **settings), self.limit))

    def read_samples(self, rollouts: str | None, **settings: bool) -> list[Trajectory]:
        """The first samples of a rollouts file; none without a file."""
        return [] if rollouts is None else [each.trajectory for each in self.read(rollouts, **settings)]


class Selected(Rows):
    """Which samples of a file are read."""

    where: Annotated[
        list[str] | None,
        Option("--where", metavar="CONDITION", help="Only samples that meet the condition, e.g. level>=3; repeatable."),
    ] = None
    skip_bad: SkipBad = False

    def open(self, rollouts: str, **settings: bool) -> RolloutsReader:
        """The rollouts file that was named."""
        return open_rollouts(rollouts, self.columns, **{"skip_bad": self.skip_bad, **settings})

    def select(self, rollouts: Iterable[Rollout]) -> Iterator[Rollout]:
        """The rollouts that the options select; raises RolloutsError if there are none."""
        return Selection([Condition.parse(text) for text in self.where or ()], self.limit).select(rollouts)


class ServedModel(OptionGroup):
    """Which model of a server is meant, and its key."""

    served: Annotated[str | None, Option("--model", metavar="NAME", help="Which model of a server is meant.")] = None
    api_key_env: Annotated[
        str | None,
        Option("--api-key-env", metavar="NAME", help="The environment variable that holds the key of a server."),
    ] = None


class Processes(OptionGroup):
    """The worker processes that score, and the deadline of a sample."""

    deadline: Deadline = DEFAULT_DEADLINE_S
    workers: Workers = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a scorer."""
        return {"backend": "processes", "deadline_s": self.deadline or None, "workers": self.workers}


class SummaryOptions(OptionGroup):
    """The breakdowns of a summary, and the least mean reward that it requires."""

    by: Annotated[
        list[str] | None, Option("--by", metavar="COLUMN", help="Break the rewards down by a column; repeatable.")
    ] = None
    against: Against = None
    fail_under: Annotated[
        float | None, Option("--fail-under", metavar="MEAN", help="Exit with 1 when the mean reward is below it.")
    ] = None


class Engine(Processes):
    """Where and under which limits samples are scored."""

    backend: Annotated[
        Literal["processes", "inline", "ray"],
        Option("--backend", help="Where to score: on worker processes, in this process (no deadlines), or on Ray."),
    ] = "processes"
    cache: Cache = None
    address: Address = None

    @property
    def deadline_s(self) -> float | None:
        """The deadline, None where there is none: inline scoring cannot stop a reward."""
        return None if self.backend == "inline" or self.deadline == 0 else self.deadline

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a scorer."""
        return {
            "backend": self.backend, "workers": self.workers, "deadline_s": self.deadline_s,
            "cache": self.cache, "address": self.address,
        }  # fmt: skip

    def scorer(self, reward: Loaded) -> Scorer:
        """The scorer that the options describe."""
        return Scorer(reward, **self.settings)


def open_rollouts(
    rollouts: str, columns: list[str] | None, *, skip_bad: bool = False, needs_response: bool = True
) -> RolloutsReader:
    """The rollouts file that was named."""
    source = sys.stdin.buffer if rollouts == "-" else Path(rollouts)
    mapping = column_mapping(columns)
    return read_rollouts(source, columns=mapping, skip_bad=skip_bad, needs_response=needs_response)


SCOPES = "--scope batch (all samples), --scope group (those of a prompt), or --max-batch N"


def check_truth(reward: RewardFunction, samples: Iterable[Trajectory]) -> Iterator[Trajectory]:
    """All of the samples; stops before anything is scored if the reward needs a ground truth and they have none."""
    return check_ground_truth(reward, samples, "-c ground_truth=COLUMN")


def check_first_samples(scorer: Scorer, samples: Iterable[Trajectory]) -> Iterator[Trajectory]:
    """All of the samples; the first ones are checked for what the reward needs, before anything is scored.

    Stops if there is no ground truth for a reward that needs one. Prints which functions give a sample another reward,
    or none, when it is scored alone.
    """
    remaining = check_truth(scorer.reward, samples)
    few = list(islice(remaining, TOGETHER)) if undeclared_batch_functions(scorer.reward) else []
    warning = warn_of_batch_dependence(scorer, few, SCOPES)
    if warning is not None:
        print_message(f"warning: {warning}")
    return chain(few, remaining)


def split_config(words: Iterable[str]) -> tuple[str | None, list[str], list[str]]:
    """The config file, the overrides `key=value` and the other words of a command line."""
    overrides = [word for word in words if "=" in word and not Path(word).exists()]
    named = [word for word in words if word not in overrides]
    files = [word for word in named if word.endswith((".yaml", ".yml"))]
    if len(files) > 1:
        raise InvalidSettings(f"one config file at most, got {' and '.join(files)}; overrides are key=value")
    return files[0] if files else None, overrides, [word for word in named if word not in files]


def check_output(*files: str | Path | None, overwrite: bool = True) -> None:
    """Raise, before any work is done, for a file that cannot be written or must not be replaced."""
    for file in (Path(each) for each in files if each is not None and str(each) != "-"):
        if file.is_dir():
            raise InvalidSettings(f"cannot write {file}: it is a folder; name a file")
        if not file.parent.is_dir():
            raise InvalidSettings(f"cannot write {file}: there is no folder {file.parent}; create it first")
        if not os.access(file if file.exists() else file.parent, os.W_OK):
            raise InvalidSettings(f"cannot write {file}: no permission; name a file that you may write")
        if file.exists() and not overwrite:
            raise InvalidSettings(f"{file} exists; --overwrite replaces it")


def column_mapping(columns: list[str] | None) -> dict[str, str]:
    """`["response=text"]` as a mapping of fields to columns."""
    return dict(_parse_column(column) for column in columns or [])


def _parse_column(column: str) -> tuple[str, str]:
    field, equals, name = column.partition("=")
    if not (field and equals and name):
        raise RolloutsError(f"--columns takes FIELD=COLUMN, such as response=text; got {column!r}")
    return field, name
