"""Read OpenRLHF's training flags as settings of a run: `--label_key answers` is `data.ground_truth_key=answers`.

Nothing is dropped in silence. A flag that only says where things run is left out with a note; one that would change
what is learnt and has no counterpart here is an error with what to do, and so is one that nobody knows.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, NoReturn, get_args, get_origin

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.launching.definitions import read_pinned
from plaudit.launching.openrlhf_flags import COMPUTED, DEFAULTS, ELSEWHERE, REFUSED, SAME, find_flags
from plaudit.training.config.keys import Key
from plaudit.training.config.reading import KEYS, load_config
from plaudit.training.config.schema import RunConfig

__all__ = ["ForeignFlags", "read_openrlhf_flags"]

VERSIONS = ("0.11.2", "0.9.10")
"""Of OpenRLHF: the dotted flags of today, and the last that had underscores."""
ESTIMATORS = ("gae", "reinforce", "rloo", "reinforce_baseline", "group_norm", "dr_grpo")
SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant", "constant_with_warmup": "constant"}
AVERAGES = {"token-mean": "token", "seq-mean-token-mean": "sequence"}
SWITCHES = ("kl_in_loss", "filter", "bfloat16", "token_pieces", "resume")
PAIRS = ("clip_range", "filter_range")
OWN_OPTIONS = ("resume", "overwrite", "print-config", "ray", "json", "quiet", "help")
"""The options of `plaudit train` itself."""
RELATIVE = ("episodes", "warmup_ratio", "train_batch", "micro_batch", "max_len", "critic_lr")


@dataclass(frozen=True, slots=True)
class ForeignFlags:
    """What the flags of a command line ask for."""

    rest: list[str]
    """Arguments that are no flags of OpenRLHF: a config file, `key=value`."""
    overrides: list[str] = field(default_factory=list)
    """The flags as `key=value`."""
    notes: list[str] = field(default_factory=list)
    """What was left out, and which defaults differ."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that carry what no key does, such as the login of W&B."""
    resume: bool = False
    relative: dict[str, float] = field(default_factory=dict)
    """Numbers that mean something only together with the rest of the config, such as `--train_batch_size`."""

    def complete(self, config: RunConfig, count_prompts: Callable[[RunConfig], int]) -> RunConfig:
        """The config with what follows from it and the flags; `--num_episodes` asks for the number of prompts."""
        if not self.relative:
            return config
        settled = list(_relative_to(config, self.relative))
        if "episodes" in self.relative:
            steps = int(self.relative["episodes"] * count_prompts(config)) // config.sampling.prompts_per_step
            settled.append(f"steps={max(1, steps)}")
        config = load_config(base=config.to_dict(), overrides=settled)
        if "warmup_ratio" not in self.relative:
            return config
        warmup = math.ceil(config.steps * self.relative["warmup_ratio"])
        return load_config(base=config.to_dict(), overrides=[f"optimizer.warmup_steps={warmup}"])


