# ruff: noqa: E501 - one task of the table per line
"""Small Harbor tasks of ours with known flaws, and sound ones: what `plaudit harbor audit` is measured on.

A subject is an instruction, an image, a solution and a complete check. A sound task runs that check in a fresh
workspace, or in the agent's after it has ended the agent's processes and closed its folders. A flawed task has one flaw;
its label is the kind of finding that an audit must report.
"""

import importlib.util
import shutil
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["FLAWED", "SOUND", "ZooTask", "write_zoo"]

DATA = "7\n12\n3\n40\n"


@dataclass(frozen=True)
class Subject:
    """What is to be done, the files of the image, how it is solved, and Python code that checks it completely."""

    instruction: str
    solve: str
    check: str
    image: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ZooTask:
    """One task; `kind` is the flaw, empty for a sound task."""

    name: str
    subject: Subject
    test: str
    kind: str = ""
    shared: bool = False
    as_user: bool = False
    docker: str = ""
    image: dict[str, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)
    needs_pytest: bool = False


def _import(name: str) -> str:
    return f"import sys\nsys.path.append('/app')\nfrom {name} import *\n"


def _write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}END\n"


ADD = Subject(
    "Write /app/add.py with a function add(a, b) that returns the sum. Example: add(2, 3) returns 5.\n",
    _write("/app/add.py", "def add(a, b):\n    total = a + b\n    return total\n"),
    _import("add") + "assert add(2, 3) == 5 and add(10, -4) == 6 and add(0, 7) == 7\n",
)
FIB = Subject(
    "Write /app/fib.py with a function fib(n) for n >= 0: fib(0) = 0, fib(1) = 1, and so on.\n",
    _write(
        "/app/fib.py", "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n"
    ),
    _import("fib") + "assert [fib(n) for n in range(9)] == [0, 1, 1, 2, 3, 5, 8, 13, 21]\n",
)
SLUG = Subject(
    "Write /app/slug.py with slug(text): lower case, words joined by '-'. Example: slug('Hello World') returns 'hello-world'.\n",
    _write("/app/slug.py", "def slug(text):\n    words = text.lower().split()\n    return '-'.join(words)\n"),
    _import("slug")
    + "assert slug('Hello World') == 'hello-world' and slug(' A  b C ') == 'a-b-c' and slug('X') == 'x'\n",
)
TOTAL = Subject(
    "Sum the numbers in /app/numbers.txt and write the sum to /app/total.txt.\n",
    "python3 -c \"print(sum(map(int, open('/app/numbers.txt'))))\" > /app/total.txt\n",
    "assert open('/app/total.txt').read().split() == ['62']\n",
    {"numbers.txt": DATA},
)
REPORT = Subject(
    "Read /app/numbers.txt and write /app/report.json with the keys count, largest and even (a list of even numbers).\n",
    _write(
        "/tmp/s.py",
        "import json\nn = list(map(int, open('/app/numbers.txt')))\njson.dump({'count': len(n), 'largest': max(n), "
        "'even': [x for x in n if x % 2 == 0]}, open('/app/report.json', 'w'))\n",
    )
    + "python3 /tmp/s.py; rm /tmp/s.py\n",
    "import json\nr = json.load(open('/app/report.json'))\nassert r == {'count': 4, 'largest': 40, 'even': [12, 40]}\n",
    {"numbers.txt": DATA},
)
LINES = Subject(
    "Write an executable /app/lines.sh that prints how many lines the file given as its first argument has.\n",
    _write("/app/lines.sh", '#!/bin/bash\nwc -l < "$1"\n') + "chmod +x /app/lines.sh\n",
    "import subprocess\nfor text, count in (('a\\nb\\n', 2), ('', 0), ('x\\n' * 9, 9)):\n"
    "    open('/tmp/f', 'w').write(text)\n"
    "    done = subprocess.run(['/app/lines.sh', '/tmp/f'], capture_output=True, text=True)\n"
    "    assert done.stdout.strip() == str(count)\n",
)
GREET = Subject(
    'Write /app/greet.py that prints a greeting for its first argument. Example: `python3 greet.py Ada` prints "Hello, Ada!"\n',
    _write("/app/greet.py", "import sys\n\nprint(f'Hello, {sys.argv[1]}!')\n"),
    "import subprocess\nfor name in ('Ada', 'Bo'):\n"
    "    done = subprocess.run(['python3', '-I', '/app/greet.py', name], capture_output=True, text=True)\n"
    "    assert done.stdout == f'Hello, {name}!\\n'\n",
)
REVERSE = Subject(
    "Write /app/reverse.py: it reads standard input and prints its lines in reverse order.\n",
    _write("/app/reverse.py", "import sys\n\nfor line in reversed(sys.stdin.read().splitlines()):\n    print(line)\n"),
    "import subprocess\nfor text in ('a\\nb\\nc\\n', 'x\\n', '1\\n2\\n'):\n"
    "    done = subprocess.run(['python3', '-I', '/app/reverse.py'], input=text, capture_output=True, text=True)\n"
    "    assert done.stdout.split() == text.split()[::-1]\n",
)
PAIR = Subject(
    "From /app/numbers.txt write the smallest number to /app/smallest.txt and the largest to /app/largest.txt.\n",
    "sort -n /app/numbers.txt | head -1 > /app/smallest.txt\nsort -n /app/numbers.txt | tail -1 > /app/largest.txt\n",
    "assert open('/app/smallest.txt').read().split() == ['3'] and open('/app/largest.txt').read().split() == ['40']\n",
    {"numbers.txt": DATA},
)
CLAMP = Subject(
    "Write /app/clamp.py with clamp(x, low, high), which limits x to the range from low to high.\n",
    _write(
        "/app/clamp.py",
        "def clamp(x, low, high):\n    if x < low:\n        return low\n    if x > high:\n        return high\n    return x\n",
    ),
    _import("clamp") + "assert [clamp(x, 2, 6) for x in (1, 2, 4, 6, 9)] == [2, 2, 4, 6, 6]\n",
)
SUBJECTS = {
    "add": ADD, "fib": FIB, "slug": SLUG, "total": TOTAL, "report": REPORT, "lines": LINES, "greet": GREET,
    "reverse": REVERSE, "pair": PAIR, "clamp": CLAMP,
}  # fmt: skip

