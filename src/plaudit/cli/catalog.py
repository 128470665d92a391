"""Write and load rewards: `plaudit init`, `rewards`, `export` and `compat`."""

import inspect
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import msgspec
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text
from typer import Argument, Option

from plaudit.cli import options
from plaudit.cli.console import print_result
from plaudit.contract.combination import Combination
from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects.dialect import ForeignReward
from plaudit.engine.caching.identity import NotIdentified, reward_contents
from plaudit.errors import InvalidSettings, RewardNotLoaded, RolloutsError
from plaudit.exports import write_shim
from plaudit.exports.compat import compat_rows
from plaudit.exports.exporting import EXPORTS
from plaudit.loading import available, listing_of, resolve
from plaudit.loading.building import is_reward_class, signature_of
from plaudit.loading.catalog import Listing, find_named
from plaudit.report.formatting import bare_table
from plaudit.report.terminal.sample_view import component_weights
from plaudit.verify.card import Card, kinds, load_card

MAX_DEFAULT = 40


def rewards(
    output: options.Output,
    spec: Annotated[
        str | None,
        Argument(metavar="REWARD", help="A name, a file, a .yaml file or an expression; all names without it."),
    ] = None,
) -> None:
    """List the rewards that can be named without a file, or show one: what it measures, its parameters and bounds."""
    if spec is None:
        listings = list(available().values())
        output.show(
            [asdict(listing) for listing in listings],
            _list(listings),
            "\n`plaudit rewards NAME` says more about one of them.",
        )
        return
    description = _describe_named(spec) if find_named(spec) is not None else _describe_loaded(spec)
    output.show({**description.to_dict(), **(_identity(spec) if output.json else {})}, *description.render())


def _identity(spec: str) -> dict[str, Any]:
    """Name and content key of the reward that a spec loads, with what the key consists of."""
    try:
        reward = resolve(spec).reward
        return {"name": reward.name, "contents": asdict(reward_contents(reward))}
    except (RewardNotLoaded, NotIdentified):  # a class that needs arguments; code that has no file
        return {}


def _list(listings: Iterable[Listing]) -> Table:
    table = bare_table(Column("name", style="bold"), "what it gives", Column("from", no_wrap=True))
    for group, members in groupby(listings, key=lambda listing: listing.group):
        table.add_row(Text(f"\n{group}", style="italic"))
        for listing in members:
            table.add_row(listing.name, Text(listing.summary), listing.origin)
    return table


