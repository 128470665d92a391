"""Rewards composed in a YAML file, for those who keep their weights beside their training configuration.

A mapping has exactly one of the kinds below, and may add `name`, `clip` and `normalized`, applied in the order clip,
then normalise; a single spec may add the options of `load`. Paths in it are relative to the YAML file.

YAML is imported when a file is read: every process that loads a reward imports this module, and few read such a file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

from plaudit import judges  # its parts are imported when first used
from plaudit.compose import TaskReward
from plaudit.contract import rules
from plaudit.contract.combination import Combination, CompositeReward
from plaudit.contract.function import RewardFunction
from plaudit.errors import InvalidSettings, RewardNotLoaded, did_you_mean
from plaudit.loading.expressions import OPTIONS, spec_using

__all__ = ["build_composite"]

Specs: TypeAlias = Callable[[str], RewardFunction]
FINISH = ("name", "clip", "normalized")
TASKS = ("default", "column")
GATE = ("reward", "on", "at", "otherwise")
MAX_DEPTH = 50


def build_composite(path: Path, specs: Specs) -> RewardFunction:
    """The reward that a YAML file describes; `specs` loads the specs in it."""
    import yaml  # noqa: PLC0415 - see the module's docstring

    try:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise RewardNotLoaded(f"cannot read {path}: {error}") from error
    return _Composite(path.name, specs, path.parent).reward(plain, "", 0)


class _Composite:
    def __init__(self, file: str, specs: Specs, folder: Path) -> None:
        self.file = file
        self.specs = specs
        self.folder = folder

    def reward(self, plain: Any, at: str, depth: int, also: Sequence[str] = ()) -> RewardFunction:
        """What a spec or a mapping stands for; `at` says where in the file it is, `also` are further allowed keys."""
        if depth > MAX_DEPTH:
            raise self.error(at, "is nested too deeply; does an alias refer to itself?")
        if isinstance(plain, str):
            return self.specs(plain)
        if not isinstance(plain, dict):
            raise self.error(at, f"must be a spec or a mapping, got {plain!r:.60}")
        self.check_keys(plain, (*KINDS, *FINISH, *OPTIONS, *also), at)
        kinds = [key for key in plain if key in KINDS]
        if len(kinds) != 1:
            raise self.error(at, f"needs exactly one of {', '.join(KINDS)}; it has {' and '.join(kinds) or 'none'}")
        try:
            value = self.with_options(plain, kinds[0], at)
            made = KINDS[kinds[0]](self, value, f"{at}.{kinds[0]}".lstrip("."), depth + 1)
            return self.apply_options(made, plain, at, fresh=kinds[0] != "reward")
        except InvalidSettings as error:
            raise self.error(at, f"makes no reward: {error}") from error

    def apply_options(
        self, reward: RewardFunction, plain: Mapping[str, Any], at: str, *, fresh: bool
    ) -> RewardFunction:
        if "clip" in plain:
            reward = reward.clip(*self.clip_ends(plain["clip"], at))
        if "normalized" in plain:
            reward = reward.normalized(self.text(plain, "normalized", at))
        if "name" not in plain:
            return reward
        name = self.text(plain, "name", at)
        if not fresh and not {"clip", "normalized"} & plain.keys():
            return reward.named(name)  # somebody else's reward keeps its own name
        object.__setattr__(reward, "name", name)  # judges are frozen
        return reward

    def with_options(self, plain: Mapping[str, Any], kind: str, at: str) -> Any:
        """What stands under the kind; a spec with the options that stand beside it."""
        options = {name: self.text(plain, name, at) for name in OPTIONS if name in plain}
        if options and (kind != "reward" or not isinstance(plain[kind], str)):
            raise self.error(at, f"has {', '.join(options)}, which belong beside a single spec: reward: file.py")
        return spec_using(plain[kind], **options) if options else plain[kind]

    def single(self, plain: Any, at: str, depth: int) -> RewardFunction:
        return self.reward(plain, at, depth)

    def sum(self, plain: Any, at: str, depth: int) -> RewardFunction:
        weighted = []
        for place, item in enumerate(self.items(plain, at)):
            where = f"{at}[{place}]"
            weight = item.get("weight", 1.0) if isinstance(item, dict) else 1.0
            weighted.append((self.reward(item, where, depth, also=("weight",)), self.number(weight, where, "weight")))
        return CompositeReward(weighted)

    def gate(self, plain: Any, at: str, depth: int) -> RewardFunction:
        if not isinstance(plain, dict):
            raise self.error(at, f"must be a mapping with {', '.join(GATE)}, got {plain!r:.60}")
        plain = {"on" if key is True else key: value for key, value in plain.items()}  # YAML reads a bare `on` as true
        self.check_keys(plain, GATE, at)
        if missing := [key for key in GATE[:3] if key not in plain]:
            raise self.error(at, f"needs {' and '.join(missing)}")
        made, on = (self.reward(plain[key], f"{at}.{key}", depth) for key in ("reward", "on"))
        otherwise = self.number(plain.get("otherwise", 0.0), at, "otherwise")
        return made.gate(on=on, at=self.number(plain["at"], at, "at"), otherwise=otherwise)

    def cautious(self, plain: Any, at: str, depth: int) -> RewardFunction:
        given = plain if isinstance(plain, dict) else {"rewards": plain}
        self.check_keys(given, ("rewards", "penalty"), at)
        penalty = self.number(given.get("penalty", 1.0), at, "penalty")
        return self.combine(lambda: rules.Cautious(penalty), given.get("rewards"), at, depth)

    def tasks(self, plain: Any, at: str, depth: int) -> RewardFunction:
        if not isinstance(plain, dict) or not plain:
            raise self.error(at, f"must map the names of tasks to rewards, got {plain!r:.60}")
        default, column = plain.get("default"), plain.get("column")
        if column is not None and not isinstance(column, str):
            raise self.error(at, f"column must name a column, got {column!r:.60}")
        rewards = {str(task): self.reward(each, f"{at}.{task}", depth) for task, each in plain.items()
                   if task not in TASKS}  # fmt: skip
        otherwise = None if default is None else self.reward(default, f"{at}.default", depth)
        return TaskReward(rewards, default=otherwise, column=column)

    def combine(self, rule: Callable[[], rules.Rule], plain: Any, at: str, depth: int) -> RewardFunction:
        items = self.items(plain, at)
        return Combination([self.reward(item, f"{at}[{place}]", depth) for place, item in enumerate(items)], rule())

    def judge(self, kind: "type[judges.LLMJudge | judges.RubricReward]", plain: Any, at: str) -> RewardFunction:
        """A judge by its settings; the files that it names stand beside this one."""
        settings = self.settings(plain, at, [each.name for each in fields(kind) if each.init])
        if isinstance(settings.get("rubric"), str):
            settings["rubric"] = self.folder / settings["rubric"]
        endpoint = settings.get("endpoint")
        if isinstance(endpoint, dict) and isinstance(endpoint.get("api_key_file"), str):
            key_file = self.folder / Path(endpoint["api_key_file"]).expanduser()
            settings["endpoint"] = {**endpoint, "api_key_file": str(key_file)}
        if endpoint is None:
            raise self.error(at, "needs an endpoint: {url: …, model: …}")
        return kind(**settings)

    def panel(self, plain: Any, at: str, depth: int) -> RewardFunction:
        settings = self.settings(plain, at, ("judges", "max_spread"))
        items = self.items(settings.pop("judges", None), f"{at}.judges")
        parts = [self.reward(item, f"{at}.judges[{place}]", depth) for place, item in enumerate(items)]
        return judges.JudgePanel(parts, **settings)

    def settings(self, plain: Any, at: str, known: Sequence[str]) -> dict[str, Any]:
        if not isinstance(plain, dict):
            raise self.error(at, f"must be a mapping with {', '.join(known)}, got {plain!r:.60}")
        self.check_keys(plain, known, at)
        return dict(plain)

    def items(self, plain: Any, at: str) -> list[Any]:
        if not isinstance(plain, list) or not plain:
            raise self.error(at, f"must be a list of rewards, got {plain!r:.60}")
        return plain

    def clip_ends(self, plain: Any, at: str) -> list[float | None]:
        if not isinstance(plain, list) or len(plain) != 2:
            raise self.error(at, f"clip must be [low, high], got {plain!r:.60}")
        return [None if end is None else self.number(end, at, "clip") for end in plain]

    def number(self, plain: Any, at: str, key: str) -> float:
        if isinstance(plain, bool) or not isinstance(plain, int | float):
            raise self.error(at, f"{key} must be a number, got {plain!r:.60}")
        return float(plain)

    def text(self, plain: Mapping[str, Any], key: str, at: str) -> str:
        if not isinstance(plain[key], str):
            raise self.error(at, f"{key} must be text, got {plain[key]!r:.60}")
        return str(plain[key])

    def check_keys(self, plain: Mapping[Any, Any], known: Sequence[str], at: str) -> None:
        for key in plain:
            if key not in known:
                hint = did_you_mean(str(key), known)
                hint += " (weights belong to the items of a sum)" if key == "weight" else ""
                raise self.error(at, f"has the unknown key {key!r}{hint}; known are {', '.join(known)}")

    def error(self, at: str, what: str) -> RewardNotLoaded:
        return RewardNotLoaded(f"{self.file}: {at or 'the file'} {what}")


def _by(rule: Callable[[], rules.Rule]) -> Callable[[_Composite, Any, str, int], RewardFunction]:
    return lambda composite, plain, at, depth: composite.combine(rule, plain, at, depth)


KINDS: dict[str, Callable[[_Composite, Any, str, int], RewardFunction]] = {
    "reward": _Composite.single,
    "sum": _Composite.sum,
    "product": _by(rules.Product),
    "minimum": _by(rules.Minimum),
    "maximum": _by(rules.Maximum),
    "median": _by(rules.Median),
    "cautious": _Composite.cautious,
    "lexicographic": _by(rules.Lexicographic),
    "gate": _Composite.gate,
    "judge": lambda composite, plain, at, depth: composite.judge(judges.LLMJudge, plain, at),
    "rubric": lambda composite, plain, at, depth: composite.judge(judges.RubricReward, plain, at),
    "panel": _Composite.panel,
    "tasks": _Composite.tasks,
}
