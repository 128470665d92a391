"""The changes of a solution: the files that it left, stubs in place of them, and each change undone alone."""

import ast
import difflib
import hashlib
import io
import json
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from plaudit.harbor.workspace import Entry

MOST_BYTES = 1 << 18
MOST_UNDONE = 20
_MODES = re.compile(r"\b(?:mode|permission|executable|chmod|readable|writable)s?\b|\b0?[0-7]{3}\b", re.IGNORECASE)
# By the end of its name, a program of another language that prints a text, and one that prints what it reads.
PROGRAMS = {
    ".awk": ("BEGIN {{ print {0}; exit }}\nEND {{ exit }}\n", "{ print }\n"),
    ".c": (
        "#include <stdio.h>\nint main(void) {{ puts({0}); return 0; }}\n",
        "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n",
    ),
    ".js": ("console.log({0});\n", "process.stdin.pipe(process.stdout);\n"),
    ".pl": ('print {0}, "\\n";\n', "print while <STDIN>;\n"),
    ".rb": ("puts {0}\n", "print STDIN.read\n"),
    ".sed": ("", "\n"),
    ".sh": ("#!/bin/bash\nprintf '%s\\n' {0}\nexit 0\n", "#!/bin/bash\ncat\n"),
    ".sql": ("SELECT {0};\n", ""),
}
SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Version:
    """Another content of a product, what was changed, and the value that stood there, where it is data."""

    change: str
    content: bytes
    value: str = ""
    state: Entry | None = None
    """The new state of the file, if more than its content changed."""
    is_cut: bool = False
    """Whether a part of a program was left out."""

    def is_wrong(self, known: str) -> bool:
        """Whether the task determines the value: a number does not change freely, nor do words that the task has."""
        words = re.findall(r"\w+", self.value)
        return any(word.isdecimal() for word in words) or all(re.search(rf"\b{word}\b", known) for word in words)


