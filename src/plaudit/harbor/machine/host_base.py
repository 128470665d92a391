"""The machine's own system folders as a base: read-only, without users, homes, host names and secrets."""

import contextlib
import os
from pathlib import Path

Content = bytes | str
"""A file's bytes, or the target of a link."""

SYSTEM_FOLDERS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
STATE_FOLDERS = ("var/lib/dpkg", "var/lib/apt")
ETC = (
    "adduser.conf", "alternatives", "apt/apt.conf.d", "apt/keyrings", "apt/preferences.d", "apt/sources.list",
    "apt/sources.list.d", "apt/trusted.gpg", "apt/trusted.gpg.d", "bash.bashrc", "ca-certificates", "debian_version",
    "default", "deluser.conf", "dpkg", "gai.conf", "host.conf", "issue", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
    "localtime", "login.defs", "magic", "mime.types", "nsswitch.conf", "os-release", "pam.conf", "pam.d", "perl",
    "pip.conf", "profile", "protocols", "python3", "python3.11", "python3.12", "python3.13", "resolv.conf", "security",
    "services", "shells", "skel", "ssl/certs", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
"""The entries of the machine's /etc that a workspace contains."""
FOLDERS = (
    "app", "dev", "etc", "home", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "usr",
    "var/cache/apt/archives/partial", "var/lib", "var/log/apt", "var/tmp",
)  # fmt: skip
PASSWD = """root:x:0:0:root:/root:/bin/bash
daemon:x:1:1::/usr/sbin:/usr/sbin/nologin
nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin
_apt:x:42:65534::/nonexistent:/usr/sbin/nologin
"""
GROUPS = {
    "root": 0, "daemon": 1, "adm": 4, "tty": 5, "mail": 8, "shadow": 42, "staff": 50, "users": 100, "nogroup": 65534,
}  # fmt: skip
TEXTS = {
    "passwd": PASSWD,
    "group": "".join(f"{name}:x:{number}:\n" for name, number in GROUPS.items()),
    "hosts": "127.0.0.1 localhost\n",
    "hostname": "workspace\n",
    "shadow": "root:*:19000:0:99999:7:::\n",
    "gshadow": "root:*::\n",
}


def system_trees() -> dict[str, str]:
    """The folders that lie below an image, by where a workspace has them."""
    folders = [name for name in SYSTEM_FOLDERS if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}")]
    return {name: f"/{name}" for name in (*folders, *(each for each in STATE_FOLDERS if os.path.isdir(f"/{each}")))}


def read_etc() -> dict[str, Content]:
    """The readable files of `ETC`."""
    contents: dict[str, Content] = {}
    for name in ETC:
        top = Path("/etc") / name
        for path in [top, *top.rglob("*")] if top.is_dir() and not top.is_symlink() else [top]:
            with contextlib.suppress(OSError):
                if path.is_symlink() and name != "resolv.conf":
                    contents[str(path.relative_to("/etc"))] = os.readlink(path)
                elif path.is_file():
                    contents[str(path.relative_to("/etc"))] = path.read_bytes()
    return contents


def make_skeleton(root: Path, etc: dict[str, Content]) -> None:
    """Write what a Debian image has outside its system folders."""
    for name in FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, mode in {"tmp": 0o1777, "var/tmp": 0o1777, "root": 0o700}.items():
        (root / name).chmod(mode)
    for name in SYSTEM_FOLDERS:
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(os.readlink(f"/{name}"))
    for name, content in etc.items():
        path = root / "etc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.symlink_to(content)
    for name, text in TEXTS.items():
        (root / "etc" / name).write_text(text)
        (root / "etc" / name).chmod(0o640 if "shadow" in name else 0o644)