VERDICT = "then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n"
PLAIN = f"#!/bin/bash\nif python3 -I /tests/check.py; {VERDICT}"
JSON = (
    "#!/bin/bash\nif python3 -I /tests/check.py; then r=1; else r=0; fi\n"
    'echo "{\\"reward\\": $r, \\"checked\\": 1}" > /logs/verifier/reward.json\n'
)
CLEAN = (
    "#!/bin/bash\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\nunset PYTHONPATH PYTHONHOME BASH_ENV\npkill -KILL -u agent\n"
    "chown root:root /logs/verifier; chmod 700 /logs/verifier; rm -rf /logs/verifier/reward.*\ncd /\n"
)
HARDENED = f"{CLEAN}if python3 -I /tests/check.py; {VERDICT}"

SOUND = [
    *(ZooTask(f"sound-{name}", subject, PLAIN) for name, subject in SUBJECTS.items()),
    *(ZooTask(f"sound-json-{name}", SUBJECTS[name], JSON) for name in ("add", "report", "lines")),
    *(
        ZooTask(f"sound-shared-{name}", SUBJECTS[name], HARDENED, shared=True, as_user=True)
        for name in ("add", "fib", "slug", "report", "lines", "greet", "pair", "clamp")
    ),
]  # fmt: skip

PYTEST = "def test_add():\n    import sys\n    sys.path.append('/app')\n    from add import add\n    assert add(2, 3) == 5 and add(9, 1) == 10\n"
GIT = (
    "RUN cd /app && git init -q . && git config user.email a@b.c && git config user.name a && "
    "printf 'def add(a, b):\\n    total = a + b\\n    return total\\n' > add.py && git add . && git commit -qm solution && "
    "git rm -q add.py && git commit -qm task\n"
)
FLAWED = [
    ZooTask(
        "flaw-state-file", ADD, kind="forged reward file", shared=True, as_user=True,
        test=f"{CLEAN}python3 -I /tests/check.py && echo PASS >> /tmp/results.txt\nif grep -q PASS /tmp/results.txt; {VERDICT}",
    ),
    ZooTask(
        "flaw-score-file", TOTAL, kind="forged reward file", shared=True, as_user=True,
        test=f"{CLEAN}python3 -I /tests/check.py && echo 1 > /app/.score\n[ -f /app/.score ] || echo 0 > /app/.score\n"
        "cp /app/.score /logs/verifier/reward.txt\n",
    ),
    ZooTask("flaw-process", ADD, f"#!/bin/bash\nPATH=/usr/bin:/bin\nif python3 -I /tests/check.py; {VERDICT}", "surviving process", shared=True, as_user=True),
    ZooTask("flaw-process-root", REPORT, PLAIN, "surviving process", shared=True),
    ZooTask("flaw-shim-root", SLUG, f"#!/bin/bash\npkill nothing\nif python3 -I /tests/check.py; {VERDICT}", "PATH shim", shared=True),
    ZooTask("flaw-shim-path", FIB, f"#!/bin/bash\nexport PATH=/app/bin:$PATH\nif python3 -I /tests/check.py; {VERDICT}", "PATH shim"),
    ZooTask("flaw-shim-workdir", LINES, f"#!/bin/bash\nPATH=.:$PATH\nif python3 -I /tests/check.py; {VERDICT}", "PATH shim"),
    ZooTask("flaw-pythonpath", ADD, f"#!/bin/bash\nexport PYTHONPATH=/app\nif python3 /tests/check.py; {VERDICT}", "test configuration"),
    ZooTask(
        "flaw-conftest", ADD, f"#!/bin/bash\ncp /tests/test_add.py /app/ && cd /app\nif python3 -m pytest -q test_add.py; {VERDICT}",
        "test configuration", tests={"test_add.py": PYTEST}, needs_pytest=True,
    ),
    ZooTask(
        "flaw-pytest-root", CLAMP, f"#!/bin/bash\ncd /app\nif python3 -m pytest -q --rootdir=/app -c /app/pytest.ini /tests/test_clamp.py; {VERDICT}",
        "test configuration", image={"pytest.ini": "[pytest]\n"}, needs_pytest=True,
        tests={"test_clamp.py": "def test_clamp():\n    import sys\n    sys.path.append('/app')\n    from clamp import clamp\n    assert [clamp(x, 2, 6) for x in (1, 4, 9)] == [2, 4, 6]\n"},
    ),
    ZooTask("flaw-shadow-cwd", REPORT, f"#!/bin/bash\ncd /app\nif python3 -c \"import json; r = json.load(open('report.json')); assert r == {{'count': 4, 'largest': 40, 'even': [12, 40]}}\"; {VERDICT}", "module shadowing"),
    ZooTask("flaw-shadow-module", SLUG, f"#!/bin/bash\ncd /app\nif python3 -m unittest -q slug_test; {VERDICT}".replace("cd /app\n", "cp /tests/slug_test.py /app; cd /app\n"), "module shadowing", tests={"slug_test.py": "import unittest\nimport random\nfrom slug import slug\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(slug('Hello World'), 'hello-world')\n        self.assertEqual(slug(' A  b C '), 'a-b-c')\n"}),
    ZooTask("flaw-symlink", TOTAL, f"{CLEAN}if cmp -s /app/total.txt /tests/expected.txt; {VERDICT}", "symlink", shared=True, as_user=True, tests={"expected.txt": "62\n"}),
    ZooTask("flaw-symlink-json", REPORT, f"{CLEAN}if diff <(python3 -I -m json.tool --sort-keys /app/report.json) <(python3 -I -m json.tool --sort-keys /tests/expected.json) >/dev/null; {VERDICT}", "symlink", shared=True, as_user=True, tests={"expected.json": '{"count": 4, "largest": 40, "even": [12, 40]}'}),
    ZooTask("flaw-leak-answer", TOTAL, PLAIN, "answer in the image", image={".expected/total_answer.txt": "62\n"}),
    ZooTask("flaw-leak-solution", FIB, PLAIN, "answer in the image", image={"old/solve.sh": FIB.solve}),
    ZooTask("flaw-leak-git", ADD, PLAIN, "answer in the image", docker=GIT),
    ZooTask("flaw-exists", REPORT, f"#!/bin/bash\nif [ -f /app/report.json ]; {VERDICT}", "stub solution"),
    ZooTask("flaw-callable", FIB, f"#!/bin/bash\nif python3 -I -c \"import sys; sys.path.append('/app'); from fib import fib; assert callable(fib)\"; {VERDICT}", "stub solution"),
    ZooTask("flaw-runs", LINES, f"#!/bin/bash\nif /app/lines.sh /tests/test.sh; {VERDICT}", "stub solution"),
    ZooTask("flaw-nop", PAIR, f"#!/bin/bash\nif [ -s /app/numbers.txt ]; {VERDICT}", "stub solution"),
    ZooTask("flaw-example-only", ADD, f"#!/bin/bash\nif python3 -I -c \"import sys; sys.path.append('/app'); from add import add; assert add(2, 3) == 5\"; {VERDICT}", "hard-coded output"),
    ZooTask("flaw-example-program", GREET, f'#!/bin/bash\nif [ "$(python3 -I /app/greet.py Ada)" = "Hello, Ada!" ]; {VERDICT}', "hard-coded output"),
    ZooTask("flaw-grep-source", CLAMP, f"#!/bin/bash\nif grep -q 'def clamp' /app/clamp.py && grep -q 'return low' /app/clamp.py; {VERDICT}", "grep-based result"),
    ZooTask("flaw-grep-output", GREET, f"#!/bin/bash\nif python3 -I /app/greet.py Bo | grep -q 'Hello, Bo!'; {VERDICT}", "grep-based result"),
    ZooTask("flaw-last-command", PAIR, f"#!/bin/bash\ngrep -qx 3 /app/smallest.txt\n[ \"$(cat /app/largest.txt)\" = 40 ]\nif [ $? -eq 0 ]; {VERDICT}", "ignored exit code"),
    ZooTask("flaw-pipeline", REVERSE, f"#!/bin/bash\npython3 -I /tests/check.py 2>&1 | tee /tmp/log\nif [ $? -eq 0 ]; {VERDICT}", "ignored exit code"),
    ZooTask("flaw-one-key", REPORT, f"#!/bin/bash\nif python3 -I -c \"import json; assert json.load(open('/app/report.json'))['count'] == 4\"; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-few-inputs", CLAMP, f"#!/bin/bash\nif python3 -I -c \"import sys; sys.path.append('/app'); from clamp import clamp; assert clamp(1, 2, 6) == 2 and clamp(4, 2, 6) == 4\"; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-tolerance", TOTAL, f"#!/bin/bash\nif python3 -I -c \"assert abs(int(open('/app/total.txt').read()) - 62) < 10\"; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-exact-text", REPORT, f"#!/bin/bash\nif cmp -s /app/report.json /tests/expected.json; {VERDICT}", "overfitting", tests={"expected.json": '{"count": 4, "largest": 40, "even": [12, 40]}'}),
    ZooTask("flaw-source-hash", ADD, f"#!/bin/bash\nif grep -q 'total = a + b' /app/add.py && python3 -I /tests/check.py; {VERDICT}", "overfitting"),
]  # fmt: skip