@dataclass(frozen=True, slots=True)
class Product:
    """A file that the solution wrote."""

    path: str
    content: bytes
    mode: int = 0o755

    @property
    def language(self) -> str:
        head = self.content[:60]
        if self.path.endswith(".py") or (head.startswith(b"#!") and b"python" in head.splitlines()[0]):
            return "python"
        if self.path.endswith((".sh", ".bash")) or (head.startswith(b"#!") and b"sh" in head.splitlines()[0]):
            return "shell"
        if PurePosixPath(self.path).suffix in PROGRAMS:
            return "program"
        if self.content.startswith(SQLITE):
            return "sqlite"
        if self.content.startswith((b"PK\3\4", b"\x1f\x8b")) or self.content[257:262] == b"ustar":
            return "archive"
        return "json" if self.path.endswith(".json") else "text" if self._is_text() else "binary"

    @property
    def suffix(self) -> str:
        """How the name of a file in this language ends."""
        return {"python": ".py", "shell": ".sh"}.get(self.language, PurePosixPath(self.path).suffix)

    @property
    def is_program(self) -> bool:
        """Whether the verifier may run or import it."""
        return self.language in ("python", "shell", "program")

    def _is_text(self) -> bool:
        try:
            self.content.decode()
        except UnicodeDecodeError:
            return False
        return b"\0" not in self.content

    @property
    def tree(self) -> ast.Module | None:
        if self.language != "python":
            return None
        try:
            return ast.parse(self.content)
        except (SyntaxError, ValueError):
            return None

    def write_python(self, tree: ast.Module) -> bytes:
        """Another program in place of this one, below the line that names its interpreter."""
        first = self.content.partition(b"\n")[0] + b"\n" if self.content.startswith(b"#!") else b""
        return first + ast.unparse(ast.fix_missing_locations(tree)).encode() + b"\n"

    @property
    def reads_input(self) -> bool:
        """Whether the result of the program depends on what it is given, as far as its text tells."""
        text = self.content.decode(errors="replace")
        if self.tree is not None:
            takes = any(node.args.args for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef))
            return takes or bool(re.search(r"\b(?:argv|stdin|input\(|open\(|read)", text))
        if self.language == "program":
            return True
        return self.language == "shell" and bool(re.search(r"\$\{?[1@*]|\bread\b|\bcat\b|<", text))

    @property
    def blob(self) -> str:
        """The name of the content in a git repository."""
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content, usedforsecurity=False).hexdigest()

    def with_constant(self, constant: str) -> bytes | None:
        """A program that gives one value, whatever it is asked; None for a file that is no program."""
        value = ast.literal_eval(constant)
        if self.tree is not None:
            return self._with_bodies(lambda *_: f"return {value!r}", f"print({value!r})")
        if self.path.endswith(".sql") and isinstance(value, list):
            rows = ", ".join(f"({', '.join(map(_sql, row))})" for row in value)
            return f"VALUES {rows};\n".encode() if rows else None
        template, _ = PROGRAMS.get(self.suffix, ("", ""))
        return template.format(json.dumps(str(value))).encode() if template else None

    def echoing(self) -> bytes | None:
        """A program that gives back its first argument, or what it reads; None for a file that is no program."""
        if self.tree is None:
            return PROGRAMS.get(self.suffix, ("", ""))[1].encode() or None

        def body(_: str, parameters: list[str]) -> str:
            return f"return {next((each for each in parameters if each != 'self'), None)}"

        return self._with_bodies(body, "import sys\nsys.stdout.write(sys.stdin.read())")

    def _with_bodies(self, body: Callable[[str, list[str]], str], script: str) -> bytes:
        """The Python program with another body in each function, from its name and parameters; a script without any."""
        tree = self.tree or ast.Module([], [])
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for node in functions:
            node.body = list(ast.parse(body(node.name, [each.arg for each in node.args.args])).body)
        return self.write_python(tree if functions else ast.parse(script))

    def disguised(self, instruction: str) -> bytes | None:
        """Data of the same form in which each number that the instruction does not have is another one."""
        if self.language not in ("text", "json"):
            return None

        def other(match: re.Match[str]) -> str:
            number = match[0]
            is_free = re.search(rf"(?<!\d){number}(?!\d)", instruction) is None
            return "".join(str(int(digit) % 9 + 1) for digit in number) if is_free else number

        return re.sub(r"\d+", other, self.content.decode(errors="replace")).encode()

    def with_answers(self, answers: dict[tuple[str, str], object]) -> bytes | None:
        """A program whose functions look up their results, by name and arguments; None where a constant is the same."""
        if self.tree is None or len(set(map(repr, answers.values()))) < 2:
            return None

        def body(function: str, parameters: list[str]) -> str:
            results = {arguments: value for (name, arguments), value in answers.items() if name == function}
            return f"return {results!r}.get(repr(({''.join(f'{each}, ' for each in parameters)})))"

        return self._with_bodies(body, "pass")

    def stuffed(self, junk: str, literals: list[str]) -> bytes:
        """A file that holds every text that tests look for, and prints them where it is a program."""
        text = "\n".join([junk, *literals])
        comments = "".join(f"# {line}\n" for line in [junk, *literals])
        if self.language == "python":
            nodes = ast.walk(self.tree or ast.Module([], []))
            names = sorted({node.name for node in nodes if isinstance(node, ast.FunctionDef)})
            functions = "".join(f"def {name}(*_, **__):\n    return {literals[-1]!r}\n" for name in names)
            return f"{comments}{functions}if __name__ == '__main__':\n    print({text!r})\n".encode()
        if self.language == "shell":
            return f"#!/bin/bash\n{comments}cat <<'PLAUDIT'\n{text}\nPLAUDIT\n".encode()
        return f"{text}\n{junk}\n".encode()


def _sql(value: object) -> str:
    text = str(value).replace("'", "''")
    return "NULL" if value is None else text if isinstance(value, int | float) else f"'{text}'"


@dataclass(frozen=True, slots=True)
class Products:
    """All files that the solution wrote, those that the instruction asks for, and its changes undone one by one."""

    files: list[Product]
    required: list[Product]
    undone: list[tuple[Product, Version]] = field(default_factory=list)

    @property
    def changed(self) -> set[str]:
        return {each.path for each in self.files} | {product.path for product, _ in self.undone}


