"""Run programs on values that their task mentions and on files of its image, and compare their results."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache

from plaudit.harbor.audit.products import Product
from plaudit.harbor.images import TaskImage
from plaudit.harbor.workspace import pack

PROBE = r"""
import csv, glob, importlib.util, itertools, json, os, random, re, signal, sqlite3, subprocess, sys, urllib.request
path, mentioned = sys.argv[1], json.load(open("/tmp/probe/mentioned.json"))
values, suffix, seen = mentioned["values"], os.path.splitext(sys.argv[1])[1], {}
def late(*_): raise TimeoutError
signal.signal(signal.SIGALRM, late)
def observe(call):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try: return repr(call())[:300]
    except BaseException as error: return type(error).__name__
    finally: signal.setitimer(signal.ITIMER_REAL, 0)
def listening():
    lines = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}")]
    return [int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == "0A"]
def ask(port, name):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{name}", timeout=1) as answer:
            return repr((answer.status // 100, answer.read(300)))
    except urllib.error.HTTPError as error: return repr(error.code)
    except Exception as error: return type(error).__name__
def program(words, arguments, text):
    started = subprocess.Popen([*words, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True)
    try:
        printed = started.communicate(text, timeout=1)[0][:2000]
        return repr(printed) if printed.strip() or not started.returncode else f"Error {started.returncode}"
    except subprocess.TimeoutExpired: pass
    ports = listening()
    for port in ports[:1]:
        for name in mentioned["addresses"]: seen[f"GET {name}"] = ask(port, name)
    os.killpg(started.pid, 9)
    started.wait()
    return "served" if ports else "timeout"
def query(text, tables):
    base = sqlite3.connect(":memory:")
    for name, columns, rows in tables:
        base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
    return base.execute(text).fetchall()
def plain(cell):
    return int(cell) if re.fullmatch(r"-?\d+", cell) else cell
commands = {".py": [sys.executable, path], ".sh": ["bash", path], ".awk": ["awk", "-f", path], ".pl": ["perl", path],
    ".js": ["node", path], ".rb": ["ruby", path], ".sed": ["sed", "-f", path], ".c": ["/tmp/probe/compiled"]}
functions = []
sys.path.append("/tmp/probe/beside")
if suffix == ".py":
    spec = importlib.util.spec_from_file_location("product", path)
    module = importlib.util.module_from_spec(spec)
    try: spec.loader.exec_module(module)
    except BaseException: pass
    functions = [f for f in vars(module).values() if type(f).__name__ == "function" and f.__module__ == "product"]
if suffix == ".c" and subprocess.run(["gcc", "-o", "/tmp/probe/compiled", path, "-lm"], capture_output=True).returncode:
    commands[".c"] = ["false"]
for function in functions:
    count = function.__code__.co_argcount
    calls = list(itertools.product(values, repeat=count)) if len(values) ** count < 400 else \
        [tuple(random.Random(n).choices(values, k=count)) for n in range(400)]
    for arguments in calls:
        seen[f"{function.__name__}{tuple(arguments)}"] = observe(lambda: function(*json.loads(json.dumps(arguments))))
if suffix == ".sql":
    shown = []
    for name, columns in mentioned["tables"]:
        for file in glob.glob("**/*.csv", recursive=True):
            rows = list(csv.reader(open(file)))
            if rows and set(columns) <= set(rows[0]):
                places = [rows[0].index(column) for column in columns]
                shown.append((name, columns, [[plain(row[place]) for place in places] for row in rows[1:]]))
                break
    seen["sample"] = observe(lambda: query(open(path).read(), shown))
    for number in range(4):
        chance = random.Random(number)
        tables = [(name, columns, [[chance.choice("abcd"), *(chance.randint(-3, 30) for _ in columns[1:])]
            for _ in range(3 * number)]) for name, columns in mentioned["tables"]]
        seen[f"rows {tables}"] = observe(lambda: query(open(path).read(), tables))
elif not functions:
    samples = []
    for name in sorted(glob.glob("*"))[:20]:
        if os.path.isfile(name) and os.path.getsize(name) < 4096 and os.path.abspath(name) != path and len(samples) < 6:
            try: text = open(name).read()
            except ValueError: continue
            other = f"/tmp/probe/other-{len(samples)}.txt"
            changed = re.sub(r"\d+", lambda number: str(int(number[0]) * 2 + 3), text)
            with open(other, "w") as file: file.writelines(changed.splitlines(keepends=True)[::-1])
            samples += [name, other]
    words, numbers = [str(v) for v in values], [str(v) for v in values if isinstance(v, int)]
    usual = "\n".join(words[:8]) + "\n"
    tries = [([], usual), *(([v], usual) for v in words[:6]), *((list(pair), "") for pair in
        itertools.permutations(numbers[:4], 2)), *((words[:2], usual),), *(([s], "") for s in samples)]
    texts = {open(s).read(): s for s in samples}
    tries += [([], text) for text in texts]
    for arguments, text in tries:
        outcome = program(commands[suffix], arguments, text)
        if outcome == "served" or list(seen.values()).count("timeout") > 2: break
        named = texts.get(text) if not arguments else arguments[0] if not text else None
        if outcome != "timeout" and named in samples[::2]: seen[f"sample {len(seen)}"] = outcome
        seen[f"arguments {arguments}" + (f" and {text[:60]!r} as input" if text != usual else "")] = outcome
print("\n" + json.dumps(seen))
"""
MOST_USUAL, MOST_SHOWN = 3, 8
_VALUE = re.compile(r"-?\d+(?:\.\d+)?|\"[^\"\n]{0,60}\"|'[^'\n]{0,60}'|\[[^\[\]\n]{0,80}\]")
_SPAN = re.compile(r"`+(?:\w*\n)?([\w .,!-][\w .,!\n-]{0,60}?)\n?`+")
_TABLE = re.compile(r"\b([A-Za-z_]\w*)\s?\(([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\)")
_ADDRESS = re.compile(r"(?:\b(?:GET|POST)\s+|:\d+|'|\")(/[a-z][\w/{}<>-]*)")


class Prober:
    """Compares versions of programs by what they do."""

    def __init__(self, image: TaskImage, instruction: str, tests: str) -> None:
        self.image = image
        addresses = dict.fromkeys(
            re.sub(r"(?<=/)(?:[A-Z]+|\d+|\{\w+\}|<\w+>)(?=/|$)", number, address)
            for address in _ADDRESS.findall(f"{instruction}\n{tests}")
            for number in ("4", "11")
            if not address.startswith(("/app", "/tests", "/tmp", "/logs", "/usr", "/bin"))
        )
        tables = [(name, re.findall(r"\w+", columns)) for name, columns in _TABLE.findall(instruction)]
        mentioned = {"values": _values(f"{instruction}\n{tests}"), "addresses": list(addresses), "tables": tables}
        self.beside: list[Product] = []
        """What the solution left, for programs that import each other."""
        self._instruction, self._shown = instruction, _values(instruction)
        self.notes: dict[str, None] = {}
        """The comparisons that were not possible, each once."""
        self._mentioned = json.dumps(mentioned).encode()
        self._behaviour = lru_cache(maxsize=20)(self._run)

    def difference(self, product: Product, content: bytes) -> str:
        """The first difference in the behaviour of another content; empty if none was seen."""
        before, after = self._behaviour(product.path, product.content), self._run(product.path, content)
        if not before:
            self.notes[f"the behaviour of {product.path} could not be observed"] = None
        pairs = (
            (call, result, after.get(call))
            for call, result in before.items()
            if "Error" not in result and "timeout" not in result
        )
        return next((f"{call} gives {other}, not {result}" for call, result, other in pairs if other != result), "")

    def on_samples(self, product: Product) -> list[str]:
        """The results of a program for the inputs of the image, as Python literals."""
        if product.language != "program":
            return []
        return self._literals(each for call, each in self._seen(product).items() if call.startswith("sample"))

    def usual_results(self, product: Product) -> list[str]:
        """The most frequent results of a program, as Python literals; none where it has only one."""
        counts = Counter(self._literals(self._seen(product).values()))
        return [each for each, _ in counts.most_common(MOST_USUAL)] if len(counts) > 1 else []

    def shown_values(self, product: Product) -> list[str]:
        """Values that the instruction shows, as Python literals: first those that the program gives."""
        results = (
            each for each in self._literals(self._seen(product).values()) if each.strip("'\"") in self._instruction
        )
        return list(dict.fromkeys([*results, *map(repr, reversed(self._shown))]))[:MOST_SHOWN]

    def _seen(self, product: Product) -> Mapping[str, str]:
        return self._behaviour(product.path, product.content) if product.is_program else {}

    @staticmethod
    def _literals(results: Iterable[str]) -> list[str]:
        literals = []
        for each in results:
            with suppress(ValueError, SyntaxError):
                value = ast.literal_eval(each)
                literals.append(repr(value.strip() if isinstance(value, str) else value))
        return literals

    def with_shown_answers(self, product: Product) -> bytes | None:
        """A program that gives the results which the instruction shows, and no others; None where it shows none."""
        answers: dict[tuple[str, str], object] = {}
        for call, result in self._behaviour(product.path, product.content).items() if product.tree else ():
            with suppress(ValueError, SyntaxError):
                name, arguments = call[: call.index("(")], ast.literal_eval(call[call.index("(") :])
                value = ast.literal_eval(result)
                if all(each in self._shown for each in (*arguments, value)):
                    answers[name, repr(arguments)] = value
        return product.with_answers(answers)

    def _run(self, path: str, content: bytes) -> Mapping[str, str]:
        product = Product(path, content)
        subject = f"tmp/probe/subject{product.suffix}"
        with self.image.workspace() as workspace:
            files = {"tmp/probe/probe.py": PROBE.encode(), "tmp/probe/mentioned.json": self._mentioned}
            workdir = f"{self.image.config.workdir.rstrip('/')}/"
            beside = {
                f"tmp/probe/beside/{each.path.removeprefix(workdir)}": each.content
                for each in self.beside
                if each.language == "python"
            }
            workspace.put(pack({**files, **beside, subject: content}), "/")
            command = f"python3 /tmp/probe/probe.py /{subject}"
            done = workspace.run(command, cwd=self.image.config.workdir, seconds=60)
        with suppress(ValueError, IndexError):
            seen: dict[str, str] = json.loads(done.output.strip().splitlines()[-1])
            return seen
        return {}


def _values(text: str) -> list[object]:
    """Plain values that a text mentions."""
    values: dict[str, object] = {}
    for match in _VALUE.findall(text):
        with suppress(ValueError, SyntaxError, TypeError):
            value = ast.literal_eval(match)
            values[json.dumps(value)] = value
    values |= {json.dumps(span): span for span in _SPAN.findall(text) if not _VALUE.fullmatch(span)}
    return list(values.values())[:30]
