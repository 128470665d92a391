"""Nothing that a program tries has an effect outside, whoever runs the sandbox and whichever walls stand."""

import json
import subprocess
import tempfile
from pathlib import Path

import pytest

import plaudit.sandbox
from plaudit.sandbox import RunLimits, Sandbox, Tier
from tests.parts import part
from tests.sandbox.harm_cases import FILE_HARMS, HARMS, PRELUDE, SCRATCH_HARMS
from tests.sandbox.harm_probe import CLEAN
from tests.sandbox.identities import IDENTITIES, as_identity

PROBE = Path(__file__).with_name("harm_probe.py")

# Each line that the package's documentation lists as covered, and harms that show it.
COVERED = {
    "reading, listing, writing, linking and deleting files": "read a file, list a folder, write a file, link a file",
    "secrets in the environment and in other processes": "environment, read the environment of others",
    "the name of the machine and the version of its kernel": "name of the machine",
    "connections of any kind, also to processes on this machine": "TCP, unix socket, abstract socket, UDP",
    "new processes, programs and daemons": "fork, fork bomb, daemon, start a program, processes by clone",
    "signals to others, also by way of descriptors": "kill others, signal by descriptor owner",
    "looking into other processes": "ptrace, memory of others, limits of others",
    "system calls by hand, also of other architectures": "dangerous calls, another architecture, x32 calls",
    "using up memory, threads, descriptors, time": "memory, shared memory, threads, descriptors, endless loop, sleep",
    "floods of output and of replies": "output flood, flood past the limit's signal, channel flood, sparse output",
    "crashes, closed channels, forged replies": "segfault, closed descriptors, deep reply, forged reply",
    "state left for the next program": "poisoned builtins, poisoned modules, trace and profile hooks, exit handlers",
    "scratch space: its size, how many files, links and ways out of it, what is left in it": "fill it, "
    "fill it with names, soft link, hard link, dot dot, rename out, device nodes, pipes, sockets, holes, strange names",
}
# What a program with scratch space may do and others may not. Modes and times are only said to be changed; a path can
# be looked up, and leads nowhere.
WITH_SCRATCH = {
    "look at a file": ["x"],
    "change modes": ["chmod"],
    "change times": ["utime"],
    "dangerous calls": ["ftruncate"],
}


@pytest.fixture
def folder():
    """A folder that every identity can use; another run of pytest may close the one that holds `tmp_path`."""
    with tempfile.TemporaryDirectory(prefix="plaudit-harms-") as name:
        yield Path(name)


def share_of(identity: str) -> int:
    """The first identity meets every harm; whether a harm is stopped differs little between them."""
    return 1 if identity == IDENTITIES[0] else 4


def probe(identity: str, at_most: Tier, folder: Path, *, scratch_mb: int = 0, share: int = 1) -> dict:
    folder.chmod(0o777)
    command = as_identity(identity, PROBE, *map(str, (folder, int(at_most), scratch_mb, share)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("identity", IDENTITIES)
def test_no_harm_has_an_effect_and_nothing_is_left(identity, folder):
    seen = probe(identity, Tier.NAMESPACES, folder, share=share_of(identity))
    assert list(seen["endings"]) == part(HARMS, share_of(identity))
    assert seen["findings"] == {}
    assert seen["left"]["processes"] == []
    assert seen["left"]["threads"] == 0
    expected = {"no capabilities": "LANDLOCK"}.get(identity)
    assert expected is None or seen["tier"] == expected


def test_the_filter_alone_stops_every_harm(folder):
    seen = probe(IDENTITIES[0], Tier.SECCOMP, folder)
    assert seen["tier"] == "SECCOMP"
    assert seen["findings"] == {}


@pytest.mark.parametrize("identity", [name for name in IDENTITIES if name != "no capabilities"])
def test_scratch_space_opens_no_way_out_and_is_empty_for_the_next_program(identity, folder):
    seen = probe(identity, Tier.NAMESPACES, folder, scratch_mb=4, share=share_of(identity))
    expected = {name: achieved for name, achieved in WITH_SCRATCH.items() if name in seen["endings"]}
    assert {name: finding["achieved"] for name, finding in seen["findings"].items()} == expected
    assert all(finding["changed"] == "{}" and finding["next clean"] for finding in seen["findings"].values())
    assert list(seen["endings"]) == part(FILE_HARMS | SCRATCH_HARMS, share_of(identity))
    fillings = {ending for name, ending in seen["endings"].items() if name.startswith("fill it")}
    assert fillings <= {"returned"}
    assert seen["left"]["processes"] == []


def test_without_walls_the_same_attempts_succeed():
    """The attempts are real: where nothing is refused, they are noticed."""
    with Sandbox(allow_unsafe=True, at_most=Tier.NONE) as sandbox, sandbox.open() as program:
        program.load(
            PRELUDE + "import socket\nattempt('read', lambda: open('/etc/passwd').read())\n" + HARMS["list a folder"]
        )
        program.call("attempt", ["socket", None])
        assert {"read", "scan"} <= set(program.call("report").value)


def test_a_program_runs_clean_by_the_probes_own_measure():
    with Sandbox() as sandbox, sandbox.open(RunLimits()) as program:
        program.load(CLEAN)
        assert program.call("f", [4]).value == [4, "ok"]


def documented(heading: str) -> list[str]:
    text = plaudit.sandbox.__doc__.partition(f"{heading}:\n")[2].partition("\n\n")[0]
    return [line.strip().removeprefix("- ") for line in text.splitlines() if line.strip().startswith("- ")]


def test_each_covered_line_of_the_documentation_has_harms_that_show_it():
    assert documented("Covered") == list(COVERED)
    shown = {name for names in COVERED.values() for name in names.split(", ")}
    assert shown <= {each for name in HARMS | SCRATCH_HARMS for each in name.split(", ")}
    assert len(HARMS) >= 40
