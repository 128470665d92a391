"""Dockerfiles: parse the plain instructions and carry them out in a workspace."""

import fnmatch
import json
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plaudit.errors import SandboxError
from plaudit.harbor.workspace import Workspace, pack

SUPPORTED = ("FROM", "RUN", "COPY", "ADD", "WORKDIR", "ENV", "ARG", "USER")
IGNORED = ("LABEL", "EXPOSE", "CMD", "ENTRYPOINT", "MAINTAINER", "STOPSIGNAL", "HEALTHCHECK", "SHELL")
"""Harbor starts commands itself, so how the image would start does not matter; SHELL is accepted for bash alone."""
PASSED_TO_BUILDS = re.compile(r"PIP_\w+|(?:https?|no)_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?(['\"]?)(\w+)\1")
_REFERENCE = re.compile(r"\\(.)|\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})")


class CannotRun(SandboxError):
    """A task cannot be run here, and the reason; it says nothing about a solution."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its name, its text, the here-document that belongs to it, and its line."""

    name: str
    text: str
    line: int
    document: str = ""


@dataclass
class ImageConfig:
    """What the instructions leave for later commands."""

    base: str = ""
    workdir: str = "/"
    user: str | None = None
    env: dict[str, str] = field(default_factory=dict)


def read_dockerfile(text: str) -> list[Instruction]:
    """The instructions; CannotRun for one that is not supported."""
    instructions = list(_instructions(text))
    for each in instructions:
        if each.name not in SUPPORTED + IGNORED or (each.name == "SHELL" and "bash" not in each.text):
            raise CannotRun(f"Dockerfile line {each.line}: {each.name} is not supported")
        if "--from=" in each.text.split(" ", 1)[0] or "--mount=" in each.text.split(" ", 1)[0]:
            raise CannotRun(f"Dockerfile line {each.line}: {each.name} {each.text.split(' ', 1)[0]} is not supported")
    if sum(each.name == "FROM" for each in instructions) != 1:
        raise CannotRun("Dockerfile: one FROM is supported, as there are no other images to take files from")
    return instructions


def _instructions(text: str) -> Iterator[Instruction]:
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        joined = line.strip()
        while joined.endswith("\\"):
            _, more = next(lines, (0, ""))
            if not more.lstrip().startswith("#"):
                joined = f"{joined[:-1].rstrip()} {more.strip()}" if more.strip() else joined[:-1]
        name, _, rest = joined.partition(" ")
        document = []
        if name.upper() in ("RUN", "COPY", "ADD") and (match := _HEREDOC.search(rest)):
            for _, more in lines:
                if more.strip() == match[2]:
                    break
                document.append(more)
        yield Instruction(name.upper(), rest.strip(), number, "\n".join([*document, ""]) if document else "")


def build(instructions: list[Instruction], context: Path, workspace: Workspace, *, seconds: float) -> ImageConfig:
    """Carry out the instructions in a workspace; CannotRun with the failing line."""
    config, arguments = ImageConfig(), dict[str, str]()
    for each in instructions:
        known = {**arguments, **config.env}
        try:
            match each.name:
                case "FROM":
                    config.base = _expand(each.text.split(" ")[0], known)
                case "ENV":
                    config.env |= _pairs(each.text, known)
                case "ARG":
                    name, equals, value = each.text.partition("=")
                    arguments[name] = _expand(value.strip("\"'"), known) if equals else arguments.get(name, "")
                case "WORKDIR":
                    folder = _expand(each.text.strip('"'), known)
                    config.workdir = os.path.normpath(os.path.join(config.workdir, folder))
                    workspace.put(pack({}), config.workdir)
                case "USER":
                    config.user = _expand(each.text, known)
                case "COPY" | "ADD":
                    _copy(each, context, workspace, config, known)
                case "RUN":
                    _run(each, workspace, config, arguments, seconds)
        except (OSError, ValueError) as error:
            raise CannotRun(f"Dockerfile line {each.line}: {each.name}: {error}") from error
    return config


def _run(
    each: Instruction, workspace: Workspace, config: ImageConfig, arguments: dict[str, str], seconds: float
) -> None:
    command = each.text
    if each.document:
        marker = _HEREDOC.search(each.text)
        assert marker is not None
        command = each.document if each.text.startswith("<<") else f"{each.text}\n{each.document}{marker[2]}\n"
    elif command.startswith("["):
        command = shlex.join(json.loads(command))
    passed = {name: value for name, value in os.environ.items() if PASSED_TO_BUILDS.fullmatch(name)}
    env = {"DEBIAN_FRONTEND": "noninteractive", **passed, **arguments, **config.env}
    done = workspace.run(command, cwd=config.workdir, env=env, user=config.user, seconds=seconds)
    if done.code or done.timed_out:
        why = f"took more than {seconds:g} s" if done.timed_out else f"ended with {done.code}"
        last = "; ".join(done.output.strip().splitlines()[-2:])
        raise CannotRun(f"Dockerfile line {each.line}: RUN {each.text[:80]} {why}: {last[:300]}")


