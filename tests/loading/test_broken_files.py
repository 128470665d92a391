"""Files whose module-level code fails: refused where the reward can reach what failed, loaded with a warning else."""
# ruff: noqa: E501 - the tables have long lines

import textwrap
import warnings
from pathlib import Path

import pytest

from plaudit import Trajectory, load
from plaudit.errors import RewardNotLoaded

GUARDED = """
def reward(response):
    try:
        return float({use})
    except Exception:
        return 0.0
"""

BROKEN = {
    # name: (module-level code, what the reward uses, the failing line, the error)
    "misspelt name": ("LIMIT = limmit", "LIMIT", "LIMIT = limmit", "NameError"),
    "failing constant": ("LIMIT = 1 / 0", "LIMIT", "LIMIT = 1 / 0", "ZeroDivisionError"),
    "annotated assignment": ("LIMIT: int = int('x')", "LIMIT", "LIMIT: int = int('x')", "ValueError"),
    "tuple assignment": ("A, B = 1, 2, 3", "A", "A, B = 1, 2, 3", "ValueError"),
    "starred assignment": ("A, *REST = []", "len(REST)", "A, *REST = []", "ValueError"),
    "chained assignment": ("A = B = undefined", "B", "A = B = undefined", "NameError"),
    "augmented assignment": ("LIMIT = 1\nLIMIT += undefined", "LIMIT", "LIMIT += undefined", "NameError"),
    "annotation without a value": ("LIMIT = undefined\nLIMIT: int", "LIMIT", "LIMIT = undefined", "NameError"),
    "getattr of a method": (
        "TABLE = {}\ngetattr(TABLE, 'update')(undefined)", "len(TABLE)", "getattr(TABLE", "NameError"),
    "own context manager": (
        "class Store:\n    def __init__(self):\n        self.rows = []\n    def __enter__(self):\n"
        "        self.rows.append(undefined)\n    def __exit__(self, *_):\n        pass\nSTORE = Store()\n"
        "with STORE:\n    pass", "len(STORE.rows)", "with STORE:", "NameError"),
    "function of a helper": (
        "import good_helper\ngood_helper.configure()", "good_helper.grade(response)", "good_helper.configure()",
        "NameError"),
    "registering factory": (
        "TABLE = {}\ndef register(name):\n    def wrap(function):\n        TABLE[name] = function\n"
        "        return function\n    return wrap\n@register(undefined)\ndef grade(text):\n    return 1",
        "len(TABLE)", "@register(undefined)", "NameError"),
    "table of a class": (
        "class Store:\n    table = {}\nStore.table['x'] = undefined", "len(Store.table)", "Store.table['x']",
        "NameError"),
    "attribute of the reward": ("reward.limit = undefined", "reward.limit", "reward.limit = undefined", "NameError"),
    "class method": (
        "class Store:\n    table = {}\n    @classmethod\n    def load(cls):\n        cls.table['x'] = undefined\nStore.load()",
        "len(Store.table)", "Store.load()", "NameError"),
    "call of a partial": (
        "import functools\nTABLE = {}\ndef fill(key):\n    TABLE[key] = undefined\nfill_x = functools.partial(fill, 'x')\nfill_x()",
        "len(TABLE)", "fill_x()", "NameError"),
    "the module by its name": (
        "import sys\nLIMIT = 1\nsetattr(sys.modules[__name__], 'LIMIT', undefined)", "LIMIT", "setattr(sys", "NameError"),
    "property that changes its object": (
        "class Store:\n    reads = 0\n    @property\n    def rows(self):\n        self.reads += 1\n        return undefined\n"
        "STORE = Store()\nSTORE.rows", "STORE.reads", "STORE.rows", "NameError"),
    "late rebinding": ("LIMIT = 1\nLIMIT = int('x')", "LIMIT", "LIMIT = int('x')", "ValueError"),
    "walrus": ("if (LIMIT := undefined) > 2:\n    pass", "LIMIT", "if (LIMIT := undefined) > 2:", "NameError"),
    "walrus in a comprehension": (
        "ALL = [(LAST := int(x)) for x in ['1', 'x']]", "LAST", "ALL = [", "ValueError"),
    "match": (
        "match {'a': 1}:\n    case {'a': found}:\n        LIMIT = found / 0", "LIMIT", "LIMIT = found / 0",
        "ZeroDivisionError"),
    "match capture": ("match [1, 2]:\n    case [FIRST, *_]:\n        undefined()", "FIRST", "undefined()", "NameError"),
    "missing json file": (
        "import json\nTABLE = json.load(open('absent.json'))", "TABLE['x']", "TABLE = json.load", "FileNotFoundError"),
    "with open": (
        "import json\nwith open('absent.json') as file:\n    TABLE = json.load(file)", "TABLE['x']",
        "with open('absent.json') as file:", "FileNotFoundError"),
    "with body": (
        "import contextlib\nwith contextlib.nullcontext():\n    TABLE = {}\n    TABLE['x'] = undefined", "TABLE['x']",
        "TABLE['x'] = undefined", "NameError"),
    "missing weights": (
        "import torch\nWEIGHTS = torch.load('absent.pt')", "WEIGHTS['w']", "WEIGHTS = torch.load", "FileNotFoundError"),
    "missing environment variable": (
        "import os\nKEY = os.environ['PLAUDIT_ABSENT_KEY']", "len(KEY)", "KEY = os.environ", "KeyError"),
    "environment variable set too late": (
        "import os\nos.environ['PLAUDIT_SOME_KEY'] = undefined", "os.environ['PLAUDIT_SOME_KEY']", "os.environ['P",
        "NameError"),
    "raise in if": (
        "LIMIT = 1\nif LIMIT:\n    raise ValueError('bad limit')", "LIMIT", "raise ValueError('bad limit')", "bad limit"),
    "raise in else": (
        "LIMIT = 0\nif LIMIT:\n    pass\nelse:\n    raise ValueError('no limit')", "LIMIT", "raise ValueError", "no limit"),
    "failing if test": ("if undefined:\n    LIMIT = 3\nelse:\n    LIMIT = 4", "LIMIT", "if undefined:", "NameError"),
    "failing for": (
        "TABLE = {}\nfor key in ['1', 'x']:\n    TABLE[key] = int(key)", "TABLE.get('x', 0)", "TABLE[key] = int(key)",
        "ValueError"),
    "failing while": (
        "TABLE = {}\nwhile len(TABLE) < 2:\n    TABLE[len(TABLE)] = [7][len(TABLE)]", "TABLE[1]", "TABLE[len", "IndexError"),
    "for over tables": (
        "A, B = {}, {}\nfor table in (A, B):\n    table['x'] = undefined", "B['x']", "table['x'] = undefined", "NameError"),
    "raise in for": (
        "for LIMIT in (1, 2):\n    if LIMIT > 1:\n        raise ValueError('stop')", "LIMIT", "raise ValueError", "stop"),
    "try else": (
        "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    LIMIT = undefined", "LIMIT", "LIMIT = undefined",
        "NameError"),
    "try finally": ("try:\n    LIMIT = 3\nfinally:\n    LIMIT = undefined", "LIMIT", "LIMIT = undefined", "NameError"),
    "try without the right handler": (
        "try:\n    LIMIT = int('x')\nexcept KeyError:\n    LIMIT = 2", "LIMIT", "LIMIT = int('x')", "ValueError"),
    "except branch fails": (
        "try:\n    LIMIT = int('x')\nexcept ValueError:\n    LIMIT = undefined", "LIMIT", "LIMIT = undefined", "NameError"),
    "except branch raises": (
        "try:\n    LIMIT = int('x')\nexcept ValueError as error:\n    raise RuntimeError('no limit') from error", "LIMIT",
        "raise RuntimeError", "no limit"),
    "fallback of an import fails": (
        "try:\n    from absent_kit import grade\nexcept ImportError:\n    grade = undefined", "grade(response)",
        "grade = undefined", "NameError"),
    "absent import": ("import absent_kit", "absent_kit.grade(response)", "import absent_kit", "pip install absent_kit"),
    "absent import from": (
        "from absent_kit import grade", "grade(response)", "from absent_kit import grade", "pip install absent_kit"),
    "absent name of an installed package": (
        "from json import no_such_name", "no_such_name(response)", "from json import no_such_name", "ImportError"),
    "absent submodule": ("import json.absent_part", "json.loads('1')", "import json.absent_part", "json.absent_part"),
    "star import": ("from absent_kit import *", "grade(response)", "from absent_kit import *", "pip install absent_kit"),
    "star import over a function": (
        "def grade(text):\n    return 1\nfrom absent_kit import *", "grade(response)", "from absent_kit import *",
        "absent_kit"),
    "helper fails": ("from failing_helper import grade", "grade(response)", "from failing_helper", "ZeroDivisionError"),
    "helper fails as a module": (
        "import failing_helper", "failing_helper.grade(response)", "import failing_helper", "ZeroDivisionError"),
    "dict update in a loop": (
        "TABLE = {}\nfor part in [{'a': 1}, None]:\n    TABLE.update(part)", "TABLE.get('b', 0)", "TABLE.update(part)",
        "TypeError"),
    "registry append half-way": (
        "REGISTRY = []\nfor text in ['1', 'x']:\n    REGISTRY.append(int(text))", "sum(REGISTRY)", "REGISTRY.append",
        "ValueError"),
    "map with a bound method": (
        "REGISTRY = []\nlist(map(REGISTRY.append, (int(x) for x in ['1', 'x'])))", "sum(REGISTRY)", "list(map",
        "ValueError"),
    "failing decorator": (
        "@undefined\ndef grade(text):\n    return 1", "grade(response)", "@undefined", "NameError"),
    "own decorator fails after it registered": (
        "REGISTRY = {}\ndef register(function):\n    REGISTRY[function.__name__] = function\n    raise ValueError('no')\n"
        "@register\ndef grade(text):\n    return 1", "REGISTRY['grade'](response)", "@register", "ValueError: no"),
    "failing default argument": (
        "def grade(text, limit=undefined):\n    return 1", "grade(response)", "def grade(text, limit=undefined):",
        "NameError"),
    "failing class body": (
        "class Grader:\n    limit = undefined\n    def grade(self, text):\n        return 1", "Grader().grade(response)",
        "limit = undefined", "NameError"),
    "failing base": ("class Grader(undefined):\n    pass", "Grader()", "class Grader(undefined):", "NameError"),
    "failing subclass that a base registers": (
        "class Base:\n    known = {}\n    def __init_subclass__(cls):\n        Base.known[cls.__name__] = cls\n"
        "class Grader(Base):\n    limit = undefined", "len(Base.known)", "limit = undefined", "NameError"),
    "failing del": ("TABLE = {'a': 1}\ndel TABLE['b']", "len(TABLE)", "del TABLE['b']", "KeyError"),
    "del of a name": ("LIMIT = 1\ndel LIMIT, undefined", "LIMIT", "del LIMIT, undefined", "NameError"),
    "globals with a name": ("globals()['LIMIT'] = int('x')", "LIMIT", "globals()['LIMIT'] = int('x')", "ValueError"),
    "globals update": (
        "LIMIT = 1\nglobals().update(undefined)", "LIMIT", "globals().update(undefined)", "NameError"),
    "exec": ("LIMIT = 1\nexec('LIMIT = undefined')", "LIMIT", "exec('LIMIT = undefined')", "NameError"),
    "setattr on a class": (
        "class Settings:\n    limit = 1\nsetattr(Settings, 'limit', undefined)", "Settings.limit", "setattr(Settings",
        "NameError"),
    "attribute of a class": (
        "class Settings:\n    limit = 1\nSettings.limit = undefined", "Settings.limit", "Settings.limit = undefined",
        "NameError"),
    "attribute of an instance through an alias": (
        "class Settings:\n    limit = 1\nSETTINGS = Settings()\nALIAS = SETTINGS\nALIAS.limit = undefined",
        "SETTINGS.limit", "ALIAS.limit = undefined", "NameError"),
    "alias of a container": (
        "TABLE = {}\nVIEW = [TABLE]\nTABLE['x'] = undefined", "VIEW[0]['x']", "TABLE['x'] = undefined", "NameError"),
    "attribute of a helper module": (
        "import good_helper\ngood_helper.LIMIT = undefined", "good_helper.grade(response)", "good_helper.LIMIT = undefined",
        "NameError"),
    "container of a helper module": (
        "import good_helper\ngood_helper.TABLE.update(undefined)", "good_helper.grade(response)", "good_helper.TABLE",
        "NameError"),
    "function that fails half-way": (
        "TABLE = {}\ndef fill():\n    TABLE['a'] = 1\n    TABLE['b'] = undefined\nfill()", "TABLE.get('b', 0)", "fill()",
        "NameError"),
    "function that sets a global": (
        "LIMIT = 1\ndef configure():\n    global LIMIT\n    LIMIT = undefined\nconfigure()", "LIMIT", "configure()",
        "NameError"),
    "function that changes an alias": (
        "TABLE = {}\ndef fill():\n    table = TABLE\n    table['b'] = undefined\nfill()", "TABLE['b']", "fill()",
        "NameError"),
    "function that calls a function": (
        "TABLE = {}\ndef inner():\n    TABLE['b'] = undefined\ndef outer():\n    inner()\nouter()", "TABLE['b']", "outer()",
        "NameError"),
    "function that changes its argument": (
        "TABLE = {}\ndef fill(table):\n    table['b'] = undefined\nfill(TABLE)", "TABLE['b']", "fill(TABLE)", "NameError"),
    "function that sets an attribute of a function": (
        "def grade(text):\n    return grade.limit\ndef configure(function):\n    function.limit = undefined\n"
        "configure(grade)", "grade(response)", "configure(grade)", "NameError"),
    "misspelt function with a table": ("TABLE = {}\nfil(TABLE)", "TABLE['b']", "fil(TABLE)", "NameError"),
    "misspelt function with a function": (
        "def grade(text):\n    return 1\nconfigur(grade)", "grade(response)", "configur(grade)", "NameError"),
    "method of an own class": (
        "class Store:\n    def __init__(self):\n        self.rows = []\n    def load(self):\n        self.rows += undefined\n"
        "STORE = Store()\nSTORE.load()", "len(STORE.rows)", "STORE.load()", "NameError"),
    "class that fails in its constructor": (
        "class Store:\n    def __init__(self):\n        raise OSError('no data')\nSTORE = Store()", "STORE.rows",
        "STORE = Store()", "no data"),
    "constructor that registers": (
        "KNOWN = []\nclass Store:\n    def __init__(self):\n        KNOWN.append(undefined)\nStore()", "len(KNOWN)",
        "Store()", "NameError"),
    "value made of a failed value": (
        "BASE = undefined\nLIMIT = BASE + 1", "LIMIT", "BASE = undefined", "NameError"),
    "swallowed use of a failed value": (
        "BASE = undefined\ntry:\n    LIMIT = BASE + 1\nexcept NameError:\n    LIMIT = 0", "LIMIT", "BASE = undefined",
        "NameError"),
    "function that uses a failed value": (
        "BASE = undefined\ndef limit():\n    try:\n        return BASE\n    except NameError:\n        return 0\n"
        "LIMIT = limit()", "LIMIT", "BASE = undefined", "NameError"),
    "failed value in a default": (
        "BASE = undefined\ndef grade(text, base=BASE):\n    return base", "grade(response)", "BASE = undefined",
        "NameError"),
    "failed value in a method": (
        "BASE = undefined\nclass Grader:\n    def grade(self, text):\n        return BASE", "Grader().grade(response)",
        "BASE = undefined", "NameError"),
    "failed value in a nested function": (
        "BASE = undefined\ndef grade(text):\n    def inner():\n        return BASE\n    return inner()",
        "grade(response)", "BASE = undefined", "NameError"),
    "failed value in a lambda in a table": (
        "BASE = undefined\nTABLE = {'x': lambda text: BASE}", "TABLE['x'](response)", "BASE = undefined", "NameError"),
    "failed value in a closure": (
        "def make():\n    def inner(text):\n        return BASE\n    return inner\ngrade = make()\nBASE = undefined",
        "grade(response)", "BASE = undefined", "NameError"),
    "variable of an enclosing function that the call changed": (
        "def counter():\n    n = 0\n    def add(by):\n        nonlocal n\n        n += 1\n        return n + by\n    return add\n"
        "ADD = counter()\nADD('x')", "ADD(0)", "ADD('x')", "TypeError"),
    "failed value in a partial": (
        "import functools\ndef scale(text, by=1):\n    return BASE\ngrade = functools.partial(scale, by=2)\nBASE = undefined",
        "grade(response)", "BASE = undefined", "NameError"),
    "failed value in a property": (
        "class Grader:\n    @property\n    def limit(self):\n        return BASE\nGRADER = Grader()\nBASE = undefined",
        "GRADER.limit", "BASE = undefined", "NameError"),
    "name that is looked up at run time": (
        "LIMIT = undefined", "globals().get('LIM' + 'IT', 0)", "LIMIT = undefined", "NameError"),
    "name that is evaluated at run time": ("LIMIT = undefined", "eval('LIMIT')", "LIMIT = undefined", "NameError"),
    "module that is looked up at run time": (
        "import sys\nLIMIT = undefined", "getattr(sys.modules[__name__], 'LIMIT', 0)", "LIMIT = undefined", "NameError"),
    "assert": ("LIMIT = 3\nassert LIMIT < 2, 'limit too large'", "LIMIT", "assert LIMIT < 2", "limit too large"),
    "assert before the reward": ("assert False, 'not ready'", "1.0", "assert False", "not ready"),
    "raise before the reward": ("raise RuntimeError('GPU only')", "1.0", "raise RuntimeError", "GPU only"),
    "sys.exit": ("import sys\nsys.exit('not here')", "1.0", "sys.exit('not here')", "not here"),
    "exit": ("exit('not here')", "1.0", "exit('not here')", "not here"),
    "system exit in a function": (
        "def check():\n    raise SystemExit('not here')\ncheck()", "1.0", "check()", "not here"),
    "base exception": ("class Stop(BaseException): pass\nraise Stop('end')\nLIMIT = 1", "LIMIT", "raise Stop", "end"),
    "dataclass that fails": (
        "from dataclasses import dataclass\n@dataclass\nclass Settings:\n    limit: int = 1\n    name: str\n",
        "Settings(1, 'x').limit", "@dataclass", "TypeError"),
    "regular expression": (
        "import re\nANSWER = re.compile('(')", "len(ANSWER.findall(response))", "ANSWER = re.compile", "error"),
    "comprehension": (
        "TABLE = {key: int(key) for key in ['1', 'x']}", "TABLE['1']", "TABLE = {key", "ValueError"),
    "nested subscript": (
        "TABLE = {'a': {}}\nINNER = TABLE['a']\nTABLE['a']['b'] = undefined", "INNER['b']", "TABLE['a']['b']",
        "NameError"),
    "list slice": ("ROWS = [1, 2]\nROWS[:] = undefined", "len(ROWS)", "ROWS[:] = undefined", "NameError"),
    "deleted attribute": (
        "class Settings:\n    limit = 1\ndel Settings.absent", "Settings.limit", "del Settings.absent", "AttributeError"),
    "lambda that raises": ("pick = lambda: undefined\nLIMIT = pick()", "LIMIT", "LIMIT = pick()", "NameError"),
    "generator that raises": (
        "def rows():\n    yield 1\n    raise ValueError('row 2')\nROWS = list(rows())", "len(ROWS)", "ROWS = list(rows())",
        "row 2"),
    "alias of a method": (
        "TABLE = {}\nlookup = TABLE.get\nTABLE['x'] = undefined", "lookup('x', 0)", "TABLE['x']", "NameError"),
    "function that is given a function": (
        "TABLE = {}\ndef fill():\n    TABLE['x'] = undefined\ndef run(task):\n    task()\nrun(fill)", "len(TABLE)",
        "run(fill)", "NameError"),
    "generator of random": (
        "import random\nrandom.seed(undefined)", "random.random()", "random.seed(undefined)", "NameError"),
    "kept iterator": (
        "ROWS = [1, 2]\nNEXT = iter(ROWS)\nROWS.append(undefined)", "len(list(NEXT))", "ROWS.append", "NameError"),
    "thread": (
        "import threading\nTABLE = {}\ndef fill():\n    TABLE['x'] = 1\nthreading.Thread(target=fill, name=undefined).start()",
        "len(TABLE)", "threading.Thread", "NameError"),
    "function in a table": (
        "TABLE = {}\ndef fill():\n    TABLE['x'] = undefined\nSTEPS = {'fill': fill}\nSTEPS['fill']()", "len(TABLE)",
        "STEPS['fill']()", "NameError"),
    "function in a table by a computed key": (
        "TABLE = {}\ndef fill():\n    TABLE['x'] = undefined\nSTEPS = [fill]\nSTEPS[len(STEPS) - 1]()", "len(TABLE)",
        "STEPS[len", "NameError"),
    "function that sets an attribute of a helper module": (
        "import good_helper\ndef configure():\n    good_helper.LIMIT = undefined\nconfigure()",
        "good_helper.grade(response)", "configure()", "NameError"),
    "context manager that changes a table": (
        "TABLE = {}\nclass Filling:\n    def __enter__(self):\n        TABLE['x'] = undefined\n    def __exit__(self, *_):\n"
        "        pass\nFILLING = Filling()\nwith FILLING:\n    pass", "len(TABLE)", "with FILLING:", "NameError"),
    "objects in a list": (
        "TABLE = {}\nclass Store:\n    def load(self):\n        TABLE['x'] = undefined\nSTORES = [Store()]\n"
        "for store in STORES:\n    store.load()", "len(TABLE)", "store.load()", "NameError"),
    "vars of the module": ("LIMIT = 1\nvars()['LIMIT'] = undefined", "LIMIT", "vars()['LIMIT']", "NameError"),
    "metaclass that registers": (
        "KNOWN = []\nclass Meta(type):\n    def __init__(cls, *rest):\n        KNOWN.append(cls)\n"
        "class Base(metaclass=Meta):\n    pass\nclass Grader(Base):\n    limit = undefined", "len(KNOWN)",
        "limit = undefined", "NameError"),
    "metaclass keyword": (
        "KNOWN = []\nclass Meta(type):\n    def __init__(cls, *rest):\n        KNOWN.append(cls)\n"
        "class Grader(metaclass=Meta):\n    limit = undefined", "len(KNOWN)", "limit = undefined", "NameError"),
    "function defined in the failing statement": (
        "TABLE = {}\nif undefined:\n    def fill():\n        TABLE['x'] = 1\n    fill()", "len(TABLE)", "if undefined:",
        "NameError"),
    "class defined in the failing statement": (
        "TABLE = {}\nif undefined:\n    class Filling:\n        def __init__(self):\n            TABLE['x'] = 1\n"
        "    Filling()", "len(TABLE)", "if undefined:", "NameError"),
    "asyncio.run": (
        "import asyncio\nasync def fetch():\n    raise OSError('no host')\nDATA = asyncio.run(fetch())", "len(DATA)",
        "DATA = asyncio.run", "no host"),
}  # fmt: skip


