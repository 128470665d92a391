"""Fit a model to preference pairs with TRL's RewardTrainer.

The loss is Bradley and Terry's: -log σ(reward of the chosen - reward of the rejected). Pairs are tokenized here and not
by TRL, so that training reads exactly what `RewardModel` reads later.
"""

import dataclasses
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset, disable_progress_bars, enable_progress_bars

from plaudit.errors import (
    DataError,
    InvalidSettings,
    InvalidTrajectory,
    PolicyError,
    TrainingError,
    require,
)
from plaudit.models.cpu_precision import usable_dtype
from plaudit.models.inputs import FORMATS
from plaudit.models.loading import choose_device, load_model, silence_transformers
from plaudit.models.locating import first_line, locate_model
from plaudit.training.config.schema import EMBEDDED
from plaudit.training.config.trl_arguments import check_trl_keys
from plaudit.training.engine import Progress, StopSignals
from plaudit.training.model.loading import add_adapters, load_policy
from plaudit.training.reward_model.pair import PreferencePair
from plaudit.training.reward_model.settings import ClassifierConfig, RewardModelConfig
from plaudit.trajectory import Trajectory

transformers = require("transformers", extra="train", purpose="training a reward model")

PLAIN_TEMPLATE = (
    "{% for message in messages %}"
    "{{ message['content'] if message['content'] is string else message['content'] | map(attribute='text') | join }}"
    "{{ eos_token if message['role'] == 'assistant' else '\\n' }}"
    "{% endfor %}"
)
"""The prompt, a line break, the response, and the end-of-text token."""
HEAD = "ForSequenceClassification"


@dataclass(frozen=True, slots=True)
class Classifier:
    """A model that rates conversations by one number; `longest` is how many tokens it reads."""

    model: Any
    tokenizer: Any
    longest: int

    def encode(self, samples: Sequence[Trajectory]) -> list[list[int]]:
        """The tokens of whole conversations, without a limit on their number."""
        try:
            texts = [FORMATS["chat"](self.tokenizer, sample) for sample in samples]
        except InvalidTrajectory as error:
            raise PolicyError(f"{error}; take another model, or leave such pairs out") from error
        return [list(ids) for ids in self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]]

    def with_lora(self, settings: ClassifierConfig, seed: int) -> "Classifier":
        """Fresh adapters, which are all that is trained besides the head."""
        return Classifier(add_adapters(self.model, settings, seed, task="SEQ_CLS"), self.tokenizer, self.longest)

    def save(self, folder: Path) -> None:
        """Write model and tokenizer as a folder that transformers and `RewardModel` load; adapters are built in."""
        model = self.model.merge_and_unload() if hasattr(self.model, "merge_and_unload") else self.model
        with silence_transformers():
            model.save_pretrained(str(folder), safe_serialization=True)
            self.tokenizer.save_pretrained(str(folder))


def load_classifier(settings: ClassifierConfig, *, seed: int) -> Classifier:
    """The model that the settings name, with a head of one output; a new head starts from the seed."""
    device, spec = choose_device(settings.device), settings.path or EMBEDDED
    with torch.random.fork_rng(devices=[]), silence_transformers():
        torch.manual_seed(seed)
        model, tokenizer = _load_classification_model(spec) or _add_head(spec, seed)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    if not tokenizer.chat_template:
        tokenizer.chat_template = PLAIN_TEMPLATE
    longest = _limit_tokens(model, tokenizer, settings.max_tokens, embedded=spec == EMBEDDED)
    classifier = Classifier(model.to(device=device, dtype=torch.float32), tokenizer, longest)
    return classifier.with_lora(settings, seed) if settings.lora_rank else classifier


