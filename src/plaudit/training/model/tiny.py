"""The embedded default model: a Llama of about 135,000 parameters that reads characters, made on the spot.

It knows nothing when it is made. `warm_start` shows it a few correct responses, so that sampling meets a right one now
and then and reinforcement has something to reinforce.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from plaudit.errors import DataError, require
from plaudit.training.model.policy import Policy, TokenBatch
from plaudit.trajectory import Trajectory

__all__ = ["WarmStart", "character_tokenizer", "tiny_policy", "warm_start"]

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


@dataclass(frozen=True, slots=True)
class WarmStart:
    """How the supervised beginning runs."""

    steps: int = 60
    batch_size: int = 64
    learning_rate: float = 3e-3
    seed: int = 0


def warm_start(
    policy: Policy,
    demonstrations: Sequence[Trajectory],
    settings: WarmStart | None = None,
    *,
    on_step: Callable[[int, float], None] | None = None,
) -> float:
    """Teach the responses of `demonstrations`, and give the loss of the last step; `on_step` hears each of them."""
    settings = settings or WarmStart()
    if not demonstrations:
        raise DataError("there are no demonstrations to learn from; give some, or set warm-start steps to 0")
    chance = torch.Generator().manual_seed(settings.seed)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=settings.learning_rate)
    loss = float("nan")
    for step in range(settings.steps):
        picked = torch.randint(len(demonstrations), (settings.batch_size,), generator=chance).tolist()
        loss = _learn(policy, policy.demonstrated([demonstrations[place] for place in picked]), optimizer)
        if on_step is not None:
            on_step(step, loss)
    return loss


def _learn(policy: Policy, batch: TokenBatch, optimizer: torch.optim.Optimizer) -> float:
    optimizer.zero_grad()
    loss = -policy.logprobs(batch).logprobs_B_T.sum() / batch.mask_B_T.sum()
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())


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
