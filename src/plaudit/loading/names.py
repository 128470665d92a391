"""The names that a file imports and defines, read from its text; and the files that a spec names."""

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

_FILES = re.compile(r"""(?:\A|(?<=['"]))[^'":()*]+\.(?:py|yaml|yml)(?=[:'"]|\Z)""")


def locate_files(spec: str, folders: Sequence[Path]) -> str:
    """The spec with each file in it, alone or in quotes, replaced by the first such file in `folders`."""

    def full(match: re.Match[str]) -> str:
        files = (folder / match[0] for folder in folders if (folder / match[0]).is_file())
        return str(next(files, match[0]))

    return _FILES.sub(full, spec)


def files_that_define(name: str, folder: Path) -> list[Path]:
    """The Python files of a folder, and of its `src`, that define a name."""
    files = [*sorted(folder.glob("*.py")), *sorted((folder / "src").rglob("*.py"))]
    return [path for path in files if _defines(path, name)]


def _defines(path: Path, name: str) -> bool:
    """Whether a file defines a name at its top level, read without running it; not if it cannot be read."""
    try:
        source = path.read_bytes()
        return name.encode() in source and name in bound_names(ast.parse(source).body)[1]
    except (SyntaxError, ValueError, OSError):
        return False


def read_imports(module: ModuleType) -> tuple[frozenset[str], frozenset[str]]:
    """The packages that a module imports, and the names that it has from imports alone."""
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py") or not Path(file).is_file():
        return frozenset(), frozenset()
    tree = ast.parse(Path(file).read_bytes())
    imported, defined = bound_names(tree.body)
    return frozenset(imported_packages(tree)), frozenset(imported - defined)


def imported_packages(tree: ast.AST) -> set[str]:
    """The packages that a file imports by name, anywhere in it."""
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    return packages


def is_main_guard(node: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Compare) and {"'__main__'", "__name__"} == {
        ast.unparse(each) for each in (test.left, *test.comparators)
    }


def bound_names(statements: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that statements import and define, also inside `if` and `try` but not inside functions."""
    imported: set[str] = set()
    defined: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            walrus = (each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
            defined |= set() if isinstance(node, ast.Lambda) else set(walrus)
        else:
            if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                defined.add(node.name)
            inner_imported, inner_defined = bound_names(ast.iter_child_nodes(node))
            imported |= inner_imported
            defined |= inner_defined
    return imported, defined
