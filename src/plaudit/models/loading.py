"""Load a model of transformers: the one place that chooses device and dtype, for rewards and for training.

`loaded_model` keeps what it loads: rewards that name the same model share it. The registry is cleared after a fork,
because the threads of torch do not survive it.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from plaudit.errors import InvalidSettings, PlauditError, ScoringFailed, require
from plaudit.models.cpu_precision import import_torch, usable_dtype
from plaudit.models.locating import ModelFolder, first_line
from plaudit.settings import check_choice

DTYPES = ("float32", "bfloat16", "float16", "auto")
_PURPOSE = "a model as a reward"


@dataclass(frozen=True, slots=True)
class ModelKey:
    """The key by which rewards share a model: files, head, precision and device."""

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
        """The number of tokens that the model can read; None if nothing limits them."""
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        if positions is not None and getattr(config, "model_type", "") in _OFFSET_POSITIONS:
            positions -= (getattr(config, "pad_token_id", None) or 0) + 1
        trained = getattr(self.tokenizer, "model_max_length", None)
        limits = [limit for limit in (positions, trained) if limit is not None and 0 < limit < _NO_LIMIT]
        return min(limits, default=None)


_OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "longformer", "mpnet"}
_NO_LIMIT = 10**9  # tokenizers without a limit have 10**30

_loaded: dict[ModelKey, LoadedModel] = {}
_lock = threading.RLock()


def loaded_model(key: ModelKey) -> LoadedModel:
    """The model of a key, loaded at the first call."""
    loaded = _loaded.get(key)
    if loaded is None:
        with _lock:
            loaded = _loaded.get(key) or _loaded.setdefault(key, _load(key))
    return loaded


def unload_model(key: ModelKey) -> bool:
    """Free the memory of a model; the next use loads it again. False if it was not loaded."""
    with _lock:
        loaded = _loaded.pop(key, None)
    if loaded is None:
        return False
    if loaded.device.startswith("cuda"):
        torch: Any = import_torch(extra="models", purpose=_PURPOSE)
        loaded.model.to("cpu")
        torch.cuda.empty_cache()
    return True


def loaded_names() -> list[str]:
    """The names of the models that are in memory now."""
    return [key.folder.name for key in _loaded]


def check_placement(dtype: str, device: str) -> None:
    """Raise InvalidSettings for an unknown dtype, or a device of an unknown kind; torch is not imported."""
    check_choice("dtype", dtype, DTYPES)
    if not isinstance(device, str) or device.partition(":")[0] not in DEVICES:
        raise InvalidSettings(f"no device {device!r}: take auto, cpu, cuda, cuda:1, mps or xpu")


def choose_device(device: str) -> str:
    """The device to use: for "auto" the first accelerator, else the named one, which this machine must have."""
    torch: Any = import_torch(extra="models", purpose=_PURPOSE)
    available: dict[str, Callable[[], bool]] = {
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
        "xpu": torch.xpu.is_available,
        "cpu": lambda: True,
    }
    if device == "auto":
        return next(kind for kind, is_available in available.items() if is_available())
    kind = device.partition(":")[0]
    if kind not in available or not available[kind]():
        raise InvalidSettings(f"device={device!r}: torch finds no {kind} device on this machine; take cpu")
    return device


def load_model(
    folder: ModelFolder, head: str = "AutoModelForCausalLM", *, dtype: str = "float32", device: str = "auto"
) -> LoadedModel:
    """The model and tokenizer in a folder, in eval mode; `head` is the class of transformers that loads it.

    Where this CPU cannot compute in bfloat16, the dtype is float32. Weights that are missing are an error.
    """
    check_placement(dtype, device)
    torch: Any = import_torch(extra="models", purpose=_PURPOSE)
    transformers: Any = require("transformers", extra="models", purpose=_PURPOSE)
    unreadable: Any = require("safetensors", extra="models", purpose=_PURPOSE).SafetensorError
    device = choose_device(device)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder.path, local_files_only=True)
        with silence_transformers():
            model, report = getattr(transformers, head).from_pretrained(
                folder.path,
                dtype=dtype if dtype == "auto" else getattr(torch, dtype),
                local_files_only=True,
                output_loading_info=True,
            )
    except (*_LOADING_ERRORS, unreadable) as error:
        if isinstance(error, PlauditError) or is_out_of_memory(error):
            raise
        raise InvalidSettings(f"the model {folder.name!r} cannot be loaded: {first_line(error)}") from error
    _require_complete(folder.name, sorted(key for key in report["missing_keys"] if not key.startswith("pooler.")))
    _set_padding(model, tokenizer)
    usable = getattr(torch, usable_dtype(str(model.dtype).removeprefix("torch."), device))
    return LoadedModel(_place(model.eval().to(usable), device, folder.name), tokenizer, device)


DEVICES = ("auto", "cpu", "cuda", "mps", "xpu")
_LOADING_ERRORS = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, ImportError)


def _load(key: ModelKey) -> LoadedModel:
    return load_model(key.folder, key.head, dtype=key.dtype, device=key.device)


def _place(model: Any, device: str, name: str) -> Any:
    try:
        return model.to(device)
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise MemoryError(
                f"the model {name!r} does not fit into the memory of {device}; take dtype='bfloat16', a smaller model "
                "or another device"
            ) from error
        raise ScoringFailed(f"the model {name!r} cannot be put on {device}: {first_line(error)}") from error


def _require_complete(name: str, missing: list[str]) -> None:
    """Refuse weights that transformers would initialise at random: a head that was never trained."""
    if missing:
        listed = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise InvalidSettings(
            f"the weights of {name!r} lack {listed}; transformers would initialise them at random, and the outputs "
            "would mean nothing. Take a model that was trained for this"
        )


def _set_padding(model: Any, tokenizer: Any) -> None:
    """Batches need a padding token; models without one use the end-of-text token, which the mask hides."""
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if getattr(model.config, "pad_token_id", None) is None:
        model.config.pad_token_id = tokenizer.pad_token_id


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, which torch reports in several ways."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and (type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error))
    )


@contextlib.contextmanager
def silence_transformers() -> Iterator[None]:
    """Keep transformers from drawing progress bars and printing reports."""
    logging: Any = require("transformers", extra="models", purpose=_PURPOSE).utils.logging
    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()


def _forget() -> None:
    global _lock
    _lock = threading.RLock()
    _loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