@dataclass(frozen=True, slots=True)
class _Description:
    """The known facts about a reward."""

    title: str
    doc: str
    origin: str
    parameters: list[dict[str, str]] = field(default_factory=list)
    """Name, declaration and documentation of each."""
    parts: dict[str, str] = field(default_factory=dict)
    """The rewards that it is made of, each with its weight where it has one."""
    promises: dict[str, Any] = field(default_factory=dict)
    card: Card | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {name: getattr(self, name) for name in ("title", "doc", "origin", "parts", "promises", "parameters")}
        card = {} if self.card is None else {"card": msgspec.to_builtins(self.card)}
        return {**plain, **card}

    def render(self) -> list[RenderableType]:
        """Lines and tables for the terminal."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in self.doc.split("\n\n") if paragraph.strip()]
        shown: list[RenderableType] = [Text(self.title, style="bold"), *map(Text, paragraphs)]
        tables = {"parameters": {each["declaration"]: each["doc"] for each in self.parameters}, "made of": self.parts}
        for title, rows in tables.items():
            if rows:
                shown.append(bare_table(f"\n{title}", "", rows=((f"  {name}", text) for name, text in rows.items())))
        for title, lines in self.card.sections().items() if self.card else ():
            if lines:
                shown += [Text(f"\n{title}"), *(Text(f"  {line}") for line in lines)]
        facts = [f"{name} {value}" for name, value in self.promises.items() if value is not None]
        return [*shown, "", Text(", ".join([self.origin, *facts]), style="dim")]


def _describe_named(name: str) -> _Description:
    listing, target = listing_of(name), find_named(name)
    value = None if target is None else target.value
    parameters = _parameters(value, listing.doc) if is_reward_class(value) else []
    title = f"{name}({', '.join(each['name'] for each in parameters)})" if parameters else name
    card = load_card(name) if name in kinds() else None
    return _Description(title, listing.doc, listing.origin, parameters, promises=_promises(value), card=card)


def _describe_loaded(spec: str) -> _Description:
    loaded = resolve(spec)
    reward = loaded.reward
    documented = _documented(reward)
    doc = "" if isinstance(reward, Combination) else inspect.getdoc(documented) or ""
    origin = loaded.origin if loaded.convention == "plaudit" else f"{loaded.origin}, as {loaded.convention}"
    parameters = [] if isinstance(reward, Combination) else _parameters(documented, doc)
    return _Description(repr(reward), doc, origin, parameters, _parts(reward), _promises(reward))


def _documented(reward: RewardFunction) -> Any:
    """The object that the user wrote: a function, or the class of an object."""
    if isinstance(reward, FunctionReward):
        return reward.function
    written = reward.foreign if isinstance(reward, ForeignReward) else reward
    return written if inspect.isroutine(written) else type(written)


def _parameters(value: Any, doc: str) -> list[dict[str, str]]:
    """The parameters of a class, or the columns that a function takes."""
    sentences = re.split(r"(?<=[.;])\s+", " ".join(doc.split()))
    parameters = []
    for name, parameter in signature_of(value).parameters.items():
        about = next((sentence for sentence in sentences if f"`{name}`" in sentence), "")
        parameters.append({"name": name, "declaration": _declaration(parameter), "doc": about})
    return parameters


def _declaration(parameter: inspect.Parameter) -> str:
    """The source form of a parameter, without a type or a default that would fill the line."""
    if parameter.default is parameter.empty:
        return parameter.name
    default = repr(parameter.default)
    return f"{parameter.name} = {default if len(default) <= MAX_DEFAULT else type(parameter.default).__name__ + '(…)'}"


def _parts(reward: RewardFunction) -> dict[str, str]:
    """The parts of a combination by name; what only clips or names is looked through."""
    while isinstance(reward, Combination) and len(reward.parts) == 1:
        reward = reward.parts[0]
    if not isinstance(reward, Combination):
        return {}
    weights = component_weights(reward, 0)
    return {
        name: f"{weights[name]:g} * {part!r}" if name in weights else repr(part)
        for name, part in zip(reward.component_names, reward.parts, strict=True)
    }


def _promises(reward: Any) -> dict[str, Any]:
    bounds = getattr(reward, "bounds", None)
    return {
        "scope": getattr(reward, "scope", None),
        "bounds": f"{bounds[0]:g} to {bounds[1]:g}" if isinstance(bounds, tuple) else None,
        "": "not deterministic" if getattr(reward, "deterministic", None) is False else None,
    }


TEMPLATES = ("reward.py", "reward.cases.yaml", "train.yaml", "test_reward.py", "rollouts.jsonl")


def init(folder: options.Folder = Path(), overwrite: options.Overwrite = False) -> None:
    """Write a reward, a table of cases, a few rollouts, a training config and a test to start from."""
    if folder.exists() and not folder.is_dir():
        raise RolloutsError(f"{folder} is a file; name a folder")
    existing = [name for name in TEMPLATES if (folder / name).exists()]
    if existing and not overwrite:
        raise RolloutsError(
            f"{', '.join(existing)} exist already in {folder}; name another folder, or give --overwrite"
        )
    folder.mkdir(parents=True, exist_ok=True)
    templates = files("plaudit.examples") / "project"
    for name in TEMPLATES:
        (folder / name).write_text((templates / f"{name}.template").read_text(encoding="utf-8"), encoding="utf-8")
    move = "" if folder == Path() else f"  cd {folder}\n"
    print_result(
        f"wrote {', '.join(TEMPLATES)}; to begin with:\n{move}"
        "  plaudit test reward.cases.yaml                        # run the table of cases\n"
        "  plaudit check reward.py:quality rollouts.jsonl        # does it keep the contract of rewards?\n"
        "  plaudit audit reward.py:quality rollouts.jsonl        # does it pay for wrong responses?\n"
        "  plaudit score reward.py:quality rollouts.jsonl        # score the rollouts, show a summary\n"
        "  plaudit explain reward.py:quality rollouts.jsonl      # show samples with reasons\n"
        "  pytest                                                # the cases and the contract as tests\n"
        "  plaudit train train.yaml                              # train a small model with it"
    )


def export(
    reward: options.Reward,
    trainer: Annotated[
        str, Argument(metavar="TRAINER", help="trl, verl, openrlhf, slime, …; `plaudit compat` lists all.")
    ],
    out: Annotated[Path, options.out_file("Where to write it.")],
    reading: options.Reading,
    output: options.Output,
    on_unscored: Annotated[
        str | None, Option(help="What the trainer gets where there is no number: none, nan, mean, mask or raise.")
    ] = None,
    group_size: Annotated[int | None, Option(min=1, help="Samples per prompt, for a reward of groups.")] = None,
    deadline: Annotated[float | None, Option(metavar="SECONDS", help="Time limit per sample.")] = None,
    workers: options.Workers = None,
    columns: options.Columns = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a file from which TRAINER imports REWARD, and print how to use it."""
    if trainer not in EXPORTS and reward in EXPORTS:
        raise InvalidSettings(f"the reward comes first: plaudit export {trainer!r} {reward} -o {out}")
    options.check_output(out, overwrite=overwrite)
    if not out.stem.isidentifier() or out.suffix != ".py":
        name = f"{trainer.partition(':')[0]}_reward.py"
        raise InvalidSettings(f"{out.name} cannot be imported; call it for example {name}")
    shim = write_shim(
        reading.spec(reward), trainer, out, on_unscored=on_unscored, group_size=group_size, deadline_s=deadline,
        workers=workers, columns=options.column_mapping(columns) or None,
    )  # fmt: skip
    if not output.json:
        output.note(f"wrote {out}; to use it:")
    output.show_text({"file": str(shim.file), "usage": shim.usage}, f"{shim.usage}\n")


def compat(output: options.Output) -> None:
    """List the systems that rewards load from and export to, and what was tested with the real package."""
    rows = compat_rows()
    cells = ((row.system, row.version, row.date, row.imported, row.exported, row.groups, row.unscored) for row in rows)
    headers = (
        Column("system", no_wrap=True, min_width=13),
        "version",
        "date",
        "import",
        "export",
        "groups",
        "unscored",
    )
    table = bare_table(*headers, rows=([cell or "–" for cell in row] for row in cells))
    note = "\nchecks passed of those run; contract: called as documented, without the package"
    output.show([asdict(row) for row in rows], table, note)
