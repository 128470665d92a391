"""Images that podman or docker builds or pulls: their root file systems become bases of our workspaces.

The engine runs no phase of a trial, so what a hostile agent cannot do is the same with and without one. Root file
systems are kept by the id of their image in the user's cache folder.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.harbor.dockerfile import CannotRun, ImageConfig

ENGINES = ("podman", "docker")


def take_image(
    engine: str, context: Path, name: str | None, *, network: bool, seconds: float
) -> tuple[Path, ImageConfig]:
    """The root file system and settings of the folder's Dockerfile, or of a named image where there is none."""
    if shutil.which(engine) is None:
        raise InvalidSettings(f"{engine} is not installed here; install it (apt install {engine}), or leave it out")
    if (context / "Dockerfile").is_file():
        with tempfile.TemporaryDirectory() as folder:  # docker removes an existing file before it builds
            written = Path(folder, "image")
            isolation = [] if network else ["--network", "none"]
            _call([engine, "build", "--iidfile", str(written), *isolation, str(context)], seconds)
            image = written.read_text().strip()
    else:
        image = str(name)
        if _run([engine, "image", "inspect", image], seconds).returncode:
            _call([engine, "pull", image], seconds)
    [about] = json.loads(_call([engine, "image", "inspect", image], seconds))
    root = _cache_folder() / about["Id"].removeprefix("sha256:")
    if not root.is_dir():
        _unpack(engine, about["Id"], root, seconds)
    return root, _read_config(about.get("Config") or {})


def _cache_folder() -> Path:
    """The folder of the root file systems; no other user may enter it, since images have setuid programs."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "plaudit", "images")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def _unpack(engine: str, image: str, root: Path, seconds: float) -> None:
    """Write the files of an image into a new folder, which appears when it is complete."""
    container = _call([engine, "create", image, "true"], seconds).strip()
    partial = Path(tempfile.mkdtemp(prefix=f"{root.name[:12]}-partial-", dir=root.parent))
    try:
        archive = partial / "root.tar"
        _call([engine, "export", "--output", str(archive), container], seconds)
        (partial / "root").mkdir()
        _call(["tar", "-C", str(partial / "root"), "--numeric-owner", "-xpf", str(archive)], seconds)
        (partial / "root").rename(root)
    except OSError as error:
        if not root.is_dir():  # else another process unpacked the same image
            raise CannotRun(f"the image {image} cannot be unpacked into {root}: {error}") from error
    finally:
        _run([engine, "rm", container], seconds)
        shutil.rmtree(partial, ignore_errors=True)


def _read_config(config: dict[str, Any]) -> ImageConfig:
    env = dict(each.partition("=")[::2] for each in config.get("Env") or ())
    user = str(config.get("User") or "").partition(":")[0]
    return ImageConfig(workdir=config.get("WorkingDir") or "/", user=user or None, env=env)


def _call(command: list[str], seconds: float) -> str:
    done = _run(command, seconds)
    if done.returncode:
        last = "; ".join((done.stderr or done.stdout).strip().splitlines()[-2:])
        raise CannotRun(f"{' '.join(command[:2])} failed: {last[:300]}")
    return done.stdout


def _run(command: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{' '.join(command[:2])} took more than {seconds:g} s") from None