def _add_head(spec: str, seed: int) -> tuple[Any, Any]:
    """The body of a language model under a new head."""
    policy = load_policy(spec, seed=seed)
    if policy.is_lora:
        policy = policy.merge_adapters()
    config = policy.model.config
    config.num_labels = 1
    try:
        model = transformers.AutoModelForSequenceClassification.from_config(config)
    except ValueError as error:
        raise PolicyError(f"{spec} cannot become a reward model: {first_line(error)}") from error
    model.base_model.load_state_dict(policy.model.base_model.state_dict())
    return model, policy.tokenizer


def _load_classification_model(spec: str) -> tuple[Any, Any] | None:
    """A classifier, which is trained further; None where the model is a language model."""
    if spec == EMBEDDED or not (Path(spec) / "config.json").is_file():
        return None
    folder = locate_model(spec, purpose=_PURPOSE)
    if not any(str(name).endswith(HEAD) for name in folder.config.get("architectures") or ()):
        return None
    loaded = load_model(folder, "AutoModelForSequenceClassification", device="cpu")
    if loaded.model.config.num_labels != 1:
        raise PolicyError(
            f"{spec} has {loaded.model.config.num_labels} outputs, and a reward model has one; "
            "give a language model or a reward model"
        )
    return loaded.model, loaded.tokenizer


def _limit_tokens(model: Any, tokenizer: Any, wanted: int, *, embedded: bool) -> int:
    """The largest number of tokens of a conversation, now and later; the embedded model's positions have no weights."""
    config = model.config.get_text_config()
    if embedded:
        config.max_position_embeddings = wanted
    longest = min(wanted, int(getattr(config, "max_position_embeddings", None) or wanted))
    tokenizer.model_max_length = longest
    return longest


_PURPOSE = "training a reward model"
reward_config = require("trl.trainer.reward_config", extra="trl", purpose=_PURPOSE)
reward_trainer = require("trl.trainer.reward_trainer", extra="trl", purpose=_PURPOSE)

LOGGED = {
    "loss": "loss", "accuracy": "accuracy", "margin": "margin", "mean_reward": "reward", "grad_norm": "grad_norm",
    "learning_rate": "lr",
}  # fmt: skip
"""TRL's names of logged metrics, and ours."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The trained model, and how it came about."""

    classifier: Classifier
    steps: int
    metrics: list[dict[str, float]]
    stopped_by: str | None


def fit(config: RewardModelConfig, pairs: Sequence[PreferencePair], scratch: Path, progress: Progress) -> Fitted:
    """Train with the config; SIGTERM and Ctrl-C end it after the current step."""
    known = {field.name for field in dataclasses.fields(reward_config.RewardConfig)}
    check_trl_keys(config.trl, known, dict.fromkeys(_own_arguments(config, 1, Path()), ""))
    torch.set_num_threads(config.model.threads)
    classifier = load_classifier(config.model, seed=config.seed)
    examples = encode_pairs(classifier, pairs, config, progress)
    tokens = sum(len(each["chosen_ids"]) + len(each["rejected_ids"]) for each in examples)
    steps = config.count_steps(len(examples), tokens)
    with _quiet(), StopSignals() as stop:
        trainer = reward_trainer.RewardTrainer(
            model=classifier.model,
            args=_arguments(config, steps, scratch),
            train_dataset=Dataset.from_list(examples),
            processing_class=classifier.tokenizer,
        )
        trainer.remove_callback(transformers.PrinterCallback)
        callback = _Callback(steps, progress, stop)
        trainer.add_callback(callback)
        trainer.train()
    if callback.diverged_at is not None:
        raise TrainingError(
            f"the loss or its gradient is not a number at step {callback.diverged_at}: the training diverged; "
            f"lower training.lr, which is {config.lr:g}"
        )
    return Fitted(classifier, trainer.state.global_step, callback.metrics, callback.stopped_by)


