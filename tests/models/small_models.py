"""Real models that are made in milliseconds: a few thousand weights, saved as any other model is."""

from pathlib import Path
from typing import Any

import torch
import transformers

from plaudit.training.model.loading import character_tokenizer

TEMPLATE = "{% for message in messages %}[{{ message.role }}]{{ message.content }}<end>{% endfor %}"
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def tokenizer_with(template: str | None = TEMPLATE) -> Any:
    tokenizer = character_tokenizer()
    tokenizer.chat_template = template
    return tokenizer


def save_llama(folder: Path, head: str, *, seed: int = 0, template: str | None = TEMPLATE, **settings: Any) -> Path:
    """A small Llama with a head such as "LlamaForSequenceClassification", and its tokenizer, in a folder."""
    tokenizer = tokenizer_with(template)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=256,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.2,
        **{**SIZES, "num_labels": 1, **settings},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = getattr(transformers, head)(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_reward_model(folder: Path, **settings: Any) -> Path:
    return save_llama(folder, "LlamaForSequenceClassification", **settings)
