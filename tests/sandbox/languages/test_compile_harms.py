"""A program learns nothing from its compiler, and cannot use it up: it is compiled behind walls and within limits."""

import time

import pytest

from plaudit.sandbox import RunLimits, Tier
from plaudit.sandbox.languages.compiling import CompileError, CompileLimits, compile_program
from plaudit.sandbox.languages.language import LANGUAGES
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import find_toolchain
from tests.sandbox.languages.programs import is_installed

pytestmark = pytest.mark.slow
SECRET = "hush_it_is_secret"
C_READS = {
    "include": '#include "<secret>"\nint main() {}',
    "include as text": 'const char *text =\n#include "<secret>"\n;\n#include <stdio.h>\nint main() { puts(text); }',
    "include up": '#include "../../../../../..<secret>"\nint main() {}',
    "has_include": '#include <stdio.h>\n#if __has_include("<secret>")\nconst char *found = "hush" "_it_is_secret";\n'
    '#else\nconst char *found = "";\n#endif\nint main() { puts(found); }',
    "incbin": '#include <stdio.h>\nasm(".globl text\\ntext: .incbin \\"<secret>\\"\\n.byte 0");'
    "\nextern const char text[];\nint main() { puts(text); }",
    "include by macro": '#define PLACE "<secret>"\n#include PLACE\nint main() {}',
    "environment": '#include <stdio.h>\nasm(".globl text\\ntext: .incbin \\"/proc/self/environ\\"\\n.byte 0");\n'
    "extern const char text[];\nint main() { fwrite(text, 1, 4000, stdout); }",
    "password file": '#include "/etc/passwd"\nint main() {}',
    "linked": 'asm(".section .note\\n.incbin \\"<folder>/secret.txt\\"");\nint main() {}',
}
RUST_READS = {
    "include_str": 'fn main() { println!("{}", include_str!("<secret>")); }',
    "include_bytes": 'fn main() { println!("{:?}", std::str::from_utf8(include_bytes!("<secret>"))); }',
    "include": 'fn main() { include!("<secret>"); }',
    "module": '#[path = "<secret>"]\nmod text;\nfn main() {}',
    "incbin": 'std::arch::global_asm!(".globl text", "text: .incbin \\"<secret>\\"");\nfn main() {}',
    "env": 'fn main() { println!("{}", option_env!("PLAUDIT_SECRET").unwrap_or("")); }',
}
GO_READS = {
    "embed": 'package main\nimport _ "embed"\nimport "fmt"\n//go:embed <secret>\nvar text string\n'
    "func main() { fmt.Println(text) }",
    "cgo": 'package main\n// #include "<secret>"\nimport "C"\nfunc main() {}',
    "line": "package main\n//line <secret>:1\nfunc main() { x }",
    "generate": "package main\n//go:generate cat <secret>\nfunc main() { print() }",
}
READS = [
    *(("c", name, source) for name, source in C_READS.items()),
    *(("cpp", name, source) for name, source in C_READS.items()),
    *(("rust", name, source) for name, source in RUST_READS.items()),
    *(("go", name, source) for name, source in GO_READS.items()),
]
BOMBS = {
    "templates": ("cpp", "template<int n> struct A { static const int x = A<n + 1>::x; };\nint main() { A<0>::x; }"),
    "constexpr": ("cpp", "constexpr long f() { long x = 0; for (long i = 0; i < 1L << 60; i++) x += i; return x; }\n"
                  "constexpr long x = f();\nint main() {}"),
    "macros": ("c", "\n".join(f"#define M{n + 1} M{n} M{n} M{n} M{n}" for n in range(40)) + "\n#define M0 int x;\nM40"),
    "include itself": ("c", '#include __FILE__\nint main() {}'),
    "input without end": ("c", '#include "/dev/zero"\nint main() {}'),
    "large data": ("c", "int x[1 << 29] = {1};\nint main() {}"),
    "repeated data": ("c", 'asm(".data\\n.rept 1000000000\\n.quad 1\\n.endr");\nint main() {}'),
    "space": ("c", 'asm(".data\\n.zero 100000000000\\n");\nint main() {}'),
    "terminal": ("c", '#include "/dev/stdin"\n#include "/dev/tty"\nint main() {}'),
}  # fmt: skip


BOUNDS = CompileLimits(memory_mb=192, output_mb=16, work_mb=64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that anybody may read."""
    place = tmp_path_factory.mktemp("secrets")
    for path in (place, *place.parents[:2]):
        path.chmod(0o755)
    (place / "secret.txt").write_text(f'"{SECRET}"\n')
    return place


# C and C++ have one compiler, which meets each tier in one of them.
COMPILED = [
    ("c", Tier.LANDLOCK),
    ("cpp", Tier.NAMESPACES),
    *((language, tier) for language in ("rust", "go") for tier in (Tier.NAMESPACES, Tier.LANDLOCK)),
]


@pytest.mark.parametrize(("language", "at_most"), COMPILED, ids=lambda value: getattr(value, "name", value).lower())
def test_no_secret_is_read_while_compiling(language, at_most, folder, monkeypatch):
    if not is_installed(language):
        return
    monkeypatch.setenv("PLAUDIT_SECRET", SECRET)
    told = {}
    if language == "rust" and at_most is Tier.LANDLOCK and "/root/" in find_toolchain(LANGUAGES["rust"]).tool:
        at_most = Tier.NAMESPACES  # what lies in root's home cannot be read by another user
    with CommandPool(at_most) as pool:
        for source_language, name, template in READS:
            if source_language != language:
                continue
            source = template.replace("<secret>", f"{folder}/secret.txt").replace("<folder>", str(folder))
            try:
                with pool.load(
                    find_toolchain(LANGUAGES[language]), source, RunLimits(cpu_s=2.0, wall_s=60.0)
                ) as program:
                    outcome = program.run(b"")
                    told[name] = (outcome.stdout + outcome.stderr).decode(errors="replace")
            except CompileError as error:
                told[name] = str(error)
    assert told
    assert {name: text for name, text in told.items() if SECRET in text or "root:x" in text} == {}


@pytest.mark.parametrize("name", BOMBS)
def test_a_program_that_uses_up_its_compiler_fails(name):
    language, source = BOMBS[name]
    if not is_installed(language):
        return
    began = time.monotonic()
    toolchain = find_toolchain(LANGUAGES[language])
    with pytest.raises(CompileError):
        compile_program(toolchain, source, BOUNDS)
    assert time.monotonic() - began < 300


@pytest.mark.parametrize("language", sorted({language for language, _ in BOMBS.values()}))
def test_a_program_that_uses_up_nothing_is_compiled_within_the_same_limits(language):
    if is_installed(language):
        assert compile_program(find_toolchain(LANGUAGES[language]), "int main() {}", BOUNDS)
