# ruff: noqa: E501 - scripts of tasks have long lines
"""Harbor tasks of a fifth set: packages, fixtures, file trees, services with state, several right results, tolerance.

Written and committed before the audit was run on them, by an author who did not write the audit; `harbor.py` reports
them apart. A kind with `or` in it means that either of the two findings names the flaw.
"""

from benchmarks.harbor_zoo import CLEAN, PLAIN, VERDICT, Subject, ZooTask

__all__ = ["FIFTH_FLAWED", "FIFTH_SOUND"]

INVOICE = Subject(
    """Read the orders in /app/orders.csv (columns item, price, count) and write /app/invoice.json with these keys:
`net` (the sum of price times count), `tax` (19 % of net) and `gross` (net plus tax). Amounts may be off by at most 0.01.
Further keys are allowed.
""",
    """python3 - <<'END'
import csv, json
net = sum(float(row["price"]) * int(row["count"]) for row in csv.DictReader(open("/app/orders.csv")))
json.dump({"net": net, "tax": round(net * 0.19, 2), "gross": round(net * 1.19, 2)}, open("/app/invoice.json", "w"))
END
""",
    """import json, math
seen = json.load(open("/app/invoice.json"))
for name, want in {"net": 61.5, "tax": 11.685, "gross": 73.185}.items():
    value = seen[name]
    assert isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value), name
    assert abs(value - want) <= 0.0101, name
""",
    {"orders.csv": "item,price,count\npen,1.25,10\nbook,24.5,2\n"},
)
TREE = Subject(
    """Sort the files of /app/inbox into /app/sorted by the extension of their names: `/app/sorted/txt/a.txt`,
`/app/sorted/csv/b.csv` and so on. Names and contents do not change. Files without an extension go to /app/sorted/other.
/app/inbox must be empty at the end, and must still exist.
""",
    """cd /app/inbox
for file in *; do
    case "$file" in *.*) place="${file##*.}" ;; *) place=other ;; esac
    mkdir -p "/app/sorted/$place"
    mv "$file" "/app/sorted/$place/"
done
""",
    """import hashlib
from pathlib import Path
want = {"txt/a.txt": "alpha\\n", "txt/b b.txt": "beta\\n", "csv/b.csv": "1,2\\n", "other/README": "read\\n", "gz/x.tar.gz": "packed\\n"}
top = Path("/app/sorted")
seen = {str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file() and not path.is_symlink()}
assert seen == want, seen
assert Path("/app/inbox").is_dir() and not list(Path("/app/inbox").iterdir())
""",
    {
        "inbox/a.txt": "alpha\n",
        "inbox/b b.txt": "beta\n",
        "inbox/b.csv": "1,2\n",
        "inbox/README": "read\n",
        "inbox/x.tar.gz": "packed\n",
    },
)
NOTES_SERVER = Subject(
    """Write /app/notes.py: an HTTP server on 127.0.0.1 on the port that is its first argument. `POST /notes` with a JSON
object {"text": ...} stores a note and answers {"id": N}; ids count from 1. `GET /notes/N` answers {"text": ...}, and status
404 if there is no such note. `GET /count` answers {"count": N}.
""",
    """cat > /app/notes.py <<'END'
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

notes = []


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        notes.append(json.loads(self.rfile.read(size))["text"])
        self.answer(200, {"id": len(notes)})

    def do_GET(self):
        if self.path == "/count":
            return self.answer(200, {"count": len(notes)})
        number = int(self.path.split("/")[2])
        if 1 <= number <= len(notes):
            return self.answer(200, {"text": notes[number - 1]})
        return self.answer(404, {})

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
END
""",
    """import json, subprocess, time, urllib.error, urllib.request
server = subprocess.Popen(["python3", "-I", "/app/notes.py", "8907"])


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    for _ in range(200):
        try:
            answer = urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:8907" + path, data), timeout=5)
            return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, None
        except OSError:
            time.sleep(0.05)
    raise SystemExit("no server")


try:
    assert ask("/count") == (200, {"count": 0})
    assert [ask("/notes", {"text": text}) for text in ("first", "second")] == [(200, {"id": 1}), (200, {"id": 2})]
    assert ask("/notes/1") == (200, {"text": "first"}) and ask("/notes/2") == (200, {"text": "second"})
    assert ask("/count") == (200, {"count": 2}) and ask("/notes/3")[0] == 404 and ask("/notes/0")[0] == 404
finally:
    server.kill()
""",
)
PLAN = Subject(
    """/app/needs.txt has lines `A B`, which say that step A must come before step B. Write all steps to /app/plan.txt, one
in a line, so that every step comes after those that it needs. Any such sequence is right.
""",
    "tsort /app/needs.txt > /app/plan.txt\n",
    """steps = open("/app/plan.txt").read().split("\\n")
assert steps.pop() == "" or steps
needs = [("wash", "cut"), ("cut", "fry"), ("heat", "fry"), ("fry", "serve"), ("lay", "serve")]
assert sorted(steps) == ["cut", "fry", "heat", "lay", "serve", "wash"], steps
assert all(steps.index(before) < steps.index(after) for before, after in needs)
""",
    {"needs.txt": "wash cut\ncut fry\nheat fry\nfry serve\nlay serve\n"},
)
LIBRARY = Subject(
    """The SQLite database /app/library.db has the tables books(id, title, year) and loans(book, member). Add a table
popular(title, loans) with one row for each book that was lent at least twice: its title and how often it was lent.
Leave the other tables as they are.
""",
    """python3 - <<'END'
import sqlite3
base = sqlite3.connect("/app/library.db")
base.execute("CREATE TABLE popular (title TEXT, loans INTEGER)")
base.execute("INSERT INTO popular SELECT title, COUNT(*) FROM books JOIN loans ON book = books.id GROUP BY books.id HAVING COUNT(*) >= 2")
base.commit()
END
""",
    """import sqlite3
base = sqlite3.connect("file:/app/library.db?mode=ro", uri=True)
assert sorted(base.execute("SELECT title, loans FROM popular")) == [("Dune", 3), ("Emma", 2)]
assert sorted(base.execute("SELECT id, title, year FROM books")) == [(1, "Dune", 1965), (2, "Emma", 1815), (3, "Ulysses", 1922)]
assert sorted(base.execute("SELECT book, member FROM loans")) == [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "d"), (3, "b")]
""",
)
LIBRARY_DOCKER = (
    "RUN python3 -c \"import sqlite3; b = sqlite3.connect('/app/library.db'); b.executescript('CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, year INTEGER); "
    "CREATE TABLE loans (book INTEGER, member TEXT);'); b.executemany('INSERT INTO books VALUES (?, ?, ?)', [(1, 'Dune', 1965), (2, 'Emma', 1815), (3, 'Ulysses', 1922)]); "
    "b.executemany('INSERT INTO loans VALUES (?, ?)', [(1, 'a'), (1, 'b'), (1, 'c'), (2, 'a'), (2, 'd'), (3, 'b')]); b.commit()\"\n"
)
PRIMES = Subject(
    """Make an executable /app/primes, in any language that the image has. `/app/primes N` prints the primes up to and with N,
one in a line; for N below 2 it prints nothing.
""",
    """cat > /app/primes <<'END'
#!/usr/bin/env python3
import sys

limit = int(sys.argv[1])
for number in range(2, limit + 1):
    if all(number % divisor for divisor in range(2, number)):
        print(number)
END
chmod +x /app/primes
""",
    """import subprocess
known = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
for limit in (-3, 0, 1, 2, 3, 4, 9, 13, 30, 47, 49):
    done = subprocess.run(["/app/primes", str(limit)], capture_output=True, text=True, timeout=10)
    assert [int(word) for word in done.stdout.split()] == [prime for prime in known if prime <= limit], limit
""",
)
STACK = Subject(
    """Write /app/bounded.py with a class Bounded(size): push(value) adds a value and forgets the oldest one if there are more than
size; values() returns the values as a list, oldest first; len() gives how many there are. size below 1 raises ValueError.
""",
    """cat > /app/bounded.py <<'END'
class Bounded:
    def __init__(self, size):
        if size < 1:
            raise ValueError("size must be at least 1")
        self.size = size
        self.kept = []

    def push(self, value):
        self.kept.append(value)
        if len(self.kept) > self.size:
            del self.kept[0]

    def values(self):
        return list(self.kept)

    def __len__(self):
        return len(self.kept)
END
""",
    "",
)
STACK_TESTS = """import importlib.util

import pytest


@pytest.fixture(scope="session")
def bounded():
    spec = importlib.util.spec_from_file_location("bounded", "/app/bounded.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Bounded


@pytest.fixture
def three(bounded):
    made = bounded(3)
    for value in "abcd":
        made.push(value)
    return made


def test_the_oldest_value_is_forgotten(three):
    assert three.values() == ["b", "c", "d"] and len(three) == 3


def test_a_new_one_is_empty(bounded):
    assert bounded(2).values() == [] and len(bounded(2)) == 0


@pytest.mark.parametrize("size", [1, 2, 5])
def test_sizes(bounded, size):
    made = bounded(size)
    for value in range(7):
        made.push(value)
        assert len(made) == min(value + 1, size)
    assert made.values() == list(range(7))[-size:]


@pytest.mark.parametrize("size", [0, -1])
def test_sizes_that_are_refused(bounded, size):
    with pytest.raises(ValueError):
        bounded(size)


def test_values_is_a_copy(three):
    three.values().append("x")
    assert three.values() == ["b", "c", "d"]
"""
DURATIONS = Subject(
    """/app/jobs.log has lines `NAME started HH:MM` and `NAME ended HH:MM`. Write the longest job to /app/longest.txt: its name,
a blank, and its time, either in minutes (`95 min`) or in hours and minutes (`1 h 35 min`).
""",
    """python3 - <<'END'
times = {}
for line in open("/app/jobs.log"):
    name, what, clock = line.split()
    hours, minutes = clock.split(":")
    times.setdefault(name, {})[what] = 60 * int(hours) + int(minutes)
name = max(times, key=lambda each: times[each]["ended"] - times[each]["started"])
open("/app/longest.txt", "w").write(f"{name} {times[name]['ended'] - times[name]['started']} min\\n")
END
""",
    """import re
text = " ".join(open("/app/longest.txt").read().split())
match = re.fullmatch(r"index (?:(\\d+) ?h(?: and)? ?)?(\\d+) ?min(?:utes)?\\.?", text)
assert match and 60 * int(match[1] or 0) + int(match[2]) == 95, text
""",
    {
        "jobs.log": "backup started 01:10\nindex started 01:30\nbackup ended 02:05\nindex ended 03:05\nmail started 03:00\nmail ended 03:04\n"
    },
)
TODO = Subject(
    """Write an executable bash script /app/todo: `todo add TEXT` adds an entry to the file named by $TODO_FILE, `todo done N` removes
the entry with the number N, `todo list` prints each entry as `N TEXT`, numbered from 1. Anything else exits with 2.
""",
    """cat > /app/todo <<'END'
#!/bin/bash
touch "$TODO_FILE"
case "$1" in
add) shift; echo "$*" >> "$TODO_FILE" ;;
done) sed -i "${2}d" "$TODO_FILE" ;;
list) awk '{print NR, $0}' "$TODO_FILE" ;;
*) exit 2 ;;
esac
END
chmod +x /app/todo
""",
    "",
)
TODO_TESTS = """#!/bin/bash
set -uo pipefail
export PATH=/usr/bin:/bin
failed=0
expect() {
    if [ "$1" = "$2" ]; then echo "ok: $3"; else echo "not ok: $3: '$1'"; failed=$((failed + 1)); fi
}
todo() { timeout 10 setpriv --reuid=65534 --regid=65534 --clear-groups /app/todo "$@"; }
place=$(mktemp -d)
chown 65534 "$place"
export TODO_FILE=$place/list
expect "$(todo list)" "" "an empty list"
todo add buy milk
todo add call Ada
todo add sleep
expect "$(todo list)" $'1 buy milk\\n2 call Ada\\n3 sleep' "three entries"
todo done 2
expect "$(todo list)" $'1 buy milk\\n2 sleep' "one is done"
todo wrong > /dev/null 2>&1
expect "$?" 2 "an unknown word"
todo > /dev/null 2>&1
expect "$?" 2 "no word"
if [ "$failed" -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
PARTS = (
    CLEAN
    + """python3 -I - <<'END'
