"""Names that a score must not be kept behind: they draw at random, read the clock, files or settings, or ask others.

A name is judged by the module it belongs to, or, for methods of objects that are not known before, by itself. Where in
doubt a name counts as impure: a score that is not kept costs time, one that is kept wrongly is wrong.
"""

import io
import os
from collections.abc import Callable

__all__ = ["CALLS_ELSEWHERE", "IMPURE_IN_MODULE", "IMPURE_METHODS", "IMPURE_VALUES", "RANDOM", "Rule"]

RANDOM = "draws at random ({name}): the same sample may score differently next time; say deterministic=False"
_CLOCK = "reads the clock ({name}): the same sample may score differently next time; say deterministic=False"
_FILES = (
    "reads files while it scores ({name}), whose content is not known before; read them when the module is imported, "
    "or say deterministic=False"
)
_IMPORTS = "loads code by a name that is made while it scores ({name}); import it at the top of the file"
_PROGRAMS = "runs other programs ({name}), and what they answer may change; say deterministic=False"
_NETWORK = "asks the network ({name}), and the answer may change; say deterministic=False"
_SETTINGS = (
    "reads environment variables while it scores ({name}); read them when the module is imported, "
    "or say deterministic=False"
)
_PROCESS = "depends on the process it runs in ({name}): the next run may score differently; say deterministic=False"

Rule = tuple[Callable[[str], bool], str]

_CLOCKS = frozenset({
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "thread_time",
    "localtime", "gmtime", "ctime",
})  # fmt: skip
_DRAWS = frozenset(
    {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "normal", "bernoulli", "multinomial"}
)
_LOADERS = frozenset({"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "open_memmap"})
_SEEDED = frozenset({"Random", "default_rng", "RandomState", "Generator", "SeedSequence", "PCG64"})
_STARTS = ("system", "popen", "exec", "spawn", "posix_spawn", "fork")
_OS = {
    **dict.fromkeys(("open", "listdir", "scandir", "walk", "fwalk", "stat", "lstat", "access", "readlink"), _FILES),
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb"), _SETTINGS),
    **dict.fromkeys(("getpid", "getppid", "cpu_count", "getloadavg", "getcwd", "uname"), _PROCESS),
    "urandom": RANDOM,
}
_OPENS = frozenset({"open", "GzipFile", "BZ2File", "LZMAFile"})
_LOOKS_AT_FILES = frozenset({
    "exists", "lexists", "isfile", "isdir", "islink", "ismount", "getsize", "getmtime", "getatime", "getctime",
    "samefile", "realpath",
})  # fmt: skip


def _any(name: str) -> bool:
    return name[:1] != "_"


def _one_of(*names: str) -> Callable[[str], bool]:
    return frozenset(names).__contains__


def _of_os(message: str) -> Callable[[str], bool]:
    if message == _PROGRAMS:
        return lambda name: name.startswith(_STARTS)
    return lambda name: _OS.get(name) == message


IMPURE_IN_MODULE: dict[str, tuple[Rule, ...]] = {
    "random": ((lambda name: name not in _SEEDED, RANDOM),),
    "secrets": ((_any, RANDOM),),
    "uuid": ((_one_of("uuid1", "uuid4"), RANDOM),),
    "numpy.random": ((lambda name: name not in _SEEDED, RANDOM),),
    "torch": ((_DRAWS.__contains__, RANDOM), (_one_of("load"), _FILES)),
    "time": ((_CLOCKS.__contains__, _CLOCK),),
    "datetime": ((_one_of("now", "utcnow", "today"), _CLOCK),),
    "os": tuple((_of_os(message), message) for message in (_FILES, _SETTINGS, _PROCESS, RANDOM, _PROGRAMS)),
    **dict.fromkeys(("posixpath", "ntpath", "genericpath"), ((_LOOKS_AT_FILES.__contains__, _FILES),)),
    "glob": ((_one_of("glob", "iglob"), _FILES),),
    **dict.fromkeys(("gzip", "bz2", "lzma", "codecs"), ((_OPENS.__contains__, _FILES),)),
    "io": ((_one_of("open", "open_code", "FileIO"), _FILES),),
    "zipfile": ((_one_of("ZipFile", "Path", "is_zipfile"), _FILES),),
    "tarfile": ((_one_of("open", "TarFile", "is_tarfile"), _FILES),),
    "shelve": ((_any, _FILES),),
    "dbm": ((_any, _FILES),),
    "mmap": ((_one_of("mmap"), _FILES),),
    "linecache": ((_any, _FILES),),
    "fileinput": ((_any, _FILES),),
    "configparser": ((_one_of("ConfigParser", "RawConfigParser"), _FILES),),
    "pkgutil": ((_one_of("get_data"), _FILES),),
    "importlib.resources": ((_any, _FILES),),
    "sqlite3": ((_one_of("connect"), _FILES),),
    "numpy": ((_LOADERS.__contains__, _FILES),),
    "pandas": ((lambda name: name.startswith("read_"), _FILES),),
    "polars": ((lambda name: name.startswith(("read_", "scan_")), _FILES),),
    "joblib": ((_one_of("load"), _FILES),),
    "datasets": ((lambda name: name.startswith("load_"), _FILES),),
    "importlib": ((_one_of("import_module", "reload"), _IMPORTS),),
    "runpy": ((_any, _IMPORTS),),
    "subprocess": ((_any, _PROGRAMS),),
    "asyncio": ((lambda name: name.startswith("create_subprocess"), _PROGRAMS),),
    "platform": ((_any, _PROCESS),),
}
"""Which names of a module are impure, and what to say of them."""

CALLS_ELSEWHERE: dict[str, str] = dict.fromkeys(
    (
        "aiohttp", "anthropic", "boto3", "ftplib", "grpc", "http.client", "httpx", "huggingface_hub", "litellm",
        "openai", "psycopg", "psycopg2", "pymongo", "redis", "requests", "smtplib", "socket", "ssl", "telnetlib",
        "urllib.request", "urllib3", "websockets", "xmlrpc.client",
    ),
    _NETWORK,
)  # fmt: skip
"""Modules and packages that are there to ask others, with everything in them."""

IMPURE_VALUES: list[tuple[object, str, str]] = [
    (open, "open", _FILES),
    (io.open, "io.open", _FILES),
    (os.open, "os.open", _FILES),
    (os.environ, "os.environ", _SETTINGS),
    (os.urandom, "os.urandom", RANDOM),
    (input, "input", _PROCESS),
    (id, "id", _PROCESS),
    (hash, "hash", _PROCESS),
    (__import__, "__import__", _IMPORTS),
    (eval, "eval", _IMPORTS),
    (exec, "exec", _IMPORTS),
]
"""Single objects, however they are called where they are used."""

IMPURE_METHODS: dict[str, str] = dict.fromkeys(
    (
        "read_text", "read_bytes", "iterdir", "rglob", "glob", "open", "stat", "lstat", "exists", "is_file", "is_dir",
        "is_symlink", "readlink", "samefile", "from_pretrained",
    ),
    _FILES,
)  # fmt: skip
"""Methods that say by themselves what they do, whatever object they belong to."""
