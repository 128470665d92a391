"""Tokenizers that differ in what goes wrong when texts are encoded again."""

from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from plaudit.models.locating import locate_model
from plaudit.training.model.loading import character_tokenizer

TEXTS = ["6 x 7? = 41 The answer is: 42\n\n[INCORRECT] Try again. Think step-by-step:\n\n\nAssistant: "] * 3


@cache
def tokenizer_of(kind: str) -> Any:
    """The tokenizer of that kind."""
    return {"character": character_tokenizer, "leading_space": _leading_space, "smollm2": _smollm2}[kind]()


def _smollm2() -> Any:
    """The BPE of a real chat model, with its chat template; its unpacked copy loads thirty times as fast."""
    return AutoTokenizer.from_pretrained(locate_model("smollm2", purpose="the tests").path)


def _leading_space() -> Any:
    """As SentencePiece in Llama 2: every text that is encoded gets a space before it, and decoding takes it away."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace("\n", "¶")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("¶", "\n"), decoders.Metaspace(prepend_scheme="always")])
    letters = sorted({character for text in TEXTS for character in text.replace("\n", "¶")} | {"▁"} | set("0123456789"))
    trainer = trainers.BpeTrainer(
        vocab_size=140, special_tokens=["<unk>", "</s>"], initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", clean_up_tokenization_spaces=False
    )
