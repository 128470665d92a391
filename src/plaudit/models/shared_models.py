"""Models in memory: loaded when first needed, once per process, shared by all rewards that name the same one.

What a reward holds is only the name. A process that was forked off forgets what its parent had loaded: threads of
torch's do not come along.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from plaudit.errors import InvalidSettings, PlauditError, ScoringFailed, did_you_mean, require
from plaudit.models.cpu_precision import import_torch, usable_dtype
from plaudit.models.locating import ModelFolder

__all__ = [
    "DTYPES",
    "LoadedModel",
    "ModelKey",
    "check_placing",
    "is_out_of_memory",
    "loaded_model",
    "loaded_names",
    "unload_model",
]

DTYPES = ("float32", "bfloat16", "float16", "auto")
_PURPOSE = "a model as a reward"


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What makes two rewards share a model: the same files, head, precision and device."""

    folder: ModelFolder
    head: str
    dtype: str
    device: str


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer on a device; one thread at a time computes with it."""

    model: Any
    tokenizer: Any
    device: str
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def context(self) -> int | None:
        """How many tokens the model can read; None where nothing limits them."""
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        if positions is not None and getattr(config, "model_type", "") in _OFFSET_POSITIONS:
            positions -= (getattr(config, "pad_token_id", None) or 0) + 1
        told = getattr(self.tokenizer, "model_max_length", None)
        limits = [limit for limit in (positions, told) if limit is not None and 0 < limit < _NO_LIMIT]
        return min(limits, default=None)


_OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "longformer", "mpnet"}
_NO_LIMIT = 10**9  # tokenizers that know no limit say 10**30

_loaded: dict[ModelKey, LoadedModel] = {}
_lock = threading.RLock()


def loaded_model(key: ModelKey) -> LoadedModel:
    """The model of a key, loaded now if it is not yet."""
    found = _loaded.get(key)
    if found is None:
        with _lock:
            found = _loaded.get(key) or _loaded.setdefault(key, _load(key))
    return found


def unload_model(key: ModelKey) -> bool:
    """Give the memory of a model back; whoever uses it next loads it again. False where it was not loaded."""
    with _lock:
        found = _loaded.pop(key, None)
    if found is None:
        return False
    if found.device.startswith("cuda"):
        torch: Any = import_torch(extra="models", purpose=_PURPOSE)
        found.model.to("cpu")
        torch.cuda.empty_cache()
    return True


def loaded_names() -> list[str]:
    """The names of the models that are in memory now."""
    return [key.folder.name for key in _loaded]


def check_placing(dtype: str, device: str) -> None:
    """Raise InvalidSettings for a precision that is none, or a device whose name cannot be one."""
    if dtype not in DTYPES:
        raise InvalidSettings(f"no dtype {dtype!r}{did_you_mean(dtype, DTYPES)} (there are {', '.join(DTYPES)})")
    if not isinstance(device, str) or device.partition(":")[0] not in _DEVICES:
        raise InvalidSettings(f"no device {device!r}: take auto, cpu, cuda, cuda:1, mps or xpu")


_DEVICES = ("auto", "cpu", "cuda", "mps", "xpu")


def _load(key: ModelKey) -> LoadedModel:
    torch: Any = import_torch(extra="models", purpose=_PURPOSE)
    transformers: Any = require("transformers", extra="models", purpose=_PURPOSE)
    unreadable: Any = require("safetensors", extra="models", purpose=_PURPOSE).SafetensorError
    name, path = key.folder.name, key.folder.path
    device = _choose_device(torch, key.device)
    dtype = key.dtype if key.dtype == "auto" else getattr(torch, key.dtype)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
        loader = getattr(transformers, key.head)
        with _silence(transformers):
            model, report = loader.from_pretrained(path, dtype=dtype, local_files_only=True, output_loading_info=True)
        missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RuntimeError,
        ImportError,
        unreadable,
    ) as error:
        if isinstance(error, PlauditError) or is_out_of_memory(error):
            raise
        raise InvalidSettings(f"the model {name!r} cannot be loaded: {_first_line(error)}") from error
    _require_complete(name, missing)
    _set_padding(model, tokenizer)
    usable = getattr(torch, usable_dtype(str(model.dtype).removeprefix("torch."), device))
    return LoadedModel(_place(model.eval().to(usable), device, name), tokenizer, device)


def _place(model: Any, device: str, name: str) -> Any:
    try:
        return model.to(device)
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise MemoryError(
                f"the model {name!r} does not fit into the memory of {device}; take dtype='bfloat16', a smaller model "
                "or another device"
            ) from error
        raise ScoringFailed(f"the model {name!r} cannot be put on {device}: {_first_line(error)}") from error


def _require_complete(name: str, missing: list[str]) -> None:
    """Refuse weights that transformers would fill in with chance: a head that was never trained."""
    if missing:
        listed = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise InvalidSettings(
            f"the weights of {name!r} lack {listed}; transformers would fill them in by chance, and the scores would "
            "mean nothing. Take a model that was trained for this"
        )


def _set_padding(model: Any, tokenizer: Any) -> None:
    """Batches need a token to fill up with; models without one use the end of the text, which masks keep out."""
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if getattr(model.config, "pad_token_id", None) is None:
        model.config.pad_token_id = tokenizer.pad_token_id


def _choose_device(torch: Any, device: str) -> str:
    available: dict[str, Callable[[], bool]] = {
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
        "xpu": torch.xpu.is_available,
    }
    if device == "auto":
        return next((kind for kind, is_there in available.items() if is_there()), "cpu")
    kind = device.partition(":")[0]
    if kind != "cpu" and not available[kind]():
        raise InvalidSettings(f"device={device!r}: torch finds no {kind} device on this machine; take cpu")
    return device


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out: torch says so in several ways."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and (type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error))
    )


@contextlib.contextmanager
def _silence(transformers: Any) -> Iterator[None]:
    """Keep transformers from drawing bars and printing reports while it loads."""
    logging = transformers.utils.logging
    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


def _forget() -> None:
    global _lock
    _lock = threading.RLock()
    _loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
