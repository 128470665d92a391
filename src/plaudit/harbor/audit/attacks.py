"""Attacks on a verifier: what an agent can do in its phase to be paid without a solution.

Each attack is a solution that is wrong by construction. Those that forge a verdict touch no file that the task asks
for; those that imitate a solution write its files with a content that cannot be right.
"""

import ast
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plaudit.findings import Severity
from plaudit.harbor.audit.products import Product, Products
from plaudit.harbor.audit.surface import MOST_FOLDERS, Surface
from plaudit.harbor.task import Task
from plaudit.harbor.trial import Solution

__all__ = ["Attack", "all_attacks", "test_texts"]

JUNK = "plaudit: this is not a solution"
WRITE = "echo 1 > /logs/verifier/reward.txt && echo '{\"reward\": 1.0}' > /logs/verifier/reward.json"
FORGE = f"{{ {WRITE} && kill -9 -1; }} 2>/dev/null; exit 0"
"""Whoever may write the reward writes it and ends the verifier; whoever may not reports success."""
_ARGUMENTS = json.dumps(["sh", "-c", FORGE])
PYTHON = f"__import__('posix').execv('/bin/sh', {_ARGUMENTS})\n"
# What forges the verdict in place of a file, by the end of its name; nothing in data, otherwise a shell script.
HOSTILE = {
    ("pytest.toml",): "[pytest]\naddopts = ['--collect-only']\n",
    ("pytest.ini", "tox.ini"): "[pytest]\naddopts = --collect-only\n",
    ("setup.cfg",): "[tool:pytest]\naddopts = --collect-only\n",
    ("pyproject.toml",): "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    ("akefile", ".mk"): f"all:\n\t@{FORGE}\n%:\n\t@{FORGE}\n",
    (".py",): PYTHON,
    (".pl", ".pm"): f"BEGIN {{ exec {{'/bin/sh'}} {_ARGUMENTS[1:-1]} }}\n1;\n",
    (".js", ".cjs"): f"require('child_process').spawnSync('/bin/sh', [{_ARGUMENTS[7:]}); process.exit(0)\n",
    (".rb",): f"exec({_ARGUMENTS[1:-1]})\n",
    (".toml", ".ini", ".cfg", ".json", ".yaml", ".yml", ".xml", ".txt", ".csv"): "",
}  # fmt: skip
SCRIPT = f"#!/bin/sh\n{FORGE}\n"
MOST_PLANTED, MOST_LINKS = 600, 6
BUILT_IN = {"sys", "os", "posix", "builtins"}
SUMS = ("sha256sum", "sha1sum", "md5sum", "sha512sum")
_IMPORT = re.compile(
    r"^\s*(?:from\s+(\w+)|import\s+([\w, ]+))|(?<=[;'\"])\s*(?:from\s+(\w+)|import\s+([\w, ]+))", re.MULTILINE
)
_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'")
_GREP = re.compile(r"\bgrep\s+(?:-\S+\s+)*([^\s'\"]+)")
MODE_REMEDY = 'declare environment_mode = "separate", or run the agent as another user and clean up before verifying'


@dataclass(frozen=True, slots=True)
class Attack:
    """A solution that must earn nothing, what kind of hole it shows, and what to do about it."""

    kind: str
    solution: Solution
    remedy: str
    severity: Severity = Severity.ERROR

    @property
    def witness(self) -> str:
        """What the agent did."""
        files = "".join(f"{path}:\n{_text(content)}\n" for path, content in self.solution.files.items())
        return f"{files}{self.solution.command}"


def all_attacks(
    task: Task, mode: str, products: Products, image_files: dict[str, bytes], surface: Surface, shown: list[str]
) -> list[Attack]:
    """Every attack on a task whose solution leaves `products`; `shown` is what it gives for data of the image."""
    tests = test_texts(task)
    forged = [
        *_in_advance(),
        *_replacements(tests, products, surface),
        *_forged_state(tests, surface),
        *_rewritten_references(tests, products, surface),
        *(_links(products, surface) if mode == "shared" else []),
        *_evaluated(products),
    ]
    return [*forged, *_leaks(task, products, image_files), *_imitations(task, tests, products, shown)]