def _copy(each: Instruction, context: Path, workspace: Workspace, config: ImageConfig, known: dict[str, str]) -> None:
    text = _expand(each.text, known)
    words = json.loads(text) if text.startswith("[") else shlex.split(text)
    flags = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    *sources, target = [word for word in words if not word.startswith("--")]
    if set(flags) - {"chown", "chmod"}:
        raise CannotRun(f"Dockerfile line {each.line}: {each.name} --{min(flags)} is not supported")
    if any("://" in source for source in sources) or (each.name == "ADD" and any(".tar" in s for s in sources)):
        raise CannotRun(f"Dockerfile line {each.line}: ADD of archives and addresses is not supported")
    path = os.path.normpath(os.path.join(config.workdir, target))
    files: dict[str, bytes | Path] = {}
    into_folder = target.endswith(("/", "/.")) or target in (".", "./") or len(sources) > 1
    for source in sources:
        if each.document:
            files[path] = each.document.encode()
            continue
        files |= _sources(context, source, path, each.line, into_folder=into_folder)
    workspace.put(pack({name.lstrip("/"): source for name, source in files.items()}), "/")
    tops = " ".join(map(shlex.quote, files))
    for flag, command in (("chown", "chown -R"), ("chmod", "chmod -R")):
        if flag in flags and files:
            done = workspace.run(f"{command} {shlex.quote(flags[flag])} {tops}")
            if done.code:
                raise CannotRun(f"Dockerfile line {each.line}: {command}: {done.output.strip()}")


def _sources(context: Path, source: str, path: str, line: int, *, into_folder: bool) -> dict[str, bytes | Path]:
    """The files of a build context that a source names, by where they go."""
    name, ignore, files = source.lstrip("/"), context / ".dockerignore", dict[str, bytes | Path]()
    matches = sorted(context.glob(name)) if any(c in name for c in "*?[") else [context / name]
    lines = [line.strip() for line in ignore.read_text().splitlines()] if ignore.is_file() else []
    patterns = [line for line in lines if line and not line.startswith("#")]
    for match in matches:
        if not match.exists() or not match.resolve().is_relative_to(context.resolve()):
            raise CannotRun(f"Dockerfile line {line}: there is no {source} in {context.name}/")
        inner = sorted(match.rglob("*")) if match.is_dir() else [match]
        for file in (each for each in inner if each.is_symlink() or not each.is_dir()):
            is_inside = file.resolve().is_relative_to(context.resolve())
            if is_inside and not _is_ignored(patterns, str(file.relative_to(context))):
                below = str(file.relative_to(match)) if match.is_dir() else file.name if into_folder else ""
                files[os.path.join(path, below) if below else path] = file
    if not matches:
        raise CannotRun(f"Dockerfile line {line}: nothing in {context.name}/ matches {source}")
    return files


def _is_ignored(patterns: list[str], path: str) -> bool:
    """Whether a `.dockerignore` leaves a file out: the last pattern that matches it or a folder of it decides."""
    parts = path.split("/")
    parents = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    ignored = False
    for pattern in patterns:
        plain = pattern.lstrip("!").strip("/")
        bare = plain.removeprefix("**/")
        if any(fnmatch.fnmatchcase(each, plain) for each in parents) or any(
            bare != plain and fnmatch.fnmatchcase(each, bare) for each in parts
        ):
            ignored = not pattern.startswith("!")
    return ignored


def _pairs(text: str, known: dict[str, str]) -> dict[str, str]:
    """The variables of ENV: `NAME=value …`, or the older `NAME value`."""
    first = text.split(" ", 1)[0]
    if "=" not in first:
        name, _, value = text.partition(" ")
        return {name: _expand(value.strip(), known)}
    return {name: _expand(value, known) for name, _, value in (word.partition("=") for word in shlex.split(text))}


def _expand(text: str, known: dict[str, str]) -> str:
    """The text with `$NAME`, `${NAME}`, `${NAME:-x}` and `${NAME:+x}` replaced."""

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        current = known.get(match[2] or match[3], "")
        if match[4] == "-":
            return current or match[5]
        return (match[5] if current else "") if match[4] == "+" else current

    return _REFERENCE.sub(value, text)
