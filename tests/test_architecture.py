"""Imports point down the layers, folders stay small, names stay apart, and pages import only what is public."""

import ast
import gc
import importlib
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import plaudit
from plaudit.cli.app import COMMANDS
from tests.conftest import SLOW
from tests.pages import PAGES, blocks, page_name

ROOT = Path(plaudit.__file__).parent
PROJECT = Path(__file__).parent.parent
COMMAND_MODULES = {f"plaudit.cli.{place.partition(':')[0]}" for place in COMMANDS.values()}

LAYERS: list[set[str]] = [
    {"errors", "examples", "frames", "markup", "version"},
    {"jsonline", "columns", "findings", "schedules", "normalize", "settings"},
    {"trajectory"},
    {"contract"},
    {"processes"},
    {"verify", "sandbox", "endpoint"},
    {"checks"},
    {"compose", "shaping"},
    {"judges"},
    {"rewards", "agents"},
    {"models"},
    {"worlds", "dialects"},
    {"remote"},
    {"loading"},
    {"rollouts"},
    {"engine"},
    {"exports"},
    {"diff"},
    {"report"},
    {"calibration", "labels", "watch"},
    {"serving"},
    {"testing"},
    {"audit"},
    {"harbor", "ci"},
    {"training"},
    {"hacks", "launching"},
    {"cli"},
    {"__main__"},
    {"__init__"},
]
EXTRA = re.compile(r"""(?:require\([^)]*extra="|plaudit\[)([a-z-]+)""")
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def modules(root: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(("plaudit", *(part for part in parts if part != "__init__")))] = path
    return found


def layer_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


@cache
def parsed(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text())
    gc.freeze()  # trees are kept: a garbage collection that looks at all of them takes longer than parsing
    return tree


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within a node: every import is one, and expressions are nine tenths of a tree."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from statements(inner)


