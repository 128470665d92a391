"""Which modules tests and programs import, and which of them are not there.

Modules that tests import are in their judge before it is confined. Whether a sample is scored does not depend on the
program: it is not where the data set's own code imports a module that programs do not have. Any other import that
fails is a failure of the program; one that it never uses is left out.
"""

import ast
import importlib.util
import io
import re
import sys
from collections.abc import Collection, Iterable

from plaudit.sandbox.judging.suites import AssertSuite, CallSuite, FileSuite, Suite

PROGRAM_MODULES = frozenset(
    {"solution", "main", "candidate", "submission", "program", "answer", "your_module", "module"}
)
STUBS = frozenset({"pytest", "unittest", "plaudit"})
# Packages that programs and tests are known to use: an import of one of them is not an import of the program.
KNOWN_PACKAGES = frozenset(
    word
    for line in (
        "Crypto IPython PIL absl aiohttp altair attr attrs boto3 bs4 cachetools click cryptography cupy cv2 cvxpy dask",
        "datasets dateutil django docx dotenv fastapi flask fsspec gensim geopandas gmpy2 gym gymnasium h5py httpx",
        "huggingface_hub hypothesis igraph jax jinja2 joblib jsonschema keras lightgbm loguru lxml markdown matplotlib",
        "mpmath msgpack networkx nltk numba numexpr numpy openpyxl orjson ortools packaging pandas paramiko patsy",
        "plotly polars",
        "psutil psycopg2 pulp pyarrow pydantic pygame pygments pymongo pyparsing pytz pywt qiskit redis regex",
        "requests rich scipy seaborn selenium sentencepiece shapely simplejson six skimage sklearn sortedcontainers",
        "spacy sqlalchemy statsmodels sympy tabulate tensorflow tiktoken tokenizers toolz torch torchvision tornado",
        "tqdm transformers typing_extensions tzlocal ujson unidecode urllib3 wordcloud xgboost xlrd yaml zmq",
    )
    for word in line.split()
)
# Modules of the standard library that are of no use without a network, terminal, display or list of users.
NOT_OFFERED = frozenset({
    "ssl", "curses", "readline", "tkinter", "turtle", "turtledemo", "idlelib", "ensurepip", "venv", "lib2to3", "nis",
    "ossaudiodev", "spwd", "syslog",
})  # fmt: skip
_ABSENT = KNOWN_PACKAGES | NOT_OFFERED
_IMPORTS = re.compile(rf"^\s*(?:import|from)\s+.*\b(?:{'|'.join(sorted(_ABSENT))})\b", re.MULTILINE)
_BY_NAME = {"eval", "exec", "globals", "locals", "vars"}  # a program that calls these may use what no name shows


def parse_code(text: str) -> ast.Module | None:
    """The syntax tree of a text; None if it is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imported(tree: ast.AST | None) -> set[str]:
    """The modules that a text imports, by their dotted names; not those of a relative import."""
    names: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return names


def is_installed(name: str) -> bool:
    """Whether a module of that name can be imported here."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def find_lacking(suite: Suite, prompt: str, present: Collection[str]) -> str:
    """The first module that the data set's code for programs imports and programs do not have; empty if none.

    That code is the prompt, where it is Python, and the lines that run before the program; `present` are the modules
    beside those of the standard library.
    """
    texts = [prompt, *(suite.imports if isinstance(suite, AssertSuite | CallSuite) else ())]
    texts += [suite.prompt] if isinstance(suite, AssertSuite | FileSuite) else []
    tops = {name.partition(".")[0] for text in texts for name in imported(parse_code(text))}
    offered = (sys.stdlib_module_names - NOT_OFFERED) | PROGRAM_MODULES | STUBS | set(present)
    return min(tops - offered, default="")


def drop_unused_imports(source: str, present: Collection[str] = ()) -> str:
    """A program without its imports of known modules that are not `present` and that it never uses.

    Lines keep their numbers. An import within a `try` stays, since what follows may depend on how it ends.
    """
    tree = parse_code(source) if _IMPORTS.search(source) else None
    if tree is None:
        return source
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if used & _BY_NAME:
        return source
    guarded = {inner for node in nodes if isinstance(node, ast.Try) for inner in ast.walk(node)}
    lines = io.StringIO(source, newline="").readlines()  # as the parser counts them
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded]
    for node in sorted(imports, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        kept = [alias for alias in node.names if not _is_unused(node, alias, used, present)]
        if len(kept) < len(node.names):
            _replace(lines, node, kept)
    return "".join(lines)


def _is_unused(
    node: ast.Import | ast.ImportFrom, alias: ast.alias, used: Iterable[str], present: Collection[str]
) -> bool:
    module = alias.name if isinstance(node, ast.Import) else "" if node.level else node.module or ""
    name = alias.asname or alias.name.partition(".")[0]
    return module.partition(".")[0] in _ABSENT - set(present) and name != "*" and name not in used


def _replace(lines: list[str], node: ast.Import | ast.ImportFrom, kept: list[ast.alias]) -> None:
    """Replace an import by a shorter one, or by `pass`."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    node.names = kept
    lines[first] = before + (ast.unparse(node) if kept else "pass") + after
    lines[first + 1 : last + 1] = ["\n"] * (last - first)