def read_openrlhf_flags(arguments: Sequence[str]) -> ForeignFlags:
    """The flags among arguments, old names or new; raises InvalidSettings for what is unknown or cannot be honoured."""
    parser = _parser()
    given, rest = parser.parse_known_args(list(arguments))
    unknown = [each.partition("=")[0] for each in rest if each.startswith("-")]
    refused = [*_refusals(given), *(_unknown(name) for name in unknown)]
    if refused:
        raise InvalidSettings("; ".join(refused))
    values = _Values(given)
    if not values:
        return ForeignFlags(rest)
    overrides = [*_same(given), *_computed(values)]
    return ForeignFlags(
        rest,
        overrides,
        [*_left_out(given), *_open_defaults({each.partition("=")[0] for each in overrides})],
        _environment(values),
        resume=bool(values.get("resume")),
        relative={what: number for what in RELATIVE if (number := values.number(what)) is not None},
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidSettings(message.removeprefix("argument "))


class _Values:
    """The computed flags that were given, by what we call them."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._found = {
            what: value for what in COMPUTED if (value := getattr(given, f"computed {what}", None)) is not None
        }
        self._any = any(value is not None for value in vars(given).values())

    def __bool__(self) -> bool:
        return self._any

    def get(self, what: str) -> Any:
        return self._found.get(what)

    def number(self, what: str) -> float | None:
        text = self._found.get(what)
        return None if text is None else _number(COMPUTED[what][0], text)


def _parser() -> _Parser:
    parser = _Parser(add_help=False, allow_abbrev=False, argument_default=None)
    for name, names in SAME.items():
        _add(parser, names, f"same {name}", _arity(KEYS[name]))
    for what, names in COMPUTED.items():
        _add(parser, names, f"computed {what}", _computed_arity(what))
    for names in ELSEWHERE.values():
        for name in names:
            _add(parser, (name,), f"elsewhere {name}", _known_arity(name))
    for refusal in REFUSED:
        for name in refusal.names:
            _add(parser, (name,), f"refused {name}", _known_arity(name))
    return parser


def _add(parser: _Parser, names: Sequence[str], dest: str, arity: int | str) -> None:
    flags = [f"--{name}" for name in names]
    if arity == 0:
        parser.add_argument(*flags, dest=dest, action="store_const", const="true")
    elif arity == 1:
        parser.add_argument(*flags, dest=dest)
    else:
        parser.add_argument(*flags, dest=dest, nargs=arity)


def _arity(key: Key) -> int | str:
    """How many values a flag of the key takes: none for yes or no."""
    if key.type is bool or bool in get_args(key.type):
        return 0
    kind = get_args(key.type)[0] if get_args(key.type) else key.type
    kind = next((each for each in get_args(kind) if get_origin(each) is tuple), kind) if _is_union(kind) else kind
    if get_origin(kind) is tuple:
        return "*" if Ellipsis in get_args(kind) else len(get_args(kind))
    return 1


def _known_arity(name: str) -> int | str:
    """How many values OpenRLHF's own definitions give a flag; those that no pinned version has take what follows."""
    pinned = (read_pinned("openrlhf", version).known for version in VERSIONS)
    return next((known[name].arity for known in pinned if name in known), "*")


def _is_union(kind: Any) -> bool:
    return isinstance(kind, UnionType)


def _computed_arity(what: str) -> int | str:
    if what in SWITCHES:
        return 0
    return 2 if what in PAIRS else "*" if what == "lora_targets" else 1


def _same(given: argparse.Namespace) -> Iterator[str]:
    for name in SAME:
        value = getattr(given, f"same {name}")
        if value is not None:
            yield f"{name}={value if isinstance(value, str) else json.dumps([_plain(each) for each in value])}"


def _computed(values: _Values) -> Iterator[str]:
    """Every setting that is not one flag under another name."""
    yield from _learning(values)
    yield from _kl(values)
    yield from _prompts(values)
    yield from _reporting(values)


def _learning(values: _Values) -> Iterator[str]:
    if values.get("estimator") is not None:
        yield f"advantage={_choice('estimator', values, {name: name for name in ESTIMATORS})}"
    if values.get("loss") is not None:
        yield f"loss.name={_choice('loss', values, {'ppo': 'ppo', 'gspo': 'gspo'})}"
    if values.get("average") is not None:
        yield f"loss.average={_choice('average', values, AVERAGES)}"
    clip = values.get("clip_range") or (values.get("clip") and [values.get("clip")] * 2)
    if clip:
        yield f"loss.clip_low={clip[0]}"
        yield f"loss.clip_high={clip[1]}"
    if values.get("schedule") is not None:
        yield f"optimizer.schedule={_choice('schedule', values, SCHEDULES)}"
    if values.get("filter"):
        yield "filter.by=mean"
    if values.get("filter_range"):
        yield f"filter.low={values.get('filter_range')[0]}"
        yield f"filter.high={values.get('filter_range')[1]}"
    if values.get("bfloat16") or values.get("dtype") is not None:
        yield f"model.dtype={_choice('dtype', values, {'bf16': 'bfloat16'}) if values.get('dtype') else 'bfloat16'}"
    targets = values.get("lora_targets")
    if targets and targets != ["all-linear"]:
        yield f"model.lora_targets={json.dumps(targets)}"


def _kl(values: _Values) -> Iterator[str]:
    """The weight of the KL; where only that is said, OpenRLHF has it in the reward and estimates it by k1."""
    if values.get("kl_weight") is not None:
        yield f"loss.kl_beta={values.get('kl_weight')}"
        yield f"loss.kl_estimator={values.get('kl_estimator') or 'k1'}"
        yield f"loss.kl_in={'loss' if values.get('kl_in_loss') else 'reward'}"
        return
    if values.get("kl_estimator") is not None:
        yield f"loss.kl_estimator={values.get('kl_estimator')}"
    if values.get("kl_in_loss"):
        yield "loss.kl_in=loss"


def _prompts(values: _Values) -> Iterator[str]:
    template = values.get("input_template")
    if template is not None:
        if "{}" not in template:
            raise InvalidSettings(f"--input_template {template!r} has no {{}}, where the prompt goes")
        literal = [part.replace("{", "{{").replace("}", "}}") for part in template.split("{}")]
        yield f"data.prompt_template={'{prompt}'.join(literal)}"
    if values.get("token_pieces") and values.get("piece_tokens"):
        yield f"training.max_tokens_per_piece={values.get('piece_tokens')}"


def _reporting(values: _Values) -> Iterator[str]:
    samples = values.number("eval_samples")
    if samples is not None:
        yield f"eval.samples_per_prompt={samples:g}"
        yield f"eval.pass_at={json.dumps(sorted({1, int(samples)}))}"
    for what, key in (("eval_every", "eval.every"), ("save_every", "checkpoint.every")):
        every = values.number(what)
        if every is not None:
            yield f"{key}={max(0, int(every))}"
    if values.get("wandb") not in (None, "", "False", "false"):
        yield "logging.wandb=true"
    if values.get("tensorboard") is not None:
        yield "logging.tensorboard=true"


def _relative_to(config: RunConfig, numbers: Mapping[str, float]) -> Iterator[str]:
    """The settings that follow from a number and the config it goes with."""
    batch = config.batch_size
    if "train_batch" in numbers:
        minibatches = batch / numbers["train_batch"]
        if minibatches < 1 or minibatches % 1:
            raise InvalidSettings(
                f"--train_batch_size {numbers['train_batch']:g} does not divide the {batch} responses of a step "
                "(rollout_batch_size × n_samples_per_prompt)"
            )
        yield f"training.minibatches={minibatches:g}"
    if "micro_batch" in numbers:
        in_one_update = numbers.get("train_batch", batch / config.training.minibatches)
        yield f"training.gradient_accumulation={math.ceil(in_one_update / numbers['micro_batch'])}"
    if "max_len" in numbers:
        if config.sampling.max_new_tokens is None:
            raise InvalidSettings(
                f"--max_len {numbers['max_len']:g} is for prompt and response together; say --max_new_tokens as well"
            )
        yield f"data.max_prompt_tokens={numbers['max_len'] - config.sampling.max_new_tokens:g}"
    if "critic_lr" in numbers:
        yield f"training.critic_lr_factor={numbers['critic_lr'] / config.optimizer.lr!r}"


def _environment(values: _Values) -> dict[str, str]:
    names = {"wandb": "WANDB_API_KEY", "wandb_org": "WANDB_ENTITY", "wandb_group": "WANDB_RUN_GROUP"}
    switches = ("", "True", "true", "False", "false")
    return {variable: values.get(what) for what, variable in names.items() if values.get(what) not in (None, *switches)}


def _left_out(given: argparse.Namespace) -> Iterator[str]:
    for instead, names in ELSEWHERE.items():
        found = [f"--{name}" for name in names if getattr(given, f"elsewhere {name}") is not None]
        if found:
            yield f"left out {', '.join(found)}: {instead}"


def _open_defaults(named: set[str]) -> Iterator[str]:
    """What OpenRLHF would take where the flags say nothing, and plaudit takes something else."""
    found = [f"{key}={KEYS[key].default} (there: {theirs})" for key, theirs in DEFAULTS.items() if key not in named]
    if found:
        yield f"not given, so plaudit's own defaults hold: {', '.join(found)}"


def _refusals(given: argparse.Namespace) -> Iterator[str]:
    for refusal in REFUSED:
        for name in refusal.names:
            value = getattr(given, f"refused {name}")
            if value is not None and not set([value] if isinstance(value, str) else value) <= set(refusal.neutral):
                yield f"--{name} cannot be honoured: {refusal.instead}; leave the flag out"


def _unknown(name: str) -> str:
    hint = did_you_mean(name.lstrip("-"), [*OWN_OPTIONS, *find_flags()])
    return f"no option {name}{hint} (own options: `plaudit train --help`; OpenRLHF's flags are taken as well)"


def _choice(what: str, values: _Values, choices: dict[str, str]) -> str:
    given = values.get(what)
    if given not in choices:
        flag, hint = COMPUTED[what][0], did_you_mean(given, choices)
        raise InvalidSettings(f"--{flag} {given} cannot be honoured{hint} (there is {', '.join(choices)})")
    return choices[given]


def _number(flag: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidSettings(f"--{flag} takes a number, got {text!r}") from None


def _plain(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