def imports(path: Path, known: set[str], *, top_level_only: bool) -> set[str]:
    tree = parsed(path)
    nodes = tree.body if top_level_only else statements(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            deeper = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found.update(deeper or {node.module})
    return {name for name in found if name in known}


def upward(root: Path) -> list[str]:
    known = modules(root)
    names = set(known)
    return [
        f"{module} imports {imported}"
        for module, path in known.items()
        for imported in imports(path, names, top_level_only=False)
        if LEVEL[layer_of(imported)] > LEVEL[layer_of(module)]
        or (LEVEL[layer_of(imported)] == LEVEL[layer_of(module)] and layer_of(imported) != layer_of(module))
    ]


def circles(root: Path) -> list[str]:
    known = modules(root)
    names = set(known)
    graph = {name: imports(path, names, top_level_only=True) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_module_has_a_layer():
    assert {layer_of(module) for module in modules(ROOT)} <= set(LEVEL)


def test_no_module_imports_upward():
    assert upward(ROOT) == []


def test_no_modules_import_in_a_circle():
    assert circles(ROOT) == []


def test_an_upward_import_and_a_circle_would_be_noticed(tmp_path):
    (tmp_path / "errors.py").write_text("from plaudit.trajectory import Trajectory\n")
    (tmp_path / "trajectory.py").write_text("import plaudit.errors\n")
    assert upward(tmp_path) == ["plaudit.errors imports plaudit.trajectory"]
    assert set(circles(tmp_path)) == {"plaudit.errors", "plaudit.trajectory"}


def package_cycles(root: Path) -> set[tuple[str, str]]:
    """Siblings in any package that import each other, directly or over others, whatever module of theirs does it."""
    known = modules(root)
    edges = defaultdict(set)
    for module, path in known.items():
        for imported in imports(path, set(known), top_level_only=True):
            ours, theirs = module.split("."), imported.split(".")
            depth = next((at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
            if depth is not None:
                edges[".".join(ours[: depth + 1])].add(".".join(theirs[: depth + 1]))
    reached = {start: reach(start, edges) for start in list(edges)}
    return {(a, b) for a, others in reached.items() for b in others if a < b and a in reached.get(b, ())}


def reach(start: str, edges: dict[str, set[str]]) -> set[str]:
    """Every node that can be reached from a node."""
    seen, waiting = set(), [start]
    while waiting:
        new = edges.get(waiting.pop(), set()) - seen
        seen |= new
        waiting += new
    return seen


def shadowed_modules(root: Path) -> set[str]:
    """Modules that a function or class which their package imports hides, as `package.name`."""
    hidden = set()
    for path in [*root.rglob("__init__.pyi"), *root.rglob("__init__.py")]:
        package = ".".join(("plaudit", *path.parent.relative_to(root).parts))
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module not in (None, package):
                names = {alias.asname or alias.name for alias in node.names}
                hidden |= {f"{package}.{name}" for name in names if (path.parent / f"{name}.py").exists()}
    return hidden


def test_no_packages_import_each_other():
    assert package_cycles(ROOT) == set()


def test_no_module_is_hidden_by_a_function_of_the_same_name():
    assert shadowed_modules(ROOT) == set()


def test_a_package_cycle_and_a_hidden_module_would_be_noticed(tmp_path):
    for folder in ("engine/one", "engine/two"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "engine" / "one" / "a.py").write_text("import plaudit.engine.two.b\n")
    (tmp_path / "engine" / "two" / "b.py").write_text("")
    (tmp_path / "engine" / "two" / "c.py").write_text("from plaudit.engine.one import d\n")
    (tmp_path / "engine" / "one" / "d.py").write_text("")
    assert package_cycles(tmp_path) == {("plaudit.engine.one", "plaudit.engine.two")}
    (tmp_path / "engine" / "one" / "__init__.pyi").write_text("from .a import a as a\n")
    assert shadowed_modules(tmp_path) == {"plaudit.engine.one.a"}


def test_dialects_know_nothing_of_each_other():
    known = modules(ROOT)
    dialects = {module for module in known if module.startswith("plaudit.dialects.")}
    shared = {module for module in dialects if module.count(".") == 2} | {"plaudit.dialects.packages.braces"}
    packages = {module for module in dialects if module.startswith("plaudit.dialects.packages")}
    graders = {
        module for module in dialects if module.startswith("plaudit.dialects.graders")
    }  # one system, several files
    for module in dialects - shared - packages - graders:
        assert imports(known[module], set(known), top_level_only=False) & dialects <= shared | packages | {module}
    for module in packages:  # a package may have several files
        system = module.rpartition(".")[2].partition("_")[0]
        imported = imports(known[module], set(known), top_level_only=False) & dialects - shared
        assert all(each.rpartition(".")[2].startswith(system) for each in imported)


@cache
def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys; print('\\n'.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("heavy", ["torch", "sympy", "numpy", "rich", "typer", "yaml", "jsonschema_rs", "pyarrow"])
def test_importing_plaudit_is_light(heavy):
    assert heavy not in loaded_by("import plaudit")


@pytest.mark.parametrize("heavy", ["torch", "transformers", "numpy", "ray", "pyarrow", "sympy"])
def test_the_command_line_starts_without_what_only_some_commands_need(heavy):
    assert heavy not in loaded_by(f"import plaudit.cli, {', '.join(sorted(COMMAND_MODULES))}")


@pytest.mark.parametrize("heavy", ["asyncio", "tenacity", "plaudit.remote.reward", "plaudit.judges.chat_endpoint"])
def test_a_worker_starts_without_what_only_some_rewards_need(heavy):
    assert heavy not in loaded_by(
        "import plaudit.engine.reward_service, plaudit.loading\nplaudit.loading.load('length')"
    )


@pytest.mark.parametrize("heavy", ["yaml", "importlib.metadata", "plaudit.dialects", "plaudit.loading.resolving"])
def test_a_worker_starts_without_what_loads_rewards_by_spec(heavy):
    assert heavy not in loaded_by("import plaudit.engine.reward_service")


def test_a_command_imports_no_other():
    loaded = loaded_by("from plaudit.cli import main\ntry: main(['doctor', '--help'])\nexcept SystemExit: pass")
    assert loaded & COMMAND_MODULES == {"plaudit.cli.programs"}


def test_the_help_imports_no_command():
    loaded = loaded_by("from plaudit.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass")
    assert loaded & COMMAND_MODULES == set()


def test_packages_within_plaudit_are_there_without_importing_each():
    code = "import plaudit; print(plaudit.checks.check_answer('The answer is 4.', '4'), plaudit.rewards.MathReward())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1.0 MathReward()\n"


MOST_MODULES = 14
MOST_LINES = 400
MOST_IMPORTS_IN_FUNCTIONS = 5
PAIRS: dict[str, str] = {}  # "package: name" of modules that share a name, and why they must
VAGUE_NAMES = {"found", "given", "told", "said", "own", "asked"}
"""Names of variables that do not tell what the variable holds."""
VAGUE_WORD = re.compile(rf"\b(?:{'|'.join(sorted(VAGUE_NAMES))})\b")


def large_folders(root: Path) -> set[str]:
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    return {
        folder.relative_to(root).as_posix()
        for folder in folders
        if len([path for path in folder.glob("*.py") if path.stem != "__init__"]) > MOST_MODULES
    }


def homonyms(root: Path) -> set[str]:
    """Base names that several modules of one first-level package share, as `package: name`."""
    seen = defaultdict(list)
    for path in root.glob("*/**/*.py"):
        if path.stem not in ("__init__", "__main__"):
            seen[f"{path.relative_to(root).parts[0]}: {path.stem}"].append(path)
    return {name for name, paths in seen.items() if len(paths) > 1}


def imports_in_functions(root: Path) -> Iterator[str]:
    """Imports of our own modules that are made when a function runs, as `file: module`."""
    for path in sorted(root.rglob("*.py")):
        functions = [n for n in statements(parsed(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        for node in {inner for function in functions for inner in statements(function)}:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            yield from (f"{path.relative_to(root)}: {name}" for name in names if name.partition(".")[0] == "plaudit")


def private_imports(code: str) -> Iterator[str]:
    """What a page imports from deeper than a first-level package, or without it being listed there."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.startswith("plaudit.") and alias.name.count(".") > 1
            )
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "plaudit":
            listed = () if node.module.count(".") > 1 else importlib.import_module(node.module).__all__
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name not in listed)


def vague_names(root: Path) -> Iterator[str]:
    """Variables, parameters and fields with a name of `VAGUE_NAMES`, as `file:line: name`."""
    for path in sorted(root.rglob("*.py")):
        if VAGUE_WORD.search(path.read_text()) is None:
            continue
        for node in ast.walk(parsed(path)):
            name = node.arg if isinstance(node, ast.arg) else getattr(node, "name", None)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.id if isinstance(node, ast.Name) else node.attr
            if name in VAGUE_NAMES:
                yield f"{path.relative_to(root).as_posix()}:{node.lineno}: {name}"


def test_no_folder_has_too_many_modules():
    assert large_folders(ROOT) == set()


def test_no_file_is_too_long():
    assert {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if len(path.read_text().splitlines()) > MOST_LINES
    } == set()


def test_no_two_modules_of_a_package_share_a_name_unless_they_are_a_documented_pair():
    assert homonyms(ROOT) == set(PAIRS)


def test_own_modules_are_imported_at_the_top():
    found = list(imports_in_functions(ROOT))
    assert len(found) <= MOST_IMPORTS_IN_FUNCTIONS, found


def test_pages_import_only_what_a_first_level_package_lists():
    found = {
        f"{page_name(page)}: {name}"
        for page in PAGES
        for language, _, code in blocks(page)
        if language == "python"
        for name in private_imports(code)
    }
    assert found == set()


def test_no_variable_has_a_vague_name():
    assert list(vague_names(ROOT)) == [], (
        "name them by their content: match, candidates, options, settings, answer, ..."
    )


def test_a_vague_name_would_be_noticed(tmp_path):
    code = "def f(given, index=0):\n    given.own = found = 1\n    match found:\n        case [said, *told]: ...\n"
    (tmp_path / "module.py").write_text(code)
    names = {each.rpartition(" ")[2] for each in vague_names(tmp_path)}
    assert names == {"given", "own", "found", "said", "told"}


def test_large_folders_homonyms_hidden_and_private_imports_would_be_noticed(tmp_path):
    for folder in ("engine", "engine/backends"):
        (tmp_path / folder).mkdir()
    for number in range(MOST_MODULES + 1):
        (tmp_path / "engine" / f"module{number}.py").write_text(
            "def f():\n    from plaudit.errors import PlauditError\n"
        )
    (tmp_path / "engine" / "backends" / "module1.py").write_text("from plaudit.errors import PlauditError\n")
    assert large_folders(tmp_path) == {"engine"}
    assert homonyms(tmp_path) == {"engine: module1"}
    assert len(list(imports_in_functions(tmp_path))) == MOST_MODULES + 1
    assert list(private_imports("from plaudit.contract.output import Status")) == ["plaudit.contract.output.Status"]
    assert list(private_imports("from plaudit.agents import read_action")) == ["plaudit.agents.read_action"]
    assert list(private_imports("import plaudit.engine.cache\nfrom plaudit import Status")) == ["plaudit.engine.cache"]


@pytest.mark.parametrize("place", SLOW)
def test_every_slow_place_exists(place):
    path, _, test = place.partition("::")
    found = list(PROJECT.glob(f"{path}*"))
    assert found
    assert all(f"def {test}" in file.read_text() for file in found if test)


def test_every_extra_that_a_message_names_can_be_installed():
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name for path in modules(ROOT).values() for name in EXTRA.findall(path.read_text())}
    assert "ray" in named
    assert named <= set(extras)
