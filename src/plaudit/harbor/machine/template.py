"""The process that holds an image and starts workspaces from it.

It has a mount namespace of its own, in which a tmpfs holds the image: what the Dockerfile changed, a folder per layer,
above the read-only base. Nothing is written to the disk, so everything is gone when this process and the workspaces
have ended; and they end when their sockets are closed, however that happens.

Started by root, it maps the users of a workspace to numbers that no user of the machine or of another image has, so
that they do not share what the kernel counts per user. Started by another user, a workspace has this one user as root.
"""

import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

from plaudit.harbor.machine import kernel
from plaudit.harbor.machine.host_base import make_skeleton, read_etc, system_trees
from plaudit.harbor.machine.instance import Layer, Setup, limits_of, serve
from plaudit.harbor.machine.wire import send

STAGE = "/tmp"  # covered by our tmpfs in the mount namespace of this process; nothing is created in the real one
FIRST_USER, USERS, RANGES = 1_900_000_000, 65_536, 32_768
ALL_USERS = ["0", "0", "4294967295"]


def main(control: int) -> None:
    """Make the image's namespaces, then start a workspace for every request until the socket is closed."""
    channel = socket.socket(fileno=control)
    settings = json.loads(channel.recv(1 << 16) or b"null")
    if settings is None:
        return
    try:
        holder = _Holder(settings)
    except OSError as error:
        channel.send(json.dumps({"error": str(error)}).encode())
        return
    channel.send(b"{}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the workspaces
    while True:
        message, descriptors, *_ = socket.recv_fds(channel, 1 << 16, 1)
        if not message:
            return
        if os.fork() == 0:
            channel.close()
            holder.start(socket.socket(fileno=descriptors[0]), json.loads(message))
        os.close(descriptors[0])


class _Holder:
    """The namespaces and mounts that all workspaces of an image share."""

    def __init__(self, settings: dict[str, Any]) -> None:
        # Root of a container has euid 0 as well, but no other users to give to a workspace.
        self.is_root = os.geteuid() == 0 and Path("/proc/self/uid_map").read_text().split() == ALL_USERS
        is_host = settings["base"] is None
        paths = system_trees() if is_host else {"": settings["base"]}
        etc = read_etc() if is_host else {}
        self.first_user = FIRST_USER + USERS * (os.getpid() % RANGES)
        self.user_namespace = _map_users(self.first_user) if self.is_root else None
        if not self.is_root:
            kernel.become_root(os.geteuid(), os.getegid())
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
        trees = {at: kernel.clone_tree(path, self.user_namespace) for at, path in paths.items()}
        self.owner = f",uid={self.first_user},gid={self.first_user}" if self.is_root else ""
        kernel.mount(
            "tmpfs", STAGE, "tmpfs", kernel.MS_NODEV, f"mode=755,{limits_of(settings['image_mb'])}{self.owner}"
        )
        self.layers = [_make_layer(index, at, trees.get(at)) for index, at in enumerate(sorted({"", *trees}))]
        if is_host:
            root = Path(self.layers[0].image)
            make_skeleton(root, etc)
            for layer in self.layers:
                (root / layer.at).mkdir(parents=True, exist_ok=True)
            if settings["hides_local"]:
                self._hide_local()
        else:
            _add_mount_points(self.layers[0])
        if self.is_root:
            for layer in self.layers:
                _give_to_workspace(layer.image, self.first_user)

    def _hide_local(self) -> None:
        """An empty /usr/local in place of the machine's."""
        for usr in (Path(layer.image) for layer in self.layers if layer.at == "usr"):
            for name in ("bin", "etc", "include", "lib", "sbin", "share", "src"):
                (usr / "local" / name).mkdir(parents=True)
            os.setxattr(usr / "local", "trusted.overlay.opaque" if self.is_root else "user.overlay.opaque", b"y")

    def start(self, channel: socket.socket, request: dict[str, Any]) -> None:
        """In a new process: become the parent of a workspace's first process, and end with it."""
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            kernel.die_with_parent()
            network = 0 if request["network"] else kernel.CLONE_NEWNET
            divided = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC
            kernel.unshare(divided | network)
            child = os.fork()
            if child == 0:
                kernel.die_with_parent()
                serve(channel, Setup(STAGE, self.layers, self.user_namespace, self.owner, **request))
            channel.close()
            os.waitpid(child, 0)
        except OSError as error:
            send(channel, {"error": str(error)})
        finally:
            os._exit(0)


def _make_layer(index: int, at: str, tree: int | None) -> Layer:
    folder = f"{STAGE}/layers/{index}"
    for name in ("base", "image", "work"):
        os.makedirs(f"{folder}/{name}")
    if tree is not None:
        kernel.attach_tree(tree, f"{folder}/base")
    return Layer(at, f"{folder}/base", f"{folder}/image", f"{folder}/work")


def _add_mount_points(layer: Layer) -> None:
    """The folders that container engines add where an image lacks them."""
    for name, mode in {"dev": 0o755, "proc": 0o755, "tmp": 0o1777}.items():
        if not os.path.lexists(f"{layer.base}/{name}"):
            os.mkdir(f"{layer.image}/{name}")
            os.chmod(f"{layer.image}/{name}", mode)


def _give_to_workspace(folder: str, user: int) -> None:
    for parent, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.lchown(os.path.join(parent, name), user, user)


def _map_users(first: int) -> int:
    """A user namespace with users that exist nowhere else on the machine."""
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            kernel.become_user_with_rights(first)  # the kernel counts what they use for the maker of a namespace too
            kernel.unshare(kernel.CLONE_NEWUSER)
            os.write(go, b"1")
            signal.pause()
        finally:
            os._exit(1)
    os.close(go)
    is_made = os.read(ready, 1)
    os.close(ready)
    try:
        if not is_made:
            raise OSError("user namespaces are not available here")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(f"0 {first} {USERS}")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