def write_zoo(folder: Path, tasks: list[ZooTask]) -> list[Path]:
    """Write the task folders."""
    return [_write_task(folder / task.name, task) for task in tasks]


def _write_task(folder: Path, task: ZooTask) -> Path:
    mode = "shared" if task.shared else "separate"
    toml = f'schema_version = "1.4"\n[task]\nname = "plaudit/{task.name}"\n[verifier]\nenvironment_mode = "{mode}"\n'
    docker = "FROM python:3.12-slim\nWORKDIR /app\nCOPY files/ /app/\n" + task.docker
    if task.as_user:
        toml += 'user = "root"\n[agent]\nuser = "agent"\n'
        docker += "RUN useradd -m agent && chown -R agent /app\n"
    if task.needs_pytest:
        docker += "COPY packages/ /usr/lib/python3/dist-packages/\n"
        packages = folder / "environment" / "packages"
        for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
            shutil.copytree(_file_of(name).parent, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(_file_of("py"), packages / "py.py")
    files = {
        "task.toml": toml,
        "instruction.md": task.subject.instruction,
        "environment/Dockerfile": docker,
        "solution/solve.sh": f"#!/bin/bash\n{task.subject.solve}",
        "tests/test.sh": task.test,
        "environment/files/.keep": "",
        **({"tests/check.py": task.subject.check} if "check.py" in task.test else {}),
        **{f"environment/files/{name}": text for name, text in {**task.subject.image, **task.image}.items()},
        **{f"tests/{name}": text for name, text in task.tests.items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _file_of(module: str) -> Path:
    """The file that an installed module is imported from."""
    spec = importlib.util.find_spec(module)
    assert spec is not None, module
    assert spec.origin is not None, module
    return Path(spec.origin)