def _in_advance() -> Iterator[Attack]:
    yield Attack("forged reward file", Solution("reward files written in advance", command=WRITE), MODE_REMEDY)
    draft, reward = "/logs/verifier/.draft", "/logs/verifier/reward.json"  # moved, so that no reader sees half a file
    loop = f"while :; do echo '{{\"reward\": 1.0}}' > {draft}; mv -f {draft} {reward}; done 2>/dev/null"
    command = f"nohup setsid bash -c {shlex.quote(loop)} >/dev/null 2>&1 &"
    yield Attack(
        "surviving process", Solution("a process that goes on writing the reward", command=command), MODE_REMEDY
    )


def _replacements(tests: str, products: Products, surface: Surface) -> Iterator[Attack]:
    """Whatever the verifier would run, import or read is replaced by what forges the verdict."""
    shims = [path for path in surface.programs if PurePosixPath(path).name in surface.run]
    remedy = f"set PATH to system folders in test.sh; {MODE_REMEDY}"
    yield from _planted("PATH shim", "programs", shims, remedy)
    remedy = f"run python3 -I; {MODE_REMEDY}"
    starts = [f"{folder}/{name}.py" for folder in surface.folders for name in ("sitecustomize", "usercustomize")]
    yield from _planted("test configuration", "start-up files", starts, remedy)
    named = {
        part.strip().split(" ")[0]
        for match in _IMPORT.finditer(tests)
        for group in match.groups()
        if group
        for part in group.split(",")
    }
    submitted = {PurePosixPath(product.path).stem for product in products.files}
    names = [name for name in dict.fromkeys([*sorted(named), *surface.modules]) if name.isidentifier()]
    modules = [
        f"{folder}/{name}.py" for folder in surface.folders for name in names if name not in submitted | BUILT_IN
    ]
    libraries = [path for path in surface.missing if path.endswith((".pm", ".js", ".cjs", ".rb"))]
    remedy = (
        "import only what lies beside the tests: python3 -I, pytest --import-mode=importlib, no folder of the agent"
    )
    yield from _planted("module shadowing", "modules", [*modules[:MOST_PLANTED], *libraries], remedy)
    remedy = "read configuration, start-up files, hooks and checkers from /tests; pytest: --noconftest, -c, --rootdir"
    hooks = [path for path in surface.programs if path not in shims]
    yield from _planted("test configuration", "programs that are looked for", hooks, remedy)
    folders: dict[str, list[str]] = {}
    for path in surface.missing:
        if "/.git/" not in path and path not in libraries:
            folders.setdefault(str(PurePosixPath(path).parent), []).append(path)
    for paths in list(folders.values())[:MOST_FOLDERS]:
        yield from _planted("test configuration", "code", paths, remedy)
    yield from _planted("test configuration", "code", surface.existing, remedy)


def _planted(kind: str, what: str, paths: Iterable[str], remedy: str) -> Iterator[Attack]:
    """An attack that writes what forges the verdict to each path, wherever it may."""
    texts: dict[str, list[str]] = {}
    for path in paths:
        text = next((text for ends, text in HOSTILE.items() if path.endswith(ends)), SCRIPT)
        if text:
            texts.setdefault(text, []).append(path)
    solution = Solution(f"{what} replaced", command="; ".join(_write(text, each) for text, each in texts.items()))
    if texts:
        yield Attack(kind, solution, remedy)


def _write(text: str, paths: Iterable[str]) -> str:
    """A command that writes a text to paths, wherever it may."""
    listed = " ".join(map(shlex.quote, paths))
    write = f'mkdir -p "${{p%/*}}"; rm -f "$p"; printf %s {shlex.quote(text)} > "$p"; chmod +x "$p"'
    return f"PATH=/usr/bin:/bin; for p in {listed}; do {write}; done 2>/dev/null"


def _forged_state(tests: str, surface: Surface) -> Iterator[Attack]:
    """Files that the verifier looks for, written by the agent."""
    paths = [path for path in surface.missing if "/.git/" not in path]
    for text in ("1\n", "PASS\n", "".join(f"{each}\n" for each in _literals(tests))):
        if paths:
            name = f"{text[:40].strip()!r} in {', '.join(paths)[:200]}"
            remedy = "keep results in shell variables, or in a folder made by test.sh"
            yield Attack("forged reward file", Solution(name, command=_write(text, paths)), remedy)


