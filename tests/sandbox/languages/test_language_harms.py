"""Nothing that a program in another language tries has an effect outside, whoever runs it and whichever walls stand."""

import json
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

import plaudit.sandbox.languages
from plaudit.errors import SandboxError
from plaudit.sandbox import RunLimits, Tier
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.languages.compiling import compile_program
from plaudit.sandbox.languages.language import LANGUAGES
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import find_toolchain
from plaudit.sandbox.server import ForkServer
from tests.process_watch import descendants
from tests.sandbox.identities import IDENTITIES, as_identity
from tests.sandbox.languages.language_probe import HARMS

pytestmark = pytest.mark.slow
PROBE = Path(__file__).with_name("language_probe.py")
TOOLS = {"cpp": "g++", "javascript": "node", "rust": "rustc", "java": "javac"}
LEAST_HARMS = {"cpp": 29, "javascript": 21, "rust": 25, "java": 19}
# Each line that the package's documentation lists as covered, and the harms that show it.
COVERED = {
    "reading, listing, writing, linking and deleting files of others": "read files, list folders, write files",
    "secrets in the environment and in other processes": "see the environment, read files",
    "connections of any kind": "connect",
    "new processes and programs": "start processes, fork bomb, execute memory",
    "signals to others": "signal others",
    "looking into other processes": "look into others",
    "system calls by hand, also of other architectures": "other calls, old calls, x32 calls",
    "using up memory, threads, descriptors, time": "use memory, share memory, many threads, many descriptors, "
    "loop, loop deaf, sleep",
    "raising the limits": "raise limits",
    "floods of output": "flood output, flood errors, flood deaf, far output",
    "crashes, and processes that outlive the program": "crash, outlive",
}
BY_COMPILING = {  # shown by test_compile_harms.py
    "reading files while a program is compiled",
    "using up time, memory or disk while a program is compiled",
}
ENDS = {
    "loop": "over the limit of",
    "loop deaf": "over the limit of",
    "sleep": "over the limit of time",
    "flood output": "printed too much",
    "flood errors": "printed too much",
    "flood deaf": "printed too much",
    "crash": "crashed",
}
NOT_BY_TIME = {"use memory", "use the heap", "share memory", "many threads"}  # other limits end these


def probe(identity: str, language: str, at_most: Tier, folder: Path) -> dict:
    folder.chmod(0o777)
    (folder / "secret.txt").write_text("hush")
    command = as_identity(identity, PROBE, language, str(int(at_most)), str(folder))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


# Who has no capabilities has no namespaces either, whether they are asked for or not.
WALLS = [*((who, Tier.NAMESPACES) for who in IDENTITIES), (IDENTITIES[0], Tier.LANDLOCK)]
# The walls are the same for all languages. C++ meets each set of them; JavaScript, a runtime with a compiler of its
# own, meets all walls and the fewest; Rust and Java, whose tables are much the same, meet the fewest.
FEWEST = (IDENTITIES[-1], Tier.NAMESPACES)
MET = {"cpp": WALLS, "javascript": [WALLS[0], FEWEST], "rust": [FEWEST], "java": [FEWEST]}
RUNS = [(language, *walls) for language in TOOLS for walls in MET[language]]


@pytest.mark.parametrize(("language", "identity", "at_most"), RUNS, ids=lambda value: getattr(value, "name", value))
def test_no_harm_has_an_effect(identity, language, at_most):
    before = descendants()
    with tempfile.TemporaryDirectory(prefix="plaudit-harms-") as name:
        folder = Path(name)
        if not shutil.which(TOOLS[language]):
            assert "cannot be run here" in probe(identity, language, at_most, folder)["refused"]
            return
        source = PROBE.with_name(HARMS[language]).read_text()
        program = compile_program(find_toolchain(LANGUAGES[language]), source)  # not everybody can read the compiler
        (folder / "compiled").write_bytes(program)
        found = probe(identity, language, at_most, folder)
        left = {path.name for path in folder.iterdir()}
        assert (folder / "secret.txt").read_text() == "hush"
    assert len(found) >= LEAST_HARMS[language], found
    assert {harm: told["harms"] for harm, told in found.items() if told["harms"]} == {}
    ends = {harm: end for harm, end in ENDS.items() if harm in found}
    assert {
        harm: found[harm]["reason"] for harm, end in ends.items() if not found[harm]["reason"].startswith(end)
    } == {}
    assert not {harm for harm in NOT_BY_TIME & found.keys() if found[harm]["reason"].startswith("over the limit")}
    assert left == {"secret.txt", "compiled"}
    assert not Path("/tmp/plaudit-harm").exists()
    assert descendants() <= before  # other tests keep pools of their own


