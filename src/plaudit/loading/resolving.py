"""From a spec to a reward: the one place that knows all forms a spec can take.

Relative paths count from where the spec stands: the current folder, or the YAML file's.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.building import Arguments, Loaded, Target, build
from plaudit.loading.catalogue import find_named, no_such_name
from plaudit.loading.composites import build_composite
from plaudit.loading.expressions import METHODS, build_expression, parse_call
from plaudit.loading.importing import module_at, module_from_file
from plaudit.loading.picking import Source

__all__ = ["load", "resolve"]

_CALL = r"[A-Za-z_]\w*\s*(?:\(.*\))?"
_FILE = re.compile(rf"(?P<path>.+?\.py)(?::(?P<call>{_CALL}|[^'\"]*))?", re.DOTALL)
_MODULE = re.compile(rf"(?P<module>[A-Za-z_][\w.]*):(?P<call>{_CALL})", re.DOTALL)


def load(spec: str | RewardFunction | Callable[..., Any]) -> RewardFunction:
    """The reward that a spec names: `load("rewards.py:quality")`, `load("0.7 * check_answer + 0.3 * format")`."""
    return spec if isinstance(spec, RewardFunction) else resolve(spec).reward


def resolve(spec: str | RewardFunction | Callable[..., Any]) -> Loaded:
    """The reward that a spec names, with the convention it was written in and where it came from."""
    if isinstance(spec, str | Path):
        return _Place(Path.cwd()).resolve(str(spec))
    name = str(getattr(spec, "name", None) or getattr(spec, "__name__", type(spec).__name__))
    return build(Target(spec, name, f"{name}, as given"))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a spec stands: the folder that its paths count from, and the YAML files that led here."""

    folder: Path
    trail: tuple[Path, ...] = ()

    def resolve(self, spec: str) -> Loaded:
        text = spec.strip()
        if not text or "\0" in text:
            fault = "holds a null character" if text else "is empty"
            raise RewardNotLoaded(f"the spec {fault}; name a reward, e.g. 'length' or 'rewards.py:quality'")
        if text.endswith((".yaml", ".yml")):
            return self.composite(text)
        if (match := _FILE.fullmatch(text)) is not None:
            return self.file(match["path"], match["call"])
        if (match := _MODULE.fullmatch(text)) is not None:
            name, arguments = parse_call(match["call"])
            return build(self.module(match["module"]).find(name), arguments)
        if ("/" in text or "." in text) and os.path.exists(self.folder / text):
            raise RewardNotLoaded(f"{self.folder / text} is no .py or .yaml file; rewards are loaded from these")
        return build_expression(text, self.look_up, self.resolve)

    def look_up(self, text: str, arguments: Arguments | None) -> Loaded:
        """A name or a dotted name in an expression."""
        if "." not in text and (found := find_named(text)) is not None:
            return build(found, arguments)
        return self.dotted(text, arguments)

    def file(self, path: str, call: str | None) -> Loaded:
        full = self.folder / Path(path).expanduser()
        if not os.path.exists(full) and re.search(r"\s[-+*/]\s", path):
            raise RewardNotLoaded(f"no file {path!r}; in an expression, put file specs in quotes: 0.7 * 'my.py:name'")
        source = Source.of(module_from_file(full), path, full.name)
        if call is None:
            return build(source.choose())
        name, arguments = parse_call(call)
        return build(source.find(name), arguments)

    def composite(self, text: str) -> Loaded:
        path = (self.folder / Path(text).expanduser()).resolve()
        if not os.path.isfile(path):
            nearby = [file.name for suffix in ("*.yaml", "*.yml") for file in path.parent.glob(suffix)]
            raise RewardNotLoaded(f"no file {path}{did_you_mean(path.name, nearby)}")
        if path in self.trail:
            raise RewardNotLoaded(f"{path} refers to itself: {' → '.join(each.name for each in (*self.trail, path))}")
        place = _Place(path.parent, (*self.trail, path))
        return Loaded(build_composite(path, lambda spec: place.resolve(spec).reward), "plaudit", path.name)

    def module(self, dotted: str) -> Source:
        module, rest = module_at(dotted, Path.cwd())
        if module is None or rest:
            raise _no_such_module(dotted)
        return Source.of(module, dotted, dotted)

    def dotted(self, dotted: str, arguments: Arguments | None) -> Loaded:
        """`pkg.mod` or `pkg.mod.name`; a lone name that is no module is a reward that nobody has."""
        root, _, rest = dotted.partition(".")
        if rest and find_named(root) is not None:
            hint = f"; call it: {dotted}(…)" if rest in METHODS else did_you_mean(rest, METHODS)
            raise RewardNotLoaded(f"{dotted} is no reward: {root!r} is, and its methods are {', '.join(METHODS)}{hint}")
        module, left = module_at(dotted, Path.cwd())
        if module is None:
            raise _no_such_module(dotted) if rest else no_such_name(dotted)
        source = Source.of(module, module.__name__, module.__name__)
        if len(left) > 1:
            raise _no_such_module(dotted.rpartition(".")[0])
        return build(source.find(left[0]) if left else source.choose(), arguments)


def _no_such_module(dotted: str) -> RewardNotLoaded:
    root = dotted.partition(".")[0]
    nearby = [path.stem for path in Path.cwd().glob("*.py")] + [
        path.name for path in Path.cwd().iterdir() if path.is_dir() and path.name.isidentifier()
    ]
    return RewardNotLoaded(f"no module {dotted!r}{did_you_mean(root, nearby)} (looked in {Path.cwd()} and sys.path)")