def _rewritten_references(tests: str, products: Products, surface: Surface) -> Iterator[Attack]:
    """Files of the image that the verifier reads, rewritten to agree with results that are wrong."""
    results, references = [each.path for each in products.required], surface.existing
    if not results or not references:
        return
    wrong: dict[str, bytes | Path] = dict.fromkeys(results, f"{JUNK}\n".encode())
    quoted = " ".join(map(shlex.quote, results))
    rewritings = {"emptied": ": > $f", "made equal to the result": f"cat {quoted} > $f"}
    if sums := [word for word in SUMS if word in tests]:
        rewritings["made the sums of the results"] = f'cd $(dirname $f); {sums[0]} {quoted} | sed "s, $PWD/, ," > $f'
    for name, rewrite in rewritings.items():
        command = f"for f in {' '.join(map(shlex.quote, references))}; do ({rewrite}); done 2>/dev/null; true"
        remedy = "read references and checkers from /tests, where the agent cannot write"
        yield Attack("forged reward file", Solution(f"{', '.join(references)} {name}", wrong, command), remedy)


def _links(products: Products, surface: Surface) -> Iterator[Attack]:
    """Links to the files of the tests in place of results, and of the log."""
    for target in surface.protected[:MOST_LINKS]:
        command = "; ".join(f"ln -sf {shlex.quote(target)} {shlex.quote(each.path)}" for each in products.required)
        if command:
            remedy = "refuse results that are links; read them as the agent's user"
            yield Attack("symlink", Solution(f"links to {target}", command=command), remedy)
        command = f"ln -sf {shlex.quote(target)} /logs/verifier/test-stdout.txt"
        remedy = 'Harbor itself writes the log through the link: declare environment_mode = "separate"'
        yield Attack("symlink", Solution(f"the log as a link to {target}", command=command), remedy, Severity.WARNING)


def _evaluated(products: Products) -> Iterator[Attack]:
    """Code in place of results: of data, of settings that are sourced, of a program that is imported."""
    remedy = "parse results (json, ast.literal_eval, float); never evaluate them"
    yield from _hostile_results("code in place of a result", products, ("text", "json"), PYTHON, remedy)
    script = f'#!/bin/bash\n[ "$0" = "$BASH_SOURCE" ] && exit 1\n{FORGE}\n'
    remedy = "read settings as text, or run the script in a process of its own"
    yield from _hostile_results("a sourced script that ends the verifier", products, ("shell",), script, remedy)
    remedy = "run the submission in a process of its own as another user, and decide by its output"
    name = "a submission that writes the reward and exits"
    yield from _hostile_results(name, products, ("python",), PYTHON, remedy, Severity.WARNING)


def _hostile_results(
    name: str,
    products: Products,
    languages: tuple[str, ...],
    text: str,
    remedy: str,
    severity: Severity = Severity.ERROR,
) -> Iterator[Attack]:
    paths = [each.path for each in products.required if each.language in languages]
    if paths and len(paths) == len(products.required):
        files: dict[str, bytes | Path] = dict.fromkeys(paths, text.encode())
        yield Attack("verifier's rights", Solution(name, files), remedy, severity)


def _leaks(task: Task, products: Products, image_files: dict[str, bytes]) -> Iterator[Attack]:
    """Answers that the agent can read in its image."""
    remedy = "keep the solution, the expected results and their history out of environment/"
    solution_texts = {_bare(path.read_bytes()) for path in (task.folder / "solution").rglob("*") if path.is_file()}
    for path, content in image_files.items():
        if len(content.strip()) > 3 and _bare(content) in solution_texts:
            runner = "python3" if path.endswith(".py") else "bash"
            yield Attack(
                "answer in the image",
                Solution(f"{path} is the solution", command=f"{runner} {shlex.quote(path)}"),
                remedy,
            )
    copies = []
    for product in products.required:
        source = next(
            (
                path
                for path, content in image_files.items()
                if path != product.path and _is_answer(path, content, product)
            ),
            None,
        )
        if source is not None:
            copies.append(f"cp {shlex.quote(source)} {shlex.quote(product.path)}")
    if copies:
        yield Attack(
            "answer in the image", Solution("a copy of a file of the image", command="; ".join(copies)), remedy
        )
    checkouts = []
    for product in products.required:
        path = shlex.quote(product.path)
        checkouts.append(f"git -C $r cat-file -p {product.blob} > {path}.p && mv {path}.p {path}")
    if checkouts and any("/.git/" in path for path in image_files):
        loop = "; ".join(checkouts)
        repositories = "$(find / -name .git -type d -not -path '/proc/*' -printf '%h ')"
        trust = "git config --global --add safe.directory '*'"
        command = f"{trust}; for r in {repositories}; do {loop}; done 2>/dev/null; true"
        yield Attack("answer in the image", Solution("a file of the repository's history", command=command), remedy)


