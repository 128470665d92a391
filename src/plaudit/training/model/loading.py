"""The policy that a name leads to: the embedded model, or a model that `plaudit.models` loads; with LoRA adapters."""

import string
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from plaudit.errors import PolicyError, require
from plaudit.models.cpu_precision import usable_dtype
from plaudit.models.loading import check_placement, choose_device, load_model
from plaudit.models.locating import locate_model
from plaudit.training.config.schema import EMBEDDED, BaseModelConfig
from plaudit.training.model.policy import Policy

transformers = require("transformers", extra="train", purpose="training")

ADAPTER = "adapter_config.json"


def load_policy(spec: str | Path, *, seed: int = 0, dtype: str = "float32", device: str = "cpu") -> Policy:
    """The policy that `spec` names: "tiny", "smollm2", a folder, a `.gguf` file, or a model on the hub.

    A folder that holds a LoRA adapter is loaded on top of the model it was trained on.
    """
    check_placement(dtype, device)
    return _load(str(spec), seed, dtype, choose_device(device))


def add_lora(policy: Policy, settings: BaseModelConfig, *, seed: int = 0) -> Policy:
    """The policy with new adapters of rank `lora_rank` (Hu et al. 2021), which are all that is trained."""
    return Policy(add_adapters(policy.model, settings, seed, task="CAUSAL_LM"), policy.tokenizer)


def add_adapters(model: Any, settings: BaseModelConfig, seed: int, *, task: str) -> Any:
    """A model of transformers with new adapters; `task` is what peft calls its kind."""
    peft = require("peft", extra="train", purpose="training with LoRA")
    targets = list(settings.lora_targets) or "all-linear"
    rank, alpha = settings.lora_rank, settings.lora_alpha
    config = peft.LoraConfig(task_type=task, r=rank, lora_alpha=alpha, target_modules=targets)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return peft.get_peft_model(model, config)
        except ValueError as error:
            raise PolicyError(f"LoRA does not fit this model: {error}") from error


def _load(spec: str, seed: int, dtype: str, device: str) -> Policy:
    path = Path(spec)
    if spec == EMBEDDED:
        policy = tiny_policy(seed)
        policy.model.to(device=device, dtype=getattr(torch, usable_dtype(dtype, device)))
        return policy
    if (path / ADAPTER).is_file():
        return _load_adapter(path, seed, dtype, device)
    loaded = load_model(locate_model(spec, purpose="training", download=True), dtype=dtype, device=device)
    loaded.model.name_or_path = str(path.absolute()) if path.exists() else spec  # an adapter names its model by this
    return Policy(loaded.model, loaded.tokenizer)


def _load_adapter(folder: Path, seed: int, dtype: str, device: str) -> Policy:
    peft = require("peft", extra="train", purpose="loading a LoRA adapter")
    base = peft.PeftConfig.from_pretrained(str(folder)).base_model_name_or_path
    if not base:
        raise PolicyError(f"{folder} is a LoRA adapter that names no base model; load that model and use peft")
    policy = _load(base, seed, dtype, device)
    return Policy(peft.PeftModel.from_pretrained(policy.model, str(folder), is_trainable=True), policy.tokenizer)


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
    vocabulary = {token: index for index, token in enumerate([PAD, END, UNKNOWN, *CHARACTERS])}
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
