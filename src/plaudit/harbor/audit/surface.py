"""Observe a run of the verifier to find the files that it uses, that are not its own, and that the agent can change.

A path belongs to the surface if the verifier's processes look for it before they write it themselves, and if what an
agent puts there is still there when the verifier runs, which is tried. Files used by a submitted program do not count.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from plaudit.harbor.audit.products import Products, read_archive
from plaudit.harbor.machine.observer import Event
from plaudit.harbor.machine.packing import UNCROSSED
from plaudit.harbor.trial import TaskRunner, Trial
from plaudit.harbor.workspace import pack

MOST_PATHS, MOST_FOLDERS, MOST_EXISTING = 1500, 10, 20
SYSTEM = (*(f"/{name}/" for name in UNCROSSED if name not in ("home", "root", "tests")), "/tests/")
PROGRAMS = ("/usr/bin/", "/bin/")
_IMPORTED = re.compile(r"/(?:__pycache__/)?(\w+)(?:/__init__)?\.[\w.-]*$|/(\w+)/__pycache__/__init__\.[\w.-]*$")
_WRITES = """while IFS= read -r p; do
  if [ -e "$p" ]; then [ -f "$p" ] && { [ -w "$p" ] || [ -w "${p%/*}" ]; } && touch -c "$p" && echo "e$p"
  else mkdir -p "${p%/*}" && : > "$p" && echo "m$p"; fi
done < /logs/artifacts/paths > /logs/artifacts/written 2>/dev/null"""


@dataclass(slots=True)
class Surface:
    """Paths by what the verifier does with them; all can be made or changed by the agent."""

    programs: list[str] = field(default_factory=list)
    """Paths at which a program was looked for and not found."""
    run: set[str] = field(default_factory=set)
    """The names of programs that were run from other paths, or looked for in the system's folders."""
    folders: list[str] = field(default_factory=list)
    """Folders in which Python looked for modules."""
    modules: list[str] = field(default_factory=list)
    """The modules that it imported."""
    missing: list[str] = field(default_factory=list)
    """Other paths that were looked for and not found."""
    existing: list[str] = field(default_factory=list)
    """Files of the image."""
    protected: list[str] = field(default_factory=list)
    """Files of the tests that were read."""
    left: dict[str, bytes] = field(default_factory=dict)
    """Files that a verification that passes leaves."""


def find_surface(runner: TaskRunner, runs: Iterable[Trial], products: Products) -> Surface:
    """The surface of observed runs, the first of which passes; the solution left `products`."""
    uses: dict[str, dict[str, bool]] = {}
    left: dict[str, bytes] = {}
    for trial in runs:
        left = left or _left_by_verifier(trial, products)
        for path, kinds in _uses_of_verifier(trial.events, products).items():
            uses.setdefault(path, {}).update(kinds)
    searched = [path for path, kinds in uses.items() if kinds.get("list")]
    files = {"read", "write", "change"}
    targets = [path for path, kinds in uses.items() if "list" not in kinds or kinds.keys() & files][:MOST_PATHS]
    markers = {f"{folder}/.plaudit": folder for folder in searched}
    there, absent = _controlled(runner, list(dict.fromkeys([*targets, *markers, *left])))
    surface = Surface(
        run={path.rpartition("/")[2] for path, kinds in uses.items() if "run" in kinds or path.startswith(PROGRAMS)}
    )
    surface.folders = [markers[path] for path in absent if path in markers][:MOST_FOLDERS]
    imported = (match for path, kinds in uses.items() if "read" in kinds and (match := _IMPORTED.search(path)))
    surface.modules = list(dict.fromkeys(first or second for first, second in (match.groups() for match in imported)))
    surface.left = {path: left[path] for path in (*there, *absent) if path in left}
    for path in absent:
        if path in markers or path not in uses:
            continue
        if uses[path].keys() & {"find", "run"} or PurePosixPath(path).name in surface.run:
            surface.programs.append(path)
        elif not path.startswith(SYSTEM) and "/.git/" not in path:
            surface.missing.append(path)
    existing = (
        path
        for path in there
        if path in uses and path not in markers and not path.startswith(SYSTEM) and "/.git/" not in path
    )
    surface.existing = list(existing)[:MOST_EXISTING]
    surface.protected = [path for path, kinds in uses.items() if path.startswith("/tests/") and "read" in kinds]
    return surface


def _left_by_verifier(trial: Trial, products: Products) -> dict[str, bytes]:
    before, results = read_archive(trial.artifacts), {each.content for each in products.files}
    return {
        path: content
        for path, content in read_archive(trial.left).items()
        if before.get(path) != content and content not in results and "__pycache__" not in path
    }


def _uses_of_verifier(events: Iterable[Event], products: Products) -> dict[str, dict[str, bool]]:
    """By path, its uses, and whether Python made them; without what was written first, and what a submission used."""
    submitted = products.changed
    programs = {each.path for each in products.files if each.is_program}
    stems = {_stem(path) for path in programs}
    submitting, pythons = set[int](), set[int]()
    uses: dict[str, dict[str, bool]] = {}
    written = set[str]()
    for process, parent, use, path, words in events:
        if use == "run":
            if path in programs or programs & set(words):
                submitting.add(process)
            pythons.discard(process)
            if PurePosixPath(path).name.startswith(("python", "pytest")) or any("pytest" in word for word in words[:1]):
                pythons.add(process)
        if parent in submitting:
            submitting.add(process)
        if use == "write" and path not in uses:
            written.add(path)
        if use == "fail":
            continue
        inside = path in submitted or any(path.startswith(f"{each}/") for each in submitted) or _stem(path) in stems
        if process not in submitting and path not in written and not inside:
            uses.setdefault(path, {})[use] = process in pythons
    return uses


def _stem(path: str) -> str:
    """The common part of the paths of one module: /app/a.py, /app/a and /app/__pycache__/a.pyc."""
    folder, _, name = path.replace("/__pycache__/", "/").rpartition("/")
    return f"{folder}/{name.partition('.')[0] or name}"


def _controlled(runner: TaskRunner, paths: list[str]) -> tuple[list[str], list[str]]:
    """The paths that an agent can change and those that it can create, so that the verifier finds the result."""
    config = runner.image.config
    with runner.image.workspace() as workspace:
        workspace.put(pack({"logs/artifacts/paths": "\n".join([*paths, ""]).encode()}), "/")
        workspace.run(_WRITES, cwd=config.workdir, user=runner.task.user("agent") or config.user, seconds=60)
        lines = workspace.read("/logs/artifacts/written")[1].decode(errors="replace").splitlines()
        if runner.mode == "separate":
            crossed = read_archive(runner.collect(runner.task, workspace, []))
            lines = [line for line in lines if line[1:] in crossed]
    return [line[1:] for line in lines if line[0] == "e"], [line[1:] for line in lines if line[0] == "m"]
