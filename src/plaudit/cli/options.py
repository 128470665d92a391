"""Arguments and options that several commands share, and what they stand for."""

import enum
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from plaudit.cli.console import print_message
from plaudit.contract.function import RewardFunction
from plaudit.contract.ground_truth import check_ground_truth
from plaudit.engine import Scorer
from plaudit.engine.batch_dependence import TOGETHER, undeclared_batch_functions, warn_of_batch_dependence
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.loading import Loaded, resolve
from plaudit.rollouts import RolloutsReader, read_rollouts
from plaudit.trajectory import Trajectory

Reward: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="REWARD",
        help="file.py:name, pkg.mod:name, a built-in such as 'length(target=200)', an expression such as "
        "'0.7 * check_answer + 0.3 * format', or a .yaml file.",
    ),
]
Dialect: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--dialect", metavar="SYSTEM", help="The system REWARD was written for, e.g. openrlhf or trl:messages."
    ),
]
Scope: TypeAlias = Annotated[
    str | None,
    typer.Option("--scope", help="What a function of batches sees together: sample (any batch), group or batch."),
]
MaxBatch: TypeAlias = Annotated[
    int | None, typer.Option("--max-batch", min=1, help="The most samples that a call of a function of batches gets.")
]
ChatTemplate: TypeAlias = Annotated[
    str | None,
    typer.Option("--chat-template", metavar="NAME", help="Chat prompts as text: chatml, llama3, gemma, a tokenizer."),
]
Rollouts: TypeAlias = Annotated[
    str, typer.Argument(metavar="ROLLOUTS", help="JSON lines (.jsonl, .gz), .parquet, .csv, or - for standard input.")
]
Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--columns", "-c", metavar="FIELD=COLUMN", help="Which column holds a field, e.g. response=text."),
]
SkipBad: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Skip lines that cannot be read, and print how many.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes, only results.")]
Overwrite: TypeAlias = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]
Limit: TypeAlias = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N samples.")]
Where: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="CONDITION", help="Only samples that meet it, e.g. level>=3; repeatable."),
]
By: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="COLUMN", help="Break the rewards down by a column; repeatable."),
]
Against: TypeAlias = Annotated[
    str | None,
    typer.Option("--against", metavar="COLUMN", help="Compare with labels that say right or wrong."),
]
FailUnder: TypeAlias = Annotated[
    float | None, typer.Option("--fail-under", metavar="MEAN", help="Exit with 1 when the mean reward is below it.")
]
MaxUnscored: TypeAlias = Annotated[
    float,
    typer.Option(
        "--max-unscored", metavar="SHARE", min=0, max=1, help="Exit with 3 if more of the samples were not scored."
    ),
]


Model: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN|MODEL|URL", help="A run folder, a model folder or name, or an OpenAI-compatible server."
    ),
]
ServedModel: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Which model of a server is meant.")
]
KeyVariable: TypeAlias = Annotated[
    str | None,
    typer.Option("--api-key-env", metavar="NAME", help="The environment variable that holds the key of a server."),
]
Temperature: TypeAlias = Annotated[
    float, typer.Option("--temperature", "-t", min=0.0, help="Of sampling; 0 gives the likeliest response.")
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="The same seed draws the same samples.")]
Port: TypeAlias = Annotated[
    int, typer.Option("--port", "-p", min=0, max=65535, help="The port to listen on; 0 takes a free one.")
]
PrintConfig: TypeAlias = Annotated[
    bool, typer.Option("--print-config", help="Print the config with the meaning of every key, and stop.")
]
Scored: TypeAlias = Annotated[
    str, typer.Argument(metavar="SCORED", help="A file that `plaudit score` or a training run wrote; - for stdin.")
]


class Backend(enum.StrEnum):
    """Where samples are scored."""

    PROCESSES = "processes"
    INLINE = "inline"
    RAY = "ray"


ChosenBackend: TypeAlias = Annotated[
    Backend,
    typer.Option("--backend", help="Where to score: on worker processes, in this process (no deadlines), or on Ray."),
]
Workers: TypeAlias = Annotated[
    int | None, typer.Option("--workers", "-w", min=1, help="How many workers; one per core by default.")
]
Deadline: TypeAlias = Annotated[
    float, typer.Option("--deadline", metavar="SECONDS", help="Time limit per sample; 0 = no limit.")
]
Address: TypeAlias = Annotated[
    str | None, typer.Option("--address", help="The Ray cluster to use: auto, host:port or ray://host:port.")
]
RayJob: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Run as a job on this Ray cluster, and follow its log: auto, host:port or http://host:8265.",
    ),
]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FILE",
        help="Store scores in FILE and reuse them, unless the reward declares deterministic=False.",
    ),
]
DEFAULT_DEADLINE_S = 10.0


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Where and under which limits to score."""

    backend: Backend
    workers: int | None = None
    deadline_s: float = DEFAULT_DEADLINE_S
    cache: Path | None = None
    address: str | None = None

    @property
    def effective_deadline_s(self) -> float | None:
        """The deadline, None where there is none: inline scoring cannot stop a reward."""
        return None if self.backend is Backend.INLINE or self.deadline_s == 0 else self.deadline_s

    def scorer(self, reward: Loaded) -> Scorer:
        """The scorer that the options ask for."""
        return Scorer(
            reward,
            backend=self.backend.value,
            workers=self.workers,
            deadline_s=self.effective_deadline_s,
            cache=self.cache,
            address=self.address,
        )


def load_reward(spec: str, *, quiet: bool = False) -> Loaded:
    """The reward a spec stands for; says how it was understood where that is not plain from the spec."""
    loaded = resolve(spec)
    if not quiet and not loaded.convention.startswith("plaudit"):
        print_message(f"loaded {loaded.origin} as {loaded.convention}")
    return loaded


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


def report_input(reader: RolloutsReader) -> None:
    """Say what was left out of the input, so that nothing is lost in silence."""
    if reader.bad:
        first = reader.bad[0]
        lines = "1 line" if reader.bad_count == 1 else f"{reader.bad_count:,} lines"
        print_message(f"left out {lines} that cannot be read; the first is {reader.name}:{first.line}: {first.reason}")
    if reader.note:
        print_message(reader.note)


def check_output(*files: str | Path | None, overwrite: bool = True) -> None:
    """Raise, before any work is done, for a file that cannot be written or must not be replaced."""
    for file in (Path(each) for each in files if each is not None and str(each) != "-"):
        if file.is_dir():
            raise InvalidSettings(f"cannot write {file}: it is a folder; name a file")
        if not file.parent.is_dir():
            raise InvalidSettings(f"cannot write {file}: there is no folder {file.parent}; create it first")
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
