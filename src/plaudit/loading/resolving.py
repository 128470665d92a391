"""From a spec to a reward, for all forms of specs.

Relative paths start at the current folder, or at the folder of the YAML file that holds the spec.
"""

import ast
import os
import re
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from plaudit import dialects, remote  # what is in them is imported when first used: a worker starts in less time
from plaudit.contract.function import RewardFunction
from plaudit.contract.scoring import Style, check_declared
from plaudit.dialects import graders
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.building import Arguments, Loaded, SpecTarget, build
from plaudit.loading.catalog import find_named, no_such_name
from plaudit.loading.chat_template import ChatTemplateReward
from plaudit.loading.composites import build_composite
from plaudit.loading.expressions import METHODS, OPTIONS, USING, build_expression, parse_call
from plaudit.loading.failures import explain_failures
from plaudit.loading.importing import module_at, module_from_file
from plaudit.loading.names import files_that_define
from plaudit.loading.picking import RewardModule
from plaudit.normalize import Scope

_CALL = r"[A-Za-z_]\w*\s*(?:\(.*\))?"
_FILE = re.compile(rf"(?P<path>.+?\.py)(?::(?P<call>{_CALL}|[^'\"]*))?", re.DOTALL)
_DELETED = Path("/the working folder was deleted")
_MODULE = re.compile(rf"(?P<module>[A-Za-z_][\w.]*):(?P<call>{_CALL})", re.DOTALL)


def load(
    spec: str | RewardFunction | Callable[..., Any],
    *,
    dialect: str | None = None,
    scope: Scope | None = None,
    max_batch: int | None = None,
    chat_template: str | None = None,
) -> RewardFunction:
    """The reward that a spec names: `load("rewards.py:quality")`, `load("0.7 * check_answer + 0.3 * format")`.

    The options are for rewards written for other systems: `dialect` says which, `scope` what a reward of batches sees
    together, `max_batch` how many samples it takes in a call, `chat_template` how chats become text.
    """
    return resolve(spec, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template).reward


def resolve(
    spec: str | RewardFunction | Callable[..., Any],
    *,
    dialect: str | None = None,
    scope: Scope | None = None,
    max_batch: int | None = None,
    chat_template: str | None = None,
) -> Loaded:
    """A loaded reward with its convention and its source."""
    if isinstance(spec, str | Path):
        loaded = _SpecResolver(_working_folder(), dialect=dialect).resolve(str(spec))
        if (dialect, scope, max_batch, chat_template) == (None,) * 4:  # else the spec alone is not the whole of it
            loaded = replace(loaded, spec=str(spec))
    else:
        name = _name_of(spec)
        loaded = build(SpecTarget(spec, name, f"{name}, as given"), dialect=dialect)
    return _apply_options(loaded, scope=scope, max_batch=max_batch, chat_template=chat_template)


def _apply_options(
    loaded: Loaded, scope: Scope | None = None, max_batch: int | None = None, chat_template: str | None = None
) -> Loaded:
    reward = loaded.reward
    _name_of(reward)  # every path reads it, also to describe a failure
    if scope is not None and scope not in get_args(Scope):
        raise RewardNotLoaded(f"scope is one of {', '.join(get_args(Scope))}; got {scope!r}")
    if scope not in (None, "sample") and reward.call_style is Style.SAMPLE:
        raise RewardNotLoaded(f"{reward.name} is given one sample at a time: scope={scope!r} is for batches")
    if max_batch is not None and reward.call_style not in (Style.BATCH, Style.PAIRED):
        raise RewardNotLoaded(f"{reward.name} is not a function of batches: max_batch={max_batch} is for these")
    chosen = {name: value for name, value in (("scope", scope), ("max_batch", max_batch)) if value is not None}
    if chosen:
        reward = copy(reward)
        for name, value in chosen.items():
            setattr(reward, name, value)
        check_declared(reward)
        reward.load_options = {**reward.load_options, **chosen}
    if chat_template is not None:
        reward = ChatTemplateReward(reward, chat_template)
    return replace(loaded, reward=reward)


