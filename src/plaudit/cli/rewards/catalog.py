"""`plaudit rewards`: list the rewards that have a name, or describe one."""

import inspect
import re
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Annotated, Any

import msgspec
import typer
from rich.console import RenderableType
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.contract.combination import Combination
from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects.dialect import ForeignReward
from plaudit.engine.caching.identity import NotIdentified, reward_contents
from plaudit.errors import RewardNotLoaded
from plaudit.loading import available, listing_of, resolve
from plaudit.loading.building import is_reward_class, signature_of
from plaudit.loading.catalog import find_named
from plaudit.report.formatting import bare_table
from plaudit.report.terminal.sample_view import component_weights
from plaudit.verify.card import Card, kinds, load_card

__all__ = ["rewards"]

MAX_DEFAULT = 40


def rewards(
    spec: Annotated[
        str | None,
        typer.Argument(metavar="REWARD", help="A name, a file, a .yaml file or an expression; all names without it."),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the rewards that can be named without a file, or show one: what it measures, its parameters and bounds."""
    if spec is None:
        _list(json)
        return
    description = _describe_named(spec) if find_named(spec) is not None else _describe_loaded(spec)
    if json:
        print_json({**description.to_dict(), **_identity(spec)})
    else:
        print_result(*description.render())


def _identity(spec: str) -> dict[str, Any]:
    """Name and content key of the reward that a spec loads, with what the key consists of."""
    try:
        reward = resolve(spec).reward
        return {"name": reward.name, "contents": asdict(reward_contents(reward))}
    except (RewardNotLoaded, NotIdentified):  # a class that needs arguments; code that has no file
        return {}


def _list(json: bool) -> None:
    listings = available().values()
    if json:
        print_json([asdict(listing) for listing in listings])
        return
    table = bare_table()
    table.add_column("name", style="bold")
    table.add_column("what it gives")
    table.add_column("from", no_wrap=True)
    for group, members in groupby(listings, key=lambda listing: listing.group):
        table.add_row(Text(f"\n{group}", style="italic"))
        for listing in members:
            table.add_row(listing.name, Text(listing.summary), listing.origin)
    print_result(table, "\n`plaudit rewards NAME` says more about one of them.")


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One parameter: how it is written, and what the documentation says about it."""

    name: str
    declaration: str
    doc: str


@dataclass(frozen=True, slots=True)
class _Description:
    """What is known about a reward."""

    title: str
    doc: str
    origin: str
    parameters: list[_Parameter] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    """The rewards that it is made of, each with its weight where it has one."""
    promises: dict[str, Any] = field(default_factory=dict)
    card: Card | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {name: getattr(self, name) for name in ("title", "doc", "origin", "parts", "promises")}
        card = {} if self.card is None else {"card": msgspec.to_builtins(self.card)}
        return {**plain, "parameters": [asdict(parameter) for parameter in self.parameters], **card}

    def render(self) -> list[RenderableType]:
        """Lines and tables for the terminal."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in self.doc.split("\n\n") if paragraph.strip()]
        shown: list[RenderableType] = [Text(self.title, style="bold"), *map(Text, paragraphs)]
        tables = {"parameters": {p.declaration: p.doc for p in self.parameters}, "made of": self.parts}
        for title, rows in tables.items():
            if rows:
                table = bare_table(f"\n{title}", "")
                for name, text in rows.items():
                    table.add_row(Text(f"  {name}"), Text(text))
                shown.append(table)
        for title, lines in self.card.sections().items() if self.card else ():
            if lines:
                shown += [Text(f"\n{title}"), *(Text(f"  {line}") for line in lines)]
        facts = [f"{name} {value}" for name, value in self.promises.items() if value is not None]
        return [*shown, "", Text(", ".join([self.origin, *facts]), style="dim")]


def _describe_named(name: str) -> _Description:
    listing, target = listing_of(name), find_named(name)
    value = None if target is None else target.value
    parameters = _parameters(value, listing.doc) if is_reward_class(value) else []
    title = f"{name}({', '.join(one.name for one in parameters)})" if parameters else name
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
    """What the user wrote: a function, or the class of an object."""
    if isinstance(reward, FunctionReward):
        return reward.function
    written = reward.foreign if isinstance(reward, ForeignReward) else reward
    return written if inspect.isroutine(written) else type(written)


def _parameters(value: Any, doc: str) -> list[_Parameter]:
    """The parameters of a class, or the columns that a function asks for."""
    sentences = re.split(r"(?<=[.;])\s+", " ".join(doc.split()))
    parameters = []
    for name, parameter in signature_of(value).parameters.items():
        about = next((sentence for sentence in sentences if f"`{name}`" in sentence), "")
        parameters.append(_Parameter(name, _declaration(parameter), about))
    return parameters


def _declaration(parameter: inspect.Parameter) -> str:
    """A parameter as it is written, without a type or a default that would fill the line."""
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
