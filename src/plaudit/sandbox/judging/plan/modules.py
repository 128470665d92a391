"""Which modules beyond the standard library a test text needs, so that its judge has them before it is locked in."""

import importlib.util
import re
import sys
from collections.abc import Sequence
from functools import lru_cache

from plaudit.sandbox.judging.suites import AssertSuite, FileSuite, StreamSuite, Suite

__all__ = ["KNOWN_PACKAGES", "PROGRAM_MODULES", "STAND_INS", "is_installed", "modules_of"]

PROGRAM_MODULES = frozenset(
    {"solution", "main", "candidate", "submission", "program", "answer", "your_module", "module"}
)
STAND_INS = frozenset({"pytest", "unittest", "plaudit"})
# Packages that programs and tests are known to use: who imports one of them means it, and not a module of its own.
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
IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., \t]+))", re.MULTILINE)


def modules_of(suites: Sequence[Suite]) -> tuple[str, ...]:
    """The installed third-party modules that the tests import, by their dotted names."""
    found: set[str] = set()
    for suite in suites:
        if isinstance(suite, AssertSuite):
            found |= _modules_in("\n".join([*suite.imports, suite.prompt, *suite.texts]))
        elif isinstance(suite, FileSuite):
            found |= _modules_in("\n".join([suite.prompt, suite.text]))
        elif isinstance(suite, StreamSuite) and suite.checker:
            found |= _modules_in(suite.checker)
    return tuple(sorted(found))


@lru_cache(maxsize=512)
def _modules_in(text: str) -> frozenset[str]:
    names: set[str] = set()
    for source, listed in IMPORT.findall(text):
        names |= {source} if source else {part.split()[0] for part in listed.split(",") if part.split()}
    return frozenset(name for name in names if _is_third_party(name))


def _is_third_party(name: str) -> bool:
    top = name.partition(".")[0]
    return (
        top not in sys.stdlib_module_names and top not in STAND_INS and top not in PROGRAM_MODULES and is_installed(top)
    )


def is_installed(name: str) -> bool:
    """Whether a module of that name can be imported here."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