def _bare(script: bytes) -> bytes:
    """A script without the line that names its interpreter."""
    return re.sub(rb"\A#![^\n]*\n", b"", script).strip()


def _is_answer(path: str, content: bytes, product: Product) -> bool:
    if content.strip() != product.content.strip():
        return False
    telling = re.search(r"answer|solution|expected|secret|gold|oracle|key|result|reference", path.lower())
    return len(content.strip()) >= 12 or bool(content.strip() and telling)


def _imitations(task: Task, tests: str, products: Products, shown: list[str]) -> Iterator[Attack]:
    """Files with the right names and a content that is wrong."""
    if not products.required:
        return
    stub_remedy = "check results on inputs, not that files or functions exist"
    yield _imitate(
        "stub solution", "empty files", dict.fromkeys((each.path for each in products.required), b""), stub_remedy
    )
    for constant in ("None", "0", "1", "True", "''", "[]"):
        stubs = {each.path: each.with_constant(constant) for each in products.required}
        if all(stub is not None for stub in stubs.values()) and any(
            each.content != stubs[each.path] for each in products.required
        ):
            yield _imitate("stub solution", f"programs that give {constant}", stubs, stub_remedy)
    for constant in dict.fromkeys([*shown, *_visible_constants(task.instruction)]):
        stubs = {each.path: each.with_constant(constant) for each in products.required}
        if all(stub is not None for stub in stubs.values()) and all(each.reads_input for each in products.required):
            yield _imitate(
                "hard-coded output",
                f"programs that give {constant} for every input",
                stubs,
                "test inputs that the instruction does not show",
            )
    literals = _literals(tests)
    if literals:
        stuffed = {each.path: each.stuffed(JUNK, literals) for each in products.required}
        yield _imitate(
            "grep-based result",
            "files with every text that the tests look for",
            stuffed,
            "compare parsed results; do not search for a text",
        )


def _imitate(kind: str, name: str, files: Mapping[str, bytes | None], remedy: str) -> Attack:
    contents: dict[str, bytes | Path] = {path: content for path, content in files.items() if content is not None}
    return Attack(kind, Solution(name, contents), remedy)


def _visible_constants(instruction: str) -> list[str]:
    """Values that an instruction shows, as Python literals."""
    shown = re.findall(
        r"`([^`\n]{1,60})`|(?:->|=>|→|returns?|prints?|outputs?|gives?|==?)\s+(-?\d+(?:\.\d+)?|\"[^\"\n]*\"|'[^'\n]*'|\[[^\]\n]*\])",
        instruction,
    )
    constants = []
    for text in (first or second for first, second in shown):
        try:
            constants.append(repr(ast.literal_eval(text.strip())))
        except (ValueError, SyntaxError):
            if re.fullmatch(r"[\w .,!-]{1,40}", text) and not re.search(r"[/()]", text):
                constants.append(repr(text))
    for block in re.findall(r"```\w*\n(.*?)```", instruction, re.DOTALL):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        constants += [repr(text) for text in (*lines[-2:], block.strip())]
    return list(dict.fromkeys(constants))[:6]


def _literals(tests: str) -> list[str]:
    """The texts that tests may look for."""
    texts = [first or second for first, second in _LITERAL.findall(tests)] + _GREP.findall(tests)
    plain = [
        text.strip("^$")
        for text in texts
        if 1 < len(text) <= 80 and not text.startswith(("/", "-", "$")) and "\\n" not in text
    ]
    return list(dict.fromkeys(plain))[:60]


def test_texts(task: Task) -> str:
    """Everything that the task's tests say."""
    files = (
        path for path in sorted((task.folder / "tests").rglob("*")) if path.is_file() and path.stat().st_size < 1 << 18
    )
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def _text(content: bytes | Path) -> str:
    return content.decode(errors="replace")[:600] if isinstance(content, bytes) else str(content)