import json, math
parts = {"net": 61.5, "tax": 11.685, "gross": 73.185}
try:
    with open("/app/invoice.json") as file:
        text = file.read(1 << 20)
    seen = json.loads(text)
    scores = {name: float(type(seen.get(name)) in (int, float) and abs(seen[name] - want) <= 0.0101) for name, want in parts.items()}
except Exception:
    scores = dict.fromkeys(parts, 0.0)
reward = float(all(scores.values()))
json.dump({"reward": reward, **scores}, open("/logs/verifier/reward.json", "w"))
END
"""
)

ISOLATED_PYTEST = f"#!/bin/bash\ncd /tests\nif python3 -I -m pytest -q -p no:cacheprovider --noconftest -c /dev/null --rootdir=/tests /tests/test_bounded.py; {VERDICT}"

FIFTH_SOUND = [
    ZooTask("sound-fixtures", STACK, ISOLATED_PYTEST, tests={"test_bounded.py": STACK_TESTS}, needs_pytest=True),
    ZooTask("sound-tolerance", INVOICE, PLAIN),
    ZooTask("sound-tree", TREE, PLAIN),
    ZooTask("sound-notes-server", NOTES_SERVER, PLAIN),
    ZooTask("sound-any-plan", PLAN, PLAIN),
    ZooTask("sound-library", LIBRARY, PLAIN, docker=LIBRARY_DOCKER),
    ZooTask("sound-any-language", PRIMES, PLAIN),
    ZooTask("sound-two-notations", DURATIONS, PLAIN),
    ZooTask("sound-shell-suite", TODO, TODO_TESTS),
    ZooTask("sound-shared-parts", INVOICE, PARTS, shared=True, as_user=True),
]

MEAN = Subject(
    "Write /app/mean.py with mean(values), the arithmetic mean of a list of numbers; an empty list gives 0. The result may be off by 1e-9.\n",
    "cat > /app/mean.py <<'END'\ndef mean(values):\n    if not values:\n        return 0\n    return sum(values) / len(values)\nEND\n",
    "",
)
MEAN_STALE = """import importlib.util, json, os
spec = importlib.util.spec_from_file_location("mean", "/app/mean.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
checks = {"plain": abs(module.mean([1, 2, 6]) - 3) < 1e-9, "empty": module.mean([]) == 0, "negative": abs(module.mean([-2, 1]) + 0.5) < 1e-9}
os.makedirs("/app/out", exist_ok=True)
with open("/app/out/results.json", "w") as file:
    json.dump({"checks": checks, "passed": all(checks.values())}, file)
"""
CONVERT = Subject(
    """Write /app/convert.py with to_celsius(f), which turns degrees Fahrenheit into degrees Celsius.
Examples: to_celsius(212) is 100.0, and to_celsius(32) is 0.0.
""",
    "cat > /app/convert.py <<'END'\ndef to_celsius(f):\n    return (f - 32) * 5 / 9\nEND\n",
    "",
)
VISIBLE_TEST = """import sys

sys.path.append("/app")


def test_boiling():
    from convert import to_celsius

    assert to_celsius(212) == 100
"""
HIDDEN_TEST = """import sys

sys.path.append("/app")


def test_more():
    from convert import to_celsius

    assert abs(to_celsius(50) - 10) < 1e-9 and abs(to_celsius(-40) + 40) < 1e-9 and to_celsius(32) == 0
"""
README = Subject(
    "In the repository /app, add the line `Licence: MIT` at the end of README.md. Change no other file that git knows.\n",
    "echo 'Licence: MIT' >> /app/README.md\n",
    "",
    {"README.md": "# Shop\n\nSells things.\n", "shop.py": "print('shop')\n"},
)
README_TEST = f"""#!/bin/bash
git config --global --add safe.directory /app
changed=$(git -C /app status --porcelain --untracked-files=no)
if [ "$changed" = " M README.md" ] && [ "$(tail -n 1 /app/README.md)" = "Licence: MIT" ] && [ "$(grep -c . /app/README.md)" = 3 ]; {VERDICT}"""
REPOSITORY = "RUN cd /app && git init -q -b main . && git config user.email a@b.c && git config user.name a && git add . && git commit -qm start\n"
SPREAD = Subject(
    "Write /app/spread.py with spread(values): the largest minus the smallest of a list of numbers; 0 for an empty list.\n",
    "cat > /app/spread.py <<'END'\ndef spread(values):\n    if not values:\n        return 0\n    return max(values) - min(values)\nEND\n",
    """import sys
sys.path.insert(0, "/app")
import statistics
import spread
for values in ([3, 9, 4], [5], [-2, -8], [], [0.5, 2]):
    want = max(values) - min(values) if values else 0
    assert spread.spread(values) == want
assert statistics.mean([spread.spread([1, 4]), spread.spread([2, 7])]) == 4
""",
)
LINKED = Subject(
    "Write the names of all cities of /app/cities.csv (name, country) that are in Austria to /app/austria.txt, sorted, one in a line.\n",
    "awk -F, '$2 == \"AT\" {print $1}' /app/cities.csv | sort > /app/austria.txt\n",
    "",
    {"cities.csv": "Graz,AT\nBern,CH\nLinz,AT\nRoma,IT\nWels,AT\n"},
)
LINKED_TEST = f"""{CLEAN}cat > /dev/null /tests/data/a.csv /tests/data/b.csv /tests/data/c.csv /tests/data/d.csv /tests/data/e.csv /tests/data/f.csv /tests/data/g.csv
if diff -q <(sort /app/austria.txt) <(sort /tests/expected/cities.txt) > /dev/null; {VERDICT}"""
CENSUS = Subject(
    """/app/census.csv has lines `town,people`. Write /app/census.json: an object with the keys `towns` (how many), `people` (their sum)
and `largest` (the name of the town with most people).
""",
    """python3 - <<'END'
import csv, json
rows = [(town, int(people)) for town, people in csv.reader(open("/app/census.csv"))]
largest = max(rows, key=lambda row: row[1])[0]
json.dump({"towns": len(rows), "people": sum(people for _, people in rows), "largest": largest}, open("/app/census.json", "w"))
END
""",
    'import json\nassert json.load(open("/app/census.json")) == {"towns": 3, "people": 1190, "largest": "Bruck"}\n',
    {"census.csv": "Aich,250\nBruck,700\nCham,240\n"},
)
PACKED = """RUN mkdir -p /var/tmp/build && printf '{"towns": 3, "people": 1190, "largest": "Bruck"}' | gzip > /app/.census-reference.gz
"""
ROTATE = Subject(
    """Write /app/rotate.py, a command: `python3 rotate.py TEXT N` prints TEXT with its letters moved by N places in the alphabet
(a becomes c for N = 2; z goes on with a). Upper case stays upper case, other characters stay. `--help` prints how it is used.
""",
    """cat > /app/rotate.py <<'END'
import argparse


def rotate(text, by):
    made = []
    for letter in text:
        if letter.isalpha() and letter.isascii():
            first = ord("A") if letter.isupper() else ord("a")
            letter = chr(first + (ord(letter) - first + by) % 26)
        made.append(letter)
    return "".join(made)


parser = argparse.ArgumentParser()
parser.add_argument("text")
parser.add_argument("by", type=int)
options = parser.parse_args()
print(rotate(options.text, options.by))
END
""",
    "",
)
IMPORTS = Subject(
    """Write /app/load.py: it reads the three files /app/data/*.csv and prints a line `ok NAME rows=N` for each, sorted by name,
where NAME is the name without .csv and N counts the lines after the header.
""",
    """cat > /app/load.py <<'END'
from pathlib import Path

for path in sorted(Path("/app/data").glob("*.csv")):
    rows = path.read_text().splitlines()[1:]
    print(f"ok {path.stem} rows={len(rows)}")
END
""",
    "",
    {"data/a.csv": "x\n1\n2\n", "data/b.csv": "x\n5\n", "data/c.csv": "x\n1\n2\n3\n4\n"},
)
SHOP = Subject(
    """Write a Python package /app/shop with a function total(prices, region), importable as `from shop import total`: the sum of
the prices plus tax, which is 20 % in region "north" and 10 % in any other region. From 100 (without tax) on, 5 is taken off the result.
Keep the rates in a module of their own.
""",
    """mkdir -p /app/shop
cat > /app/shop/rates.py <<'END'
def rate(region):
    if region == "north":
        return 20
    return 10
END
cat > /app/shop/__init__.py <<'END'
from shop.rates import rate


def total(prices, region):
    net = sum(prices)
    gross = net * (100 + rate(region)) / 100
    if net >= 100:
        gross = gross - 5
    return gross
END
""",
    "",
)
SHOP_TEST = f"""#!/bin/bash
if python3 -I -c "import sys; sys.path.append('/app'); from shop import total; assert total([10, 40], 'north') == 60 and total([10], 'north') == 12"; {VERDICT}"""
LOCAL_STATUS = (
    """#!/bin/bash
check() {
    local seen=$(python3 -I /tests/check.py 2>&1)
    return $?
}
if [ -s /app/census.json ] && check; """
    + VERDICT
)

FIFTH_FLAWED = [
    ZooTask("flaw-stale-results", MEAN, f"#!/bin/bash\npython3 -I /tests/run.py 2>/dev/null\nif grep -qs '\"passed\": true' /app/out/results.json; {VERDICT}", "forged reward file", tests={"run.py": MEAN_STALE}),
    ZooTask("flaw-late-lock", CENSUS, f"#!/bin/bash\nPATH=/usr/bin:/bin\nrm -f /logs/verifier/reward.*\nif python3 -I /tests/check.py; {VERDICT}sync\nchown root /logs/verifier; chmod 755 /logs/verifier\n", "surviving process", shared=True, as_user=True),
    ZooTask("flaw-optional-tool", CENSUS, f"#!/bin/bash\nPATH=\"$PATH:/app/tools\"\nif command -v census-lint > /dev/null; then census-lint /app/census.json; else python3 -I /tests/check.py; fi\nif [ $? -eq 0 ]; {VERDICT}", "PATH shim", image={"tools/README": "put helpers here\n"}),
    ZooTask("flaw-visible-suite", CONVERT, f"#!/bin/bash\ncd /app\nif python3 -I -m pytest -q -p no:cacheprovider /app/checks /tests/test_hidden.py; {VERDICT}", "test configuration", image={"checks/test_visible.py": VISIBLE_TEST}, tests={"test_hidden.py": HIDDEN_TEST}, needs_pytest=True),
    ZooTask("flaw-git-config", README, README_TEST, "test configuration", docker=REPOSITORY),
    ZooTask("flaw-insert-front", SPREAD, f"#!/bin/bash\nif python3 -I /tests/check.py; {VERDICT}", "module shadowing"),
    ZooTask("flaw-link-many", LINKED, LINKED_TEST, "symlink", shared=True, as_user=True, tests={**{f"data/{name}.csv": f"{name},XX\n" for name in "abcdefg"}, "expected/cities.txt": "Graz\nLinz\nWels\n"}),
    ZooTask("flaw-packed-answer", CENSUS, PLAIN, "answer in the image", docker=PACKED),
    ZooTask("flaw-help-only", ROTATE, f"#!/bin/bash\nif [ -f /app/rotate.py ] && python3 -I /app/rotate.py --help > /tmp/help 2>&1; {VERDICT}", "stub solution"),
    ZooTask("flaw-both-examples", CONVERT, f"#!/bin/bash\nif python3 -I -c \"import sys; sys.path.append('/app'); from convert import to_celsius; assert to_celsius(212) == 100.0 and to_celsius(32) == 0.0\"; {VERDICT}", "hard-coded output"),
    ZooTask("flaw-log-lines", IMPORTS, f"#!/bin/bash\npython3 -I /app/load.py > /tmp/log 2>&1\nif [ \"$(grep -c '^ok ' /tmp/log)\" -ge 3 ] && ! grep -qi error /tmp/log; {VERDICT}", "grep-based result or surviving mutant"),
    ZooTask("flaw-local-status", CENSUS, LOCAL_STATUS, "ignored exit code"),
    ZooTask("flaw-package", SHOP, SHOP_TEST, "surviving mutant"),
    ZooTask("flaw-row-order", Subject(CENSUS.instruction.replace("/app/census.json: an object with the keys `towns` (how many), `people` (their sum)\nand `largest` (the name of the town with most people).", "/app/small.csv with a header `town,people` and the towns that have\nless than 600 people, one in a line. The order of the rows is free."), "(echo town,people; awk -F, '$2 < 600' /app/census.csv) > /app/small.csv\n", "", CENSUS.image), f"#!/bin/bash\nif cmp -s /app/small.csv /tests/expected.csv; {VERDICT}", "overfitting", tests={"expected.csv": "town,people\nAich,250\nCham,240\n"}),
]  # fmt: skip
