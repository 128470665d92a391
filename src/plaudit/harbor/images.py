"""The image of a task: its Dockerfile carried out above a base, once, for all trials of the task."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from plaudit.harbor.dockerfile import CannotRun, ImageConfig, build, read_dockerfile
from plaudit.harbor.engines import take_image
from plaudit.harbor.task import Task
from plaudit.harbor.workspace import PATH, HostImage, Workspace, pack

__all__ = ["CannotRun", "Runtime", "TaskImage", "build_image"]

KNOWN_BASE = re.compile(r"(?:docker\.io/)?(?:library/)?(debian|ubuntu|python|buildpack-deps)(?:[:@].*)?")
HOST = "this machine's system folders"


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime of tasks: root file systems by image name, the network, and limits that a task does not set."""

    bases: dict[str, Path] = field(default_factory=dict)
    """Root file systems by the name in FROM; `*` for every other name."""
    network: str = "build"
    """The commands that use the machine's network: none (`none`), RUN instructions (`build`), or all phases too
    (`host`).
    """
    agent_s: float = 600.0
    storage_mb: int = 2048
    engine: str | None = None
    """podman or docker, which then builds or pulls every image."""


@dataclass(slots=True)
class TaskImage:
    """A built image: starts workspaces of the task until it is closed."""

    host: HostImage
    config: ImageConfig
    base_note: str
    runtime: Runtime
    build_s: float

    def workspace(self) -> Workspace:
        """A fresh workspace of the task, with Harbor's folders in it."""
        workspace = self.host.workspace(network=self.runtime.network == "host", storage_mb=self.runtime.storage_mb)
        for name in ("agent", "verifier", "artifacts"):
            workspace.put(pack({}), f"/logs/{name}", mode=0o777)
        return workspace

    def close(self) -> None:
        self.host.close()

    def __enter__(self) -> "TaskImage":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def build_image(task: Task, runtime: Runtime, folder: str = "environment") -> TaskImage:
    """Build `environment/Dockerfile` or another file; raises CannotRun if that is not possible."""
    if obstacle := task.obstacle(takes_images=runtime.engine is not None):
        raise CannotRun(obstacle)
    host, config, note = (_build_by_engine if runtime.engine is not None else _build_here)(task, runtime, folder)
    environment = task.table("environment")
    config.env = {"PATH": PATH, **config.env, **task.env("environment")}
    config.workdir = environment.get("workdir", config.workdir)
    return TaskImage(host, config, note, runtime, 0.0)


def _build_by_engine(task: Task, runtime: Runtime, folder: str) -> tuple[HostImage, ImageConfig, str]:
    engine = str(runtime.engine)
    image = take_image(
        engine,
        task.folder / folder,
        task.table("environment").get("docker_image"),
        network=runtime.network != "none",
        seconds=_build_seconds(task),
    )
    return HostImage(image.root), image.config, f"the image is {engine}'s"


def _build_here(task: Task, runtime: Runtime, folder: str) -> tuple[HostImage, ImageConfig, str]:
    instructions = read_dockerfile((task.folder / folder / "Dockerfile").read_text(encoding="utf-8"))
    name = next(each.text for each in instructions if each.name == "FROM").split(" ")[0]
    base = runtime.bases.get(name, runtime.bases.get(name.partition(":")[0], runtime.bases.get("*")))
    if base is None and not KNOWN_BASE.fullmatch(name):
        raise CannotRun(
            f"no base for the image {name}: Debian, Ubuntu and Python images are replaced by {HOST}; name a root file "
            f"system with --base {name}=DIR, or an engine with --base podman"
        )
    host = HostImage(base)
    try:
        with host.workspace(network=runtime.network != "none", is_build=True) as workspace:
            if base is None and "python" in name:
                workspace.run("ln -s /usr/bin/python3 /usr/local/bin/python; ln -s /usr/bin/pip3 /usr/local/bin/pip")
            config = build(instructions, task.folder / folder, workspace, seconds=_build_seconds(task))
    except BaseException:
        host.close()
        raise
    config.env = {**_python_settings(name, base), **config.env}
    return host, config, f"{name} replaced by {HOST if base is None else base}"


def _build_seconds(task: Task) -> float:
    return float(task.table("environment").get("build_timeout_sec", 600.0))


def _python_settings(name: str, base: Path | None) -> dict[str, str]:
    """Debian's pip needs an option to install into the system; pip of a Python image does not."""
    return (
        {"PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        if base is None and "python" in name
        else {}
    )