def _name_of(value: Any) -> str:
    with explain_failures("reading the name of the reward"):
        return str(getattr(value, "name", None) or getattr(value, "__name__", type(value).__name__))


@dataclass(frozen=True, slots=True)
class _SpecResolver:
    """Resolves specs: `folder` is the base of relative paths, `trail` the YAML files above, `dialect` the option."""

    folder: Path
    trail: tuple[Path, ...] = ()
    dialect: str | None = None

    def resolve(self, spec: str) -> Loaded:
        text = spec.strip()
        if not text or "\0" in text:
            fault = "holds a null character" if text else "is empty"
            raise RewardNotLoaded(f"the spec {fault}; name a reward, e.g. 'length' or 'rewards.py:quality'")
        if text.startswith(("http://", "https://")):
            return Loaded(remote.open_remote(text), "plaudit remote reward", text)
        if text.endswith((".yaml", ".yml")):
            return self.composite(text)
        if text.endswith(".json"):
            return self.grader(text)
        if (match := _FILE.fullmatch(text)) is not None and not _has_quoted_spec(match["path"], text):
            return self.file(match["path"], match["call"])
        if (match := _MODULE.fullmatch(text)) is not None:
            return self.member(match["module"], match["call"])
        if ("/" in text or "." in text) and os.path.exists(self.folder / text):
            if os.path.isdir(self.folder / text):
                return self.rewardkit_folder(text)
            raise RewardNotLoaded(
                f"{self.folder / text} is not a .py, .yaml or .json file; rewards are loaded from these"
            )
        return build_expression(text, self.look_up, self.resolve)

    def look_up(self, text: str, arguments: Arguments | None) -> Loaded:
        """A name or a dotted name in an expression; `using('spec', …)` is a spec with options."""
        if text == USING and arguments is not None:
            return self.using(arguments)
        if "." not in text and (target := find_named(text)) is not None:
            return build(target, arguments)
        return self.find_dotted(text, arguments)

    def file(self, path: str, call: str | None) -> Loaded:
        full = self.folder / Path(path).expanduser()
        if not os.path.exists(full) and re.search(r"\s[-+*/]\s", path):
            raise RewardNotLoaded(f"no file {path!r}; in an expression, put file specs in quotes: 0.7 * 'my.py:name'")
        source = RewardModule.of(module_from_file(full), path, full.name)
        if call is None:
            return build(source.choose(), dialect=self.dialect)
        name, arguments = parse_call(call)
        return build(source.find(name), arguments, self.dialect)

    def member(self, dotted: str, call: str) -> Loaded:
        """`module:name`; some packages have rewards under names that they do not define."""
        source = self.module(dotted)
        name, arguments = parse_call(call)
        system = dialects.known_systems().get(dotted)
        find_named = system.find_named if system else None
        if find_named is None or hasattr(source.module, name):
            return build(source.find(name), arguments, self.dialect)
        made = SpecTarget(find_named(source.module, name), f"{dotted}:{name}", f"{name} of {dotted}", source.imports)
        return build(made, arguments or Arguments(), self.dialect)

    def using(self, arguments: Arguments) -> Loaded:
        known = set(arguments.keywords) <= set(OPTIONS)
        if not known or len(arguments.positional) != 1 or not isinstance(arguments.positional[0], str):
            raise RewardNotLoaded(f"{USING} takes one quoted spec and any of {', '.join(OPTIONS)}")
        options = dict(arguments.keywords)
        resolver = replace(self, dialect=options.pop("dialect", self.dialect))
        return _apply_options(resolver.resolve(arguments.positional[0]), **options)

    def composite(self, text: str) -> Loaded:
        path = self.existing(text, "*.y*ml").resolve()
        if path in self.trail:
            raise RewardNotLoaded(f"{path} refers to itself: {' → '.join(each.name for each in (*self.trail, path))}")
        resolver = replace(self, folder=path.parent, trail=(*self.trail, path))
        return Loaded(build_composite(path, resolver.look_up, resolver.resolve), "plaudit", path.name)

    def grader(self, text: str) -> Loaded:
        path = self.existing(text, "*.json")
        return Loaded(graders.grader_from_file(path), "OpenAI grader", path.name)

    def existing(self, text: str, pattern: str) -> Path:
        """The path of a file; the error for one that does not exist corrects its name."""
        path = self.folder / Path(text).expanduser()
        if not os.path.isfile(path):
            nearby = [file.name for file in path.parent.glob(pattern)]
            raise RewardNotLoaded(f"no file {path}{did_you_mean(path.name, nearby)}")
        return path

    def rewardkit_folder(self, text: str) -> Loaded:
        path = (self.folder / text).resolve()
        if not any(path.rglob("*.toml")) and not any("rewardkit" in _text_of(file) for file in path.rglob("*.py")):
            raise RewardNotLoaded(f"{path} is a folder without rewardkit criteria; name the file of a reward in it")
        from plaudit.dialects.systems.rewardkit import RewardkitFolder  # noqa: PLC0415 - a worker starts in less time

        return Loaded(RewardkitFolder(path), "rewardkit folder", path.name)

    def module(self, dotted: str) -> RewardModule:
        module, rest = module_at(dotted, _working_folder())
        if module is None or rest:
            raise _no_such_module(dotted)
        return RewardModule.of(module, dotted, dotted)

    def find_dotted(self, dotted: str, arguments: Arguments | None) -> Loaded:
        """`pkg.mod` or `pkg.mod.name`; a single name that is no module is an unknown reward."""
        root, _, rest = dotted.partition(".")
        if rest and find_named(root) is not None:
            hint = f"; call it: {dotted}(…)" if rest in METHODS else did_you_mean(rest, METHODS)
            methods = ", ".join(METHODS)
            raise RewardNotLoaded(f"{dotted} is not a reward: {root!r} is, and its methods are {methods}{hint}")
        is_library = not rest and root in sys.stdlib_module_names and not os.path.exists(f"{root}.py")
        module, left = (None, []) if is_library else module_at(dotted, _working_folder())
        if module is None:
            if rest:
                raise _no_such_module(dotted)
            return self.nearby(dotted, arguments)
        source = RewardModule.of(module, module.__name__, module.__name__)
        if len(left) > 1:
            raise _no_such_module(dotted.rpartition(".")[0])
        return build(source.find(left[0]) if left else source.choose(), arguments, self.dialect)

    def nearby(self, name: str, arguments: Arguments | None) -> Loaded:
        """A bare name that a file of the folder or of its `src` defines, as Agent-Tunix names its functions."""
        files = files_that_define(name, self.folder)
        if not files:
            raise no_such_name(name)
        paths = [path.relative_to(self.folder).as_posix() for path in files]
        if len(files) > 1:
            specs = ", ".join(f"{path}:{name}" for path in paths)
            raise RewardNotLoaded(f"several files here define {name!r}; say which one: {specs}")
        source = RewardModule.of(module_from_file(files[0]), paths[0], files[0].name)
        return build(source.find(name), arguments, self.dialect)


def _has_quoted_spec(path: str, text: str) -> bool:
    """Whether the path of a file ends within a quoted spec of an expression; a path may have quotes too."""
    if "'" not in path and '"' not in path:
        return False
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _text_of(file: Path) -> str:
    return file.read_text(errors="replace") if os.path.isfile(file) else ""


def _no_such_module(dotted: str) -> RewardNotLoaded:
    root, folder = dotted.partition(".")[0], _working_folder()
    nearby = [path.stem for path in folder.glob("*") if path.suffix == ".py" or path.is_dir()]
    named = [name for name in nearby if name.isidentifier()]
    return RewardNotLoaded(f"no module {dotted!r}{did_you_mean(root, named)} (looked in {folder} and sys.path)")


def _working_folder() -> Path:
    """The folder that relative paths start from; an empty one if the folder was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return _DELETED