def lines_after(title: str) -> set[str]:
    text = plaudit.sandbox.languages.__doc__.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
    return {line.removeprefix("- ") for line in text.strip().splitlines()}


def test_every_line_that_is_said_to_be_covered_has_its_harms():
    assert lines_after("Covered") == COVERED.keys() | BY_COMPILING
    harms = PROBE.with_name("harms.cpp").read_text()
    named = {harm.strip() for line in COVERED.values() for harm in line.split(",")}
    assert {harm for harm in named if f'{{"{harm}", ' not in harms} == set()


NOT_COVERED = {
    "the runtime's own files": (
        "const fs = require('fs'); console.log(fs.readFileSync(process.execPath).length > 1000);\n",
        Tier.NAMESPACES,
    ),
    "the name of the machine": (
        "console.log(require('os').hostname() === require('fs').readFileSync(0, 'utf8'));\n",
        Tier.LANDLOCK,
    ),
    "whether a file exists": ("console.log(require('fs').statSync('/etc/passwd').size > 0);\n", Tier.LANDLOCK),
}


@pytest.mark.parametrize("name", NOT_COVERED)
def test_attacks_documented_as_not_covered_succeed(name):
    source, at_most = NOT_COVERED[name]
    if not shutil.which("node"):
        assert name in plaudit.sandbox.languages.__doc__
        return
    limits = RunLimits(cpu_s=5.0, wall_s=60.0)
    node = find_toolchain(LANGUAGES["javascript"])
    with CommandPool(at_most) as pool, pool.load(node, source, limits) as program:
        assert program.run(socket.gethostname().encode()).stdout == b"true\n"
    assert any(line.startswith(name) for line in lines_after("Not covered"))


def test_in_namespaces_the_name_of_the_machine_is_a_constant():
    if not shutil.which("g++"):
        return
    source = "#include <stdio.h>\n#include <unistd.h>\nint main() { char name[99]; gethostname(name, 99); puts(name); }"
    toolchain, limits = find_toolchain(LANGUAGES["cpp"]), RunLimits(cpu_s=5.0, wall_s=60.0)
    with CommandPool() as pool, pool.load(toolchain, source, limits) as program:
        outcome = program.run(b"")
    assert outcome.tier is not Tier.NAMESPACES or outcome.stdout == b"sandbox\n"


RESERVING = """
#include <stdio.h>
#include <sys/mman.h>
int main() {
    void *read_only = mmap(0, 8L << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *writable = mmap(0, 8L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    printf("%d %d", read_only != MAP_FAILED, writable != MAP_FAILED);
}
"""


def test_memory_that_cannot_be_written_to_is_not_counted():
    assert any("(`RLIMIT_DATA`)" in line for line in lines_after("Not covered"))
    if not shutil.which("g++"):
        return
    toolchain, limits = find_toolchain(LANGUAGES["cpp"]), RunLimits(cpu_s=5.0, wall_s=60.0)
    with CommandPool() as pool, pool.load(toolchain, RESERVING, limits) as program:
        assert program.run(b"").stdout == b"1 0"


def test_without_landlock_nothing_that_reads_files_is_started():
    with pytest.raises(SandboxError, match="needs Landlock"):
        ForkServer(at_most=Tier.SECCOMP, profile=Profile(executes=True, reads=["/usr/bin"]))
    with pytest.raises(SandboxError, match="needs Landlock"):
        ForkServer(at_most=Tier.SECCOMP, profile=Profile(executes=True, compiles=True))
    with pytest.raises(SandboxError, match="needs seccomp"):
        ForkServer(at_most=Tier.NONE, profile=Profile(executes=True))