@pytest.fixture
def helpers(write):
    write("failing_helper.py", "def grade(text):\n    return 1\n\nLIMIT = 1 / 0\n")
    write(
        "good_helper.py",
        "TABLE = {}\nLIMIT = 1\n\ndef grade(text):\n    return LIMIT + TABLE.get('x', 0)\n\n"
        "def configure():\n    global LIMIT\n    LIMIT = undefined\n",
    )


@pytest.mark.parametrize("is_first", [False, True], ids=["reward last", "reward first"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_reward_that_can_reach_what_failed_is_refused(write, helpers, name, is_first):
    code, use, line, error = BROKEN[name]
    reward = GUARDED.format(use=use)
    if (is_first and use == "1.0") or (name == "attribute of the reward" and not is_first):
        return  # what stands before the end of the file is complete
    path = write("rewards.py", f"{reward}\n{code}\n" if is_first else f"{code}\n{reward}")
    number = next(at for at, text in enumerate(path.read_text().splitlines(), 1) if text.strip().startswith(line))
    for spec in ("rewards.py:reward", "rewards.py"):
        with warnings.catch_warnings(action="error"), pytest.raises(RewardNotLoaded) as caught:
            load(spec)
        assert all(part in str(caught.value) for part in (str(path), f"line {number}: `{line}", error)), caught.value


def test_warning_filters_of_a_file_do_not_turn_the_warning_of_loading_into_an_error(write):
    write("strict.py", "import warnings\nwarnings.simplefilter('error')\nimport absent_kit\n\n"
          "def reward(response):\n    return 1.0\n")  # fmt: skip
    with pytest.warns(UserWarning, match="absent_kit"):
        load("strict.py")


def test_module_level_code_runs_once(write):
    write("counting.py", "import pathlib\nruns = pathlib.Path('runs')\nruns.write_text('x')\n\n"
          "def log(f):\n    runs.write_text(runs.read_text() + 'y')\n    return f\n\n"
          "import absent_kit\n\n@log\ndef reward(response: absent_kit.Text):\n    return 1.0\n")  # fmt: skip
    with pytest.warns(UserWarning, match="absent_kit"):
        assert load("counting.py")([Trajectory("q", "r")]) == [1.0]
    load("counting.py:reward")
    assert Path("runs").read_text() == "xy"


def test_a_package_that_a_reward_imports_when_it_runs_is_reported_when_it_is_loaded(write):
    write("late.py", "def reward(response):\n    try:\n        import absent_kit\n    except ImportError:\n        return 0.5\n"
          "    return absent_kit.grade(response)\n")  # fmt: skip
    with pytest.warns(UserWarning, match="reward imports absent_kit, which is not installed"):
        load("late.py")
    with warnings.catch_warnings(action="error"):
        load("late.py:reward")


def test_a_total_that_failed_does_not_give_way_to_one_of_its_parts(write):
    write("total.py", "from plaudit import CompositeReward\n\ndef right(response):\n    return 1.0\n\n"
          "total = CompositeReward([(right, 0.5), (misspelt, 0.5)])\n")  # fmt: skip
    with pytest.raises(RewardNotLoaded, match="line 6: `total = CompositeReward"):
        load("total.py")


def test_a_worker_refuses_the_same_file(write):
    from plaudit.engine import Scorer

    write("rewards.py", textwrap.dedent("LIMIT = limmit\n" + GUARDED.format(use="LIMIT")))
    with (
        pytest.raises(RewardNotLoaded, match="line 1: `LIMIT = limmit`"),
        Scorer("rewards.py:reward", workers=1) as scorer,
    ):
        list(scorer.score([Trajectory("q", "r")]))


@pytest.mark.parametrize(
    ("imports", "name", "module"),
    [
        ("from flux.rewards import CompositeReward", "LengthReward", "flux.rewards"),
        ("", "LengthReward", "plaudit.rewards"),
        ("", "GSM8KFormatReward", "twinkle.reward"),
    ],
)
def test_a_name_that_is_not_defined_comes_with_the_import_of_a_package_that_has_it(write, imports, name, module):
    write("mine.py", f"{imports}\nreward = {name}()")
    with pytest.raises(RewardNotLoaded, match=f"name '{name}' is not defined; write: from {module} import {name}"):
        load("mine.py")


def test_a_name_that_a_function_uses_and_nothing_defines_is_named_when_the_file_is_loaded(write):
    write("mine.py", "def custom(response, prompt, metadata): return evaluate_format(response, '') + absent(response)")
    with pytest.warns(UserWarning, match=r"not defined; write: from plaudit\.checks import evaluate_format$"):
        load("mine.py")