def encode_pairs(
    classifier: Classifier, pairs: Sequence[PreferencePair], config: RewardModelConfig, progress: Progress
) -> list[dict[str, Any]]:
    """The tokenized pairs as TRL takes them; pairs without a learning signal are left out, with a note."""
    chosen = classifier.encode([pair.chosen for pair in pairs])
    rejected = classifier.encode([pair.rejected for pair in pairs])
    longest, leave_out = classifier.longest, config.data.too_long == "skip"
    examples: list[dict[str, Any]] = []
    long = same = 0
    for better, worse in zip(chosen, rejected, strict=True):
        is_long = max(len(better), len(worse)) > longest
        long += is_long
        if is_long and leave_out:
            continue
        example: dict[str, Any] = {"chosen_ids": better[-longest:], "rejected_ids": worse[-longest:]}
        if example["chosen_ids"] == example["rejected_ids"]:
            same += 1
            continue
        examples.append(example)
    if long:
        what = "they" if leave_out else "their beginnings"
        progress.note(
            f"{long:,} of {len(pairs):,} pairs are longer than {longest} tokens (model.max_tokens): {what} are left out"
        )
    if same:
        progress.note(
            f"left out {same:,} {'pair' if same == 1 else 'pairs'} whose sides are the same to the model's tokenizer"
        )
    if not examples:
        raise DataError("no pair is left to train on; see the notes above for what was left out")
    return examples


def _arguments(config: RewardModelConfig, steps: int, scratch: Path) -> Any:
    try:
        return reward_config.RewardConfig(**_own_arguments(config, steps, scratch), **config.trl)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InvalidSettings(f"TRL refuses these settings: {error}") from error


def _own_arguments(config: RewardModelConfig, steps: int, scratch: Path) -> dict[str, Any]:
    training = config.training
    return {
        "output_dir": str(scratch),
        "max_steps": steps,
        "per_device_train_batch_size": training.batch_size // training.gradient_accumulation,
        "gradient_accumulation_steps": training.gradient_accumulation,
        "learning_rate": config.lr,
        "lr_scheduler_type": training.schedule,
        "warmup_steps": round(training.warmup_share * steps),
        "weight_decay": training.weight_decay,
        "max_grad_norm": training.max_grad_norm,
        "center_rewards_coefficient": training.center or None,
        "seed": config.seed,
        "data_seed": config.seed,
        "use_cpu": config.model.device == "cpu",
        "bf16": usable_dtype(config.model.dtype, config.model.device) == "bfloat16",
        "gradient_checkpointing": config.model.gradient_checkpointing,
        "max_length": None,  # pairs were cut above
        "logging_steps": max(1, steps // 60),
        "logging_nan_inf_filter": False,  # NaN and infinity must appear in the logs
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "dataloader_pin_memory": config.model.device != "cpu",
    }


class _Callback(transformers.TrainerCallback):  # type: ignore[misc,name-defined]  # transformers is not read by the type checker
    """Reports each step, keeps the logged metrics, and stops on request."""

    def __init__(self, steps: int, progress: Progress, stop: StopSignals) -> None:
        self.metrics: list[dict[str, float]] = []
        self.stopped_by: str | None = None
        self.diverged_at: int | None = None
        self._steps, self._progress, self._stop = steps, progress, stop

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs is not None and "loss" in logs:  # not the summary at the end
            logged = {ours: float(logs[theirs]) for theirs, ours in LOGGED.items() if theirs in logs}
            if all(map(math.isfinite, logged.values())):
                self.metrics.append({"step": state.global_step, **logged})
            else:
                self.diverged_at = state.global_step
                control.should_training_stop = True

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        newest = self.metrics[-1] if self.metrics else {}
        self._progress.step(state.global_step, {**newest, "steps": self._steps})
        if self._stop.requested_by is not None and state.global_step < self._steps:
            self.stopped_by = self._stop.requested_by
            control.should_training_stop = True


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide other libraries' progress bars, and advice on tokenizers that this code follows already."""
    disable_progress_bars()
    try:
        with silence_transformers(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        enable_progress_bars()
