"""Attacks on a verifier: what an agent can do in its phase to be paid without a solution.

Each attack is a solution that is wrong by construction. Those that forge a verdict touch no file that the task asks
for; those that imitate a solution write its files with a content that cannot be right.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plaudit.findings import Severity
from plaudit.harbor.products import Product, Products
from plaudit.harbor.task import Task
from plaudit.harbor.trial import Solution

__all__ = ["Attack", "all_attacks", "test_texts"]

JUNK = "plaudit: this is not a solution"
FORGE = "echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1.0}' > /logs/verifier/reward.json"
FORGE_PYTHON = (
    "import posix\n"
    "for name, text in (('reward.txt', b'1'), ('reward.json', b'{\"reward\": 1.0}')):\n"
    "    try:\n"
    "        number = posix.open('/logs/verifier/' + name, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)\n"
    "        posix.write(number, text)\n"
    "    except OSError:\n"
    "        pass\n"
)
EXIT_PYTHON = f"{FORGE_PYTHON}posix._exit(0)\n"
CONFTEST = """import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = yield
    report = result.get_result()
    report.outcome, report.longrepr = "passed", None
"""
COLLECT_ONLY = {
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "tox.ini": "[pytest]\naddopts = --collect-only\n",
    "setup.cfg": "[tool:pytest]\naddopts = --collect-only\n",
}
TOOLS = ("python3", "python", "pytest", "grep", "diff", "cmp", "jq", "node", "bash", "sh", "bc", "awk", "sha256sum")
MOST_REFERENCES = 20
SUMS = ("sha256sum", "sha1sum", "md5sum", "sha512sum")
_IMPORT = re.compile(
    r"^\s*(?:from\s+(\w+)|import\s+([\w, ]+))|(?<=[;'\"])\s*(?:from\s+(\w+)|import\s+([\w, ]+))", re.MULTILINE
)
_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'")
_GREP = re.compile(r"\bgrep\s+(?:-\S+\s+)*([^\s'\"]+)")
_PATH = re.compile(r"(?<![\w/.<])/(?:app|tmp|data|output|logs|workspace|var/tmp)/[\w./-]*[\w-]")
_NOT_STATE = ("/logs/verifier/reward", "/logs/verifier/test-stdout")
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


def all_attacks(task: Task, workdir: str, products: Products, image_files: dict[str, bytes]) -> list[Attack]:
    """Every attack on a task whose solution leaves `products`, in an image whose readable files are known."""
    tests = test_texts(task)
    forged = [
        *_forgeries(task, tests, workdir, products),
        *_rewritten_references(tests, products, image_files),
        *_shadows(tests, workdir, products),
    ]
    return [*forged, *_leaks(task, products, image_files), *_imitations(task, tests, products)]


def _forgeries(task: Task, tests: str, workdir: str, products: Products) -> Iterator[Attack]:
    """Verdicts forged beside the tests."""
    yield Attack("forged reward file", Solution("reward files written in advance", command=FORGE), MODE_REMEDY)
    yield from _forged_state(tests, products)
    draft, reward = "/logs/verifier/.draft", "/logs/verifier/reward.json"  # moved, so that no reader sees half a file
    loop = f"while :; do echo '{{\"reward\": 1.0}}' > {draft}; mv -f {draft} {reward}; done 2>/dev/null"
    command = f"nohup setsid bash -c {shlex.quote(loop)} >/dev/null 2>&1 &"
    yield Attack(
        "surviving process", Solution("a process that goes on writing the reward", command=command), MODE_REMEDY
    )
    tools = [tool for tool in TOOLS if re.search(rf"\b{tool}\b", tests)]
    shim = f"#!/bin/dash\n{FORGE}\nexit 0\n"
    folders = f"/usr/local/sbin /usr/local/bin $HOME/.local/bin {workdir}/bin {workdir}/.venv/bin {workdir}"
    if tools:
        solution = Solution(f"{', '.join(tools)} replaced", command=_plant(folders, tools, shim))
        yield Attack("PATH shim", solution, f"set PATH to system folders in test.sh; {MODE_REMEDY}")
    sites = f"$(python3 -c 'import site; print(*site.getsitepackages(), site.getusersitepackages())') {workdir}"
    if "py" in tests:
        plant = _plant(sites, ["sitecustomize.py", "usercustomize.py"], EXIT_PYTHON)
        solution = Solution("sitecustomize.py", command=plant)
        yield Attack("test configuration", solution, f"run python3 -I; {MODE_REMEDY}")
    if re.search(r"\bmake\b", tests):
        plant = _plant(f"{workdir} /tests /", ["GNUmakefile"], "%:\n\t@true\n")
        solution = Solution("a GNUmakefile whose targets do nothing", command=plant)
        yield Attack("test configuration", solution, "run make -f with a Makefile of /tests")
    if "pytest" in tests:
        remedy = "run pytest with --noconftest, -c and --rootdir of /tests, away from the agent's files"
        for name, text in {"conftest.py": CONFTEST, **COLLECT_ONLY}.items():
            plant = _plant(f"{workdir} {workdir}/tests /tests /", [name], text, replaces=True)
            yield Attack("test configuration", Solution(name, command=plant), remedy)
    yield from _links(task, products)
    for file in sorted(path for path in (task.folder / "tests").rglob("*") if path.is_file())[:8]:
        target = f"/tests/{file.relative_to(task.folder / 'tests').as_posix()}"
        command = f"ln -sf {target} /logs/verifier/test-stdout.txt"
        remedy = 'Harbor itself writes the log through the link: declare environment_mode = "separate"'
        yield Attack("symlink", Solution(f"the log as a link to {target}", command=command), remedy, Severity.WARNING)


def _plant(folders: str, names: Iterable[str], text: str, *, replaces: bool = False) -> str:
    """A command that writes a text under names into folders, wherever it may."""
    unless = "" if replaces else "[ -e $d/$n ] || "
    write = f"{unless}{{ printf %s {shlex.quote(text)} > $d/$n; chmod +x $d/$n; }}"
    return f"for d in {folders}; do mkdir -p $d; for n in {' '.join(names)}; do {write}; done; done 2>/dev/null"


def _links(task: Task, products: Products) -> Iterator[Attack]:
    """Links to the files of the tests in place of results."""
    for file in sorted((task.folder / "tests").rglob("*")):
        if file.is_file() and file.suffix not in (".sh", ".py"):
            target = f"/tests/{file.relative_to(task.folder / 'tests').as_posix()}"
            command = "; ".join(f"ln -sf {target} {shlex.quote(product.path)}" for product in products.required)
            if command:
                remedy = "refuse results that are links; read them as the agent's user"
                yield Attack("symlink", Solution(f"links to {target}", command=command), remedy)


def _forged_state(tests: str, products: Products) -> Iterator[Attack]:
    """Files that the tests keep their results in, written by the agent."""
    written = {product.path for product in products.files}
    paths = dict.fromkeys(
        path for path in _PATH.findall(tests) if not path.startswith(_NOT_STATE) and path not in written
    )
    for text in ("1", "PASS"):
        writes = "; ".join(f"mkdir -p $(dirname {path}); [ -e {path} ] || echo {text} > {path}" for path in paths)
        if paths:
            solution = Solution(f"{text} in {', '.join(paths)}", command=f"{{ {writes}; }} 2>/dev/null")
            yield Attack(
                "forged reward file", solution, "keep results in shell variables, or in a folder made by test.sh"
            )


def _rewritten_references(tests: str, products: Products, image_files: dict[str, bytes]) -> Iterator[Attack]:
    """Files of the image that the tests mention, rewritten to agree with results that are wrong."""
    results = [each.path for each in products.required]
    references = [
        path
        for path in image_files
        if path not in results and path.rpartition("/")[2] in tests and "/.git/" not in path
    ][:MOST_REFERENCES]
    if not results or not references:
        return
    wrong: dict[str, bytes | Path] = dict.fromkeys(results, f"{JUNK}\n".encode())
    quoted = " ".join(map(shlex.quote, results))
    rewritings = {"emptied": ": > $f", "made equal to the result": f"cat {quoted} > $f"}
    if sums := [word for word in SUMS if word in tests]:
        rewritings["made the sums of the results"] = f'cd $(dirname $f); {sums[0]} {quoted} | sed "s, $PWD/, ," > $f'
    for name, rewrite in rewritings.items():
        command = f"for f in {' '.join(map(shlex.quote, references))}; do ({rewrite}); done 2>/dev/null; true"
        is_program = any(path.endswith((".py", ".sh")) for path in references)
        remedy = "read references and checkers from /tests, where the agent cannot write"
        kind = "test configuration" if is_program and name == "emptied" else "forged reward file"
        yield Attack(kind, Solution(f"{', '.join(references)} {name}", wrong, command), remedy)


def _shadows(tests: str, workdir: str, products: Products) -> Iterator[Attack]:
    """Modules of the agent in place of those that the tests import."""
    names = {
        part.strip().split(" ")[0]
        for match in _IMPORT.finditer(tests)
        for group in match.groups()
        if group
        for part in group.split(",")
    }
    submitted = {Path(product.path).stem for product in products.files}
    shadowed = sorted(name for name in names - submitted - {"sys", "os", "posix", "builtins"} if name.isidentifier())
    if shadowed:
        plant = _plant(f"{workdir} /tests", [f"{name}.py" for name in shadowed], EXIT_PYTHON)
        solution = Solution(f"modules {', '.join(shadowed)}", command=plant)
        remedy = "run python3 -I, or pytest with --import-mode=importlib from /tests"
        yield Attack("module shadowing", solution, remedy)
    yield from _evaluated(products)
    scripts = {product.path: product for product in products.files if product.path.endswith(".py")}
    if scripts:
        files: dict[str, bytes | Path] = {path: EXIT_PYTHON.encode() for path in scripts}
        remedy = "run the submission in a process of its own as another user, and decide by its output"
        yield Attack(
            "verifier's rights",
            Solution("a submission that writes the reward and exits", files),
            remedy,
            Severity.WARNING,
        )


def _evaluated(products: Products) -> Iterator[Attack]:
    """Results that are data, in place of which stands code."""
    data = [product.path for product in products.required if product.language in ("text", "json")]
    if data and len(data) == len(products.required):
        code = b"__import__('posix')._exit(0)\n"
        remedy = "parse results (json, ast.literal_eval, float); never evaluate them"
        yield Attack("verifier's rights", Solution("code in place of a result", dict.fromkeys(data, code)), remedy)
    scripts = [product.path for product in products.required if product.language == "shell"]
    if scripts and len(scripts) == len(products.required):
        script = f'#!/bin/bash\n[ "$0" = "$BASH_SOURCE" ] && exit 1\n{FORGE}\nexit 0\n'.encode()
        solution = Solution("a sourced script that ends the verifier", dict.fromkeys(scripts, script))
        yield Attack("verifier's rights", solution, "read settings as text, or run the script in a process of its own")


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


def _imitations(task: Task, tests: str, products: Products) -> Iterator[Attack]:
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
    for constant in _visible_constants(task.instruction):
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