def products_of(before: bytes, after: bytes, instruction: str, workdir: str) -> Products:
    """The differences between two archives of a workspace, before and after the solution ran."""
    old, new = (
        {path: state for path, state in read_states(each).items() if _counts(path, state)} for each in (before, after)
    )
    files = [
        Product(path, state.content, state.mode)
        for path, state in new.items()
        if not state.link and (path not in old or old[path].content != state.content)
    ]
    named = [each for each in files if _is_named(each.path, instruction, workdir)]
    undone = [
        (Product(path, new[path].content if path in new else b""), version)
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path) and _is_meant(path, instruction, workdir, exists=path in old)
        for version in _undo(path, old, new, instruction)
    ]
    return Products(files, named or (files if len(files) == 1 else []), undone[:: -(-len(undone) // MOST_UNDONE) or 1])


def _counts(path: str, state: Entry) -> bool:
    return len(state.content) <= MOST_BYTES and "__pycache__" not in path and "/.git/" not in path


def _is_meant(path: str, instruction: str, workdir: str, *, exists: bool) -> bool:
    """Whether the task asks for a change: it names the file, or the file is a visible one of the image."""
    return (exists and "/." not in path) or _is_named(path, instruction, workdir)


def _is_named(path: str, instruction: str, workdir: str) -> bool:
    """Whether the instruction names a file, or a folder of it that does not also hold the WORKDIR."""
    folders = [str(each) for each in PurePosixPath(path).parents if len(each.parts) > 2]
    named = any(each in instruction and not f"{workdir}/".startswith(f"{each}/") for each in folders)
    return named or path.rpartition("/")[2] in instruction


def _undo(path: str, old: dict[str, Entry], new: dict[str, Entry], instruction: str) -> Iterator[Version]:
    """The state with one part of the solution's change left out."""
    was, now = old.get(path), new.get(path)
    if now is None and was is not None:
        yield Version("not removed", was.content, state=was)
    elif now is not None and now.link:
        folder, _, name = now.link.rstrip("/").rpartition("/")
        place = os.path.normpath(PurePosixPath(path).parent / folder)
        others = {each[len(place) + 1 :].split("/")[0] for each in old if each.startswith(f"{place}/")} - {name}
        likeness = {each: difflib.SequenceMatcher(None, each, name).ratio() for each in sorted(others)}
        other = str(PurePosixPath(folder) / max(likeness, key=likeness.__getitem__, default="missing"))
        yield Version(f"a link to {other}, not to {now.link}", b"", state=Entry(link=other))
    elif now is not None:
        mode = was.mode if was is not None else now.mode & ~0o111
        if mode != now.mode and _MODES.search(instruction):
            yield Version(f"mode {mode:o}, not {now.mode:o}", now.content, state=Entry(now.content, mode))
        if was is not None and Product(path, now.content).language != "binary":
            yield from _undo_parts(was, now)


def _undo_parts(was: Entry, now: Entry) -> Iterator[Version]:
    before, after = (each.content.decode(errors="replace").splitlines(keepends=True) for each in (was, now))
    for tag, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines = [*after[:first], *before[start:end], *after[last:]]
            value = "".join(after[first:last]) or "".join(before[start:end])
            content = "".join(lines).encode()
            yield Version(f"line {first + 1} as before", content, value, Entry(content, now.mode))


def read_states(archive: bytes) -> dict[str, Entry]:
    """The files and links of an archive by absolute path."""
    states = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened:
            source = opened.extractfile(member) if member.isreg() else None
            if source is not None or member.issym():
                content = source.read() if source is not None else b""
                link = member.linkname if member.issym() else ""
                states[f"/{member.name.removeprefix('./').lstrip('/')}"] = Entry(content, member.mode, link)
    return states


def read_archive(archive: bytes) -> dict[str, bytes]:
    """The contents of the files of an archive by absolute path."""
    return {path: state.content for path, state in read_states(archive).items() if not state.link}
