"""Rewards composed in a YAML file, for weights that are kept with the training configuration.

A mapping has one kind: `reward`, `sum`, a function of the vocabulary or a built-in, with the parameters they have in
Python. The methods of the vocabulary may be set next to it. Every field for a reward takes an expression or another
mapping. Paths are relative to the YAML file.

YAML is imported when a file is read: every process that loads a reward imports this module, and few read such a file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plaudit.contract.combination import CompositeReward
from plaudit.contract.function import RewardFunction
from plaudit.errors import InvalidSettings, RewardNotLoaded, did_you_mean
from plaudit.loading.building import Arguments, Loaded
from plaudit.loading.expressions import FUNCTIONS, METHODS, OPTIONS, LookUp, Specs, evaluate, find_composer, spec_using
from plaudit.rewards import BUILT_INS

KINDS = ("reward", "sum", "gate", *FUNCTIONS)
APPLIED = tuple(name for name in METHODS if name not in ("gate", "named"))
MAX_DEPTH = 50


def build_composite(path: Path, look_up: LookUp, specs: Specs) -> RewardFunction:
    """The reward that a YAML file describes; `look_up` and `specs` find the rewards in it."""
    import yaml  # noqa: PLC0415 - see the module's docstring

    try:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise RewardNotLoaded(f"cannot read {path}: {error}") from error
    return _Composite(path, look_up, specs).reward(plain, "", 0)


class _Composite:
    def __init__(self, path: Path, look_up: LookUp, specs: Specs) -> None:
        self.path, self.look_up, self.specs = path, look_up, specs

    def reward(self, plain: Any, at: str, depth: int, also: Sequence[str] = ()) -> RewardFunction:
        """The reward of a spec or a mapping; `at` is its path in the file, `also` are further allowed keys."""
        if depth > MAX_DEPTH:
            raise self.error(at, "is nested too deeply; does an alias refer to itself?")
        if isinstance(plain, str):
            return self.specs(plain).reward
        if not isinstance(plain, dict):
            raise self.error(at, f"must be a spec or a mapping, got {plain!r:.60}")
        kinds = [key for key in plain if key in KINDS or key in BUILT_INS]
        known = (*KINDS, "name", *APPLIED, *OPTIONS, *also)
        for key in plain:
            if key not in kinds and key not in known:
                hint = did_you_mean(str(key), (*known, *BUILT_INS))
                hint += " (weights belong to the items of a sum)" if key == "weight" else ""
                raise self.error(at, f"has the unknown key {key!r}{hint}; known are {', '.join(known)} and built-ins")
        if len(kinds) != 1:
            several = " and ".join(kinds) or "none"
            raise self.error(at, f"needs exactly one of {', '.join(KINDS)} or a built-in; it has {several}")
        where = f"{at}.{kinds[0]}".lstrip(".")
        try:
            made = self.build(kinds[0], self.with_options(plain, kinds[0], at), where, depth + 1)
            return self.apply_methods(made, plain, at)
        except InvalidSettings as error:
            raise self.error(at, f"makes no reward: {error}") from error

    def build(self, kind: str, plain: Any, at: str, depth: int) -> RewardFunction:
        if kind == "reward":
            return self.reward(plain, at, depth)
        if kind == "sum":
            return self.sum(plain, at, depth)
        if kind not in KINDS:
            settings = self.locate_files(plain) if isinstance(plain, dict) else {}
            positional = () if isinstance(plain, dict) or plain is None else (plain,)
            try:
                return self.look_up(kind, Arguments(positional, settings)).reward
            except RewardNotLoaded as error:
                raise self.error(at, f"makes no reward: {error}") from error
        made = self.call(kind, self.receiver_first(plain) if kind == "gate" else plain, at, depth)
        if not isinstance(made, RewardFunction):
            raise self.error(at, f"is a {type(made).__name__}, not a reward")
        return made

    def call(self, name: str, plain: Any, at: str, depth: int, *receiver: RewardFunction) -> Any:
        """Call a function of the vocabulary: a mapping has its parameters by name, a list those of a method."""
        composer = find_composer(name)
        assert composer is not None
        is_unpacked = isinstance(plain, list) and (bool(receiver) or "rewards" in composer.rewards)
        named = plain if isinstance(plain, dict) else {}
        positional = plain if is_unpacked else [] if isinstance(plain, dict) else [plain]
        if not positional and not named:
            raise self.error(at, f"must be a list of rewards or a mapping of parameters, got {plain!r:.60}")
        try:
            return composer.call(
                [*receiver, *map(_frozen, positional)],
                {key: _frozen(each) for key, each in named.items()},
                lambda each: self.as_reward(each, at, depth),
            )
        except RewardNotLoaded as error:
            raise self.error(at, f"makes no reward: {error}") from error

    def as_reward(self, plain: Any, at: str, depth: int) -> RewardFunction:
        return plain if isinstance(plain, RewardFunction) else self.reward(plain, at, depth)

    def receiver_first(self, plain: Any) -> Any:
        """The parameters of a gate; YAML reads a bare `on` as true."""
        names = {True: "on", "reward": "self"}
        return {names.get(key, key): each for key, each in plain.items()} if isinstance(plain, dict) else plain

    def apply_methods(self, reward: RewardFunction, plain: Mapping[str, Any], at: str) -> RewardFunction:
        for method in APPLIED:
            if method in plain:
                reward = self.call(method, plain[method], f"{at}.{method}".lstrip("."), 0, reward)
        return reward.named(self.text(plain, "name", at)) if "name" in plain else reward

    def with_options(self, plain: Mapping[str, Any], kind: str, at: str) -> Any:
        """The value of the kind; a spec includes the options that are set next to it."""
        names = [name for name in OPTIONS if name in plain]
        options = {name: plain[name] if name == "max_batch" else self.text(plain, name, at) for name in names}
        if options and (kind != "reward" or not isinstance(plain[kind], str)):
            raise self.error(at, f"has {', '.join(options)}, which belong beside a single spec: reward: file.py")
        return spec_using(plain[kind], **options) if options else plain[kind]

    def sum(self, plain: Any, at: str, depth: int) -> RewardFunction:
        if not isinstance(plain, list) or not plain:
            raise self.error(at, f"must be a list of rewards, got {plain!r:.60}")
        weighted = []
        for index, item in enumerate(plain):
            where = f"{at}[{index}]"
            weight = item.get("weight", 1.0) if isinstance(item, dict) else 1.0
            weight = evaluate(weight, self.look_up, self.specs) if isinstance(weight, str) else weight
            if isinstance(weight, Loaded | bool):
                raise self.error(where, f"weight must be a number or a schedule, got {item['weight']!r:.60}")
            weighted.append((self.reward(item, where, depth, also=("weight",)), weight))
        return CompositeReward(weighted)

    def locate_files(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of a judge; the files that they name are relative to the YAML file."""
        located = dict(settings)
        if isinstance(located.get("rubric"), str):
            located["rubric"] = self.path.parent / located["rubric"]
        endpoint = located.get("endpoint")
        if isinstance(endpoint, dict) and isinstance(endpoint.get("api_key_file"), str):
            key_file = self.path.parent / Path(endpoint["api_key_file"]).expanduser()
            located["endpoint"] = {**endpoint, "api_key_file": str(key_file)}
        return located

    def text(self, plain: Mapping[str, Any], key: str, at: str) -> str:
        if not isinstance(plain[key], str):
            raise self.error(at, f"{key} must be text, got {plain[key]!r:.60}")
        return str(plain[key])

    def error(self, at: str, what: str) -> RewardNotLoaded:
        return RewardNotLoaded(f"{self.path.name}: {at or 'the file'} {what}")


def _frozen(plain: Any) -> Any:
    """A list of numbers as a tuple, which ranges are in Python."""
    is_range = isinstance(plain, list) and all(isinstance(each, int | float) for each in plain)
    return tuple(plain) if is_range else plain
