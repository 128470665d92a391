"""The model that becomes a reward model: a language model whose head gives one number, and its tokenizer.

Conversations are written by the tokenizer's chat template, exactly as `plaudit.models.RewardModel` writes them later; a
tokenizer without one is given a plain one, which is saved with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from plaudit.errors import InvalidTrajectory, PolicyError, require
from plaudit.models.inputs import FORMATS
from plaudit.training.model.loading import DTYPES, EMBEDDED, LoraSettings, add_adapters, check_device, load_policy
from plaudit.training.model.policy import hide_progress_bars
from plaudit.training.reward_model.settings import ClassifierConfig
from plaudit.trajectory import Trajectory

__all__ = ["PLAIN_TEMPLATE", "Classifier", "load_classifier"]

transformers = require("transformers", extra="train", purpose="training a reward model")

PLAIN_TEMPLATE = (
    "{% for message in messages %}"
    "{{ message['content'] if message['content'] is string else message['content'] | map(attribute='text') | join }}"
    "{{ eos_token if message['role'] == 'assistant' else '\\n' }}"
    "{% endfor %}"
)
"""What was asked, a line break, what was answered, and the token that ends texts."""
HEAD = "ForSequenceClassification"


@dataclass(frozen=True, slots=True)
class Classifier:
    """A model that rates conversations by one number; `longest` is how many tokens it reads."""

    model: Any
    tokenizer: Any
    longest: int

    def encode(self, samples: Sequence[Trajectory]) -> list[list[int]]:
        """The tokens of whole conversations, however many."""
        try:
            texts = [FORMATS["chat"].write(self.tokenizer, sample) for sample in samples]
        except InvalidTrajectory as error:
            raise PolicyError(f"{error}; take another model, or leave such pairs out") from error
        return [list(ids) for ids in self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]]

    def with_lora(self, settings: LoraSettings, seed: int) -> "Classifier":
        """Fresh adapters, which are all that is trained besides the head."""
        return Classifier(add_adapters(self.model, settings, seed, task="SEQ_CLS"), self.tokenizer, self.longest)

    def save(self, folder: Path) -> None:
        """Write model and tokenizer as a folder that transformers and `RewardModel` load; adapters are built in."""
        model = self.model.merge_and_unload() if hasattr(self.model, "merge_and_unload") else self.model
        with hide_progress_bars():
            model.save_pretrained(str(folder), safe_serialization=True)
            self.tokenizer.save_pretrained(str(folder))


def load_classifier(settings: ClassifierConfig, *, seed: int) -> Classifier:
    """The model that the settings name, with a head of one output; a head that is new starts from the seed."""
    check_device(settings.device)
    spec = settings.path or "tiny"
    with torch.random.fork_rng(devices=[]), hide_progress_bars():
        torch.manual_seed(seed)
        model, tokenizer = _from_folder(spec) if _rates_already(spec) else _from_policy(spec, seed)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    if not tokenizer.chat_template:
        tokenizer.chat_template = PLAIN_TEMPLATE
    longest = _limit_tokens(model, tokenizer, settings.max_tokens, embedded=spec == "tiny")
    classifier = Classifier(model.to(device=settings.device, dtype=DTYPES["float32"]), tokenizer, longest)
    if not settings.lora_rank:
        return classifier
    return classifier.with_lora(LoraSettings(settings.lora_rank, settings.lora_alpha, settings.lora_targets), seed)


def _from_policy(spec: str, seed: int) -> tuple[Any, Any]:
    """The body of a language model under a fresh head."""
    policy = load_policy(spec, seed=seed)
    if policy.is_lora:
        policy = policy.merge_adapters()
    config = policy.model.config
    config.num_labels = 1
    try:
        model = transformers.AutoModelForSequenceClassification.from_config(config)
    except ValueError as error:
        raise PolicyError(f"{spec} cannot become a reward model: {str(error).partition(chr(10))[0]}") from error
    model.base_model.load_state_dict(policy.model.base_model.state_dict())
    return model, policy.tokenizer


def _rates_already(spec: str) -> bool:
    """Whether a folder holds a classifier, which is trained further."""
    if spec in EMBEDDED or not (Path(spec) / "config.json").is_file():
        return False
    config = transformers.AutoConfig.from_pretrained(spec)
    return any(name.endswith(HEAD) for name in config.architectures or ())


def _from_folder(spec: str) -> tuple[Any, Any]:
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(spec)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(spec)
    except (OSError, ValueError) as error:
        raise PolicyError(f"cannot load the model {spec!r}: {str(error).strip().partition(chr(10))[0]}") from error
    if model.config.num_labels != 1:
        raise PolicyError(
            f"{spec} tells {model.config.num_labels} labels apart, and a reward model has one output; "
            "give a language model or a reward model"
        )
    return model, tokenizer


def _limit_tokens(model: Any, tokenizer: Any, wanted: int, *, embedded: bool) -> int:
    """How many tokens of a conversation are read, now and later; the embedded model's positions have no weights."""
    config = model.config.get_text_config()
    if embedded:
        config.max_position_embeddings = wanted
    longest = min(wanted, int(getattr(config, "max_position_embeddings", None) or wanted))
    tokenizer.model_max_length = longest
    return longest
