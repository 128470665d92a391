"""The embedded default model: a Llama of about 135,000 parameters that reads characters, made on the spot.

It knows nothing when it is made: `learning.warm_start` shows it a few correct responses first.
"""

import string
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from plaudit.errors import require
from plaudit.training.model.policy import Policy

__all__ = ["character_tokenizer", "tiny_policy"]

transformers = require("transformers", extra="train", purpose="training")

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"
CHARACTERS = string.digits + string.ascii_letters + string.punctuation + " \n"
CONTEXT = 256


def tiny_policy(seed: int = 0) -> Policy:
    """A fresh tiny Llama; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer = character_tokenizer()
        model = transformers.LlamaForCausalLM(_config(tokenizer))
    return Policy(model, tokenizer)


def character_tokenizer() -> Any:
    """One token per printable ASCII character; anything else is unknown."""
    vocabulary = {token: place for place, token in enumerate([PAD, END, UNKNOWN, *CHARACTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )


def _config(tokenizer: Any) -> Any:
    return transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=232,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=CONTEXT,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        tie_word_embeddings=False,
        initializer_range=0.06,  # the usual 0.02 is meant for wide models; this one would learn half as fast
    )
