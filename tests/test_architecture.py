"""Imports point down the layers, never up and never in a circle."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import plaudit

ROOT = Path(plaudit.__file__).parent

LAYERS: list[set[str]] = [
    {"errors", "examples", "frames", "version"},
    {"jsonline", "columns", "schedules", "normalize"},
    {"trajectory"},
    {"contract"},
    {"verify", "sandbox"},
    {"checks"},
    {"compose", "shaping"},
    {"rewards", "agents"},
    {"dialects"},
    {"loading"},
    {"rollouts"},
    {"engine"},
    {"report"},
    {"testing"},
    {"training"},
    {"cli"},
    {"__main__"},
    {"__init__"},
]
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


def imports(path: Path, known: set[str], *, top_level_only: bool) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
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
    return [
        f"{module} imports {imported}"
        for module, path in known.items()
        for imported in imports(path, set(known), top_level_only=False)
        if LEVEL[layer_of(imported)] > LEVEL[layer_of(module)]
        or (LEVEL[layer_of(imported)] == LEVEL[layer_of(module)] and layer_of(imported) != layer_of(module))
    ]


def circles(root: Path) -> list[str]:
    known = modules(root)
    graph = {name: imports(path, set(known), top_level_only=True) - {name} for name, path in known.items()}
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


def test_dialects_know_nothing_of_each_other():
    known = modules(ROOT)
    dialects = {module for module in known if module.startswith("plaudit.dialects.")}
    shared = {"plaudit.dialects.dialect", "plaudit.dialects.standins"}
    for module in dialects - shared:
        assert imports(known[module], set(known), top_level_only=False) & dialects <= shared | {module}


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys; print('\\n'.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("heavy", ["torch", "sympy", "numpy", "rich", "typer", "yaml", "jsonschema_rs", "pyarrow"])
def test_importing_plaudit_is_light(heavy):
    assert heavy not in loaded_by("import plaudit")


def test_packages_within_plaudit_are_there_without_importing_each():
    code = "import plaudit; print(plaudit.checks.check_answer('The answer is 4.', '4'), plaudit.rewards.MathReward())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1.0 MathReward()\n"
