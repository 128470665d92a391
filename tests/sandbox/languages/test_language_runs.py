"""Programs in each language are compiled, run within limits, and judged by what they print."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from plaudit.errors import SandboxError
from plaudit.sandbox import CallStatus, Job, JudgePool, RunLimits, StreamSuite, Tier, read_suite
from plaudit.sandbox.judging.verdict import RunStatus
from plaudit.sandbox.languages.language import LANGUAGES
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import MissingToolchain, find_toolchain
from tests.process_watch import descendants, gone, open_files
from tests.sandbox.languages.programs import ADD, FOUND, is_installed

SUM = StreamSuite(["3 4\n", "-5 5\n", "1000000000 1000000000\n"], ["7\n", "0\n", "2000000000\n"])
LIMITS = RunLimits(cpu_s=5.0, wall_s=60.0)


@pytest.fixture(scope="module")
def judges():
    with JudgePool(workers=1) as pool:
        yield pool


def judged(judges: JudgePool, language: str, source: str, suite: StreamSuite = SUM, **more):
    return judges.judge(Job(source, [suite], LIMITS, stop_early=False, language=language, **more))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_right_program_passes_where_its_tools_are_and_names_the_package_to_install_where_not(judges, language):
    if language not in FOUND:
        with pytest.raises(MissingToolchain, match=LANGUAGES[language].remedy.split(",")[0]):
            judged(judges, language, ADD[language])
        return
    verdict = judged(judges, language, ADD[language])
    assert verdict.passed, verdict
    assert verdict.tier
    assert [result.name for result in verdict.results] == ["input 0", "input 1", "input 2"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_program_fails_the_inputs_it_gets_wrong(judges, language):
    if not is_installed(language):
        return
    wrong = ADD[language].replace("a + b", "a - b").replace("sum::<i64>()", "product::<i64>()")
    verdict = judged(judges, language, wrong)
    assert not verdict.passed
    assert verdict.conclusion is RunStatus.COMPLETED
    assert "expected '7\\n'" in verdict.reason


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_does_not_compile_fails_with_the_first_message(judges, language):
    if not is_installed(language):
        return
    broken = ADD[language].replace("{", "{ this is no code;", 1).replace("const", "konst 5", 1)
    verdict = judged(judges, language, broken)
    assert verdict.count == 0
    assert not verdict.refusal
    if LANGUAGES[language].compile:
        assert verdict.conclusion is RunStatus.UNLOADED
        assert verdict.reason.startswith("the program does not compile: ")
        assert "error" in verdict.reason or "syntax" in verdict.reason


CRASHES = {
    "c": '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts("7"); fflush(stdout); abort(); }\n',
    "cpp": "#include <iostream>\nint main() { std::cout << 7 << std::endl; throw 1; }\n",
    "javascript": "console.log(7); throw new Error('no');\n",
    "rust": 'fn main() { println!("7"); std::process::exit(3); }\n',
    "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println(7); panic("no") }\n',
    "java": "public class Main { public static void main(String[] a) { System.out.println(7); System.exit(1); } }\n",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_right_output_before_a_bad_end_is_no_pass(judges, language):
    if not is_installed(language):
        return
    verdict = judged(judges, language, CRASHES[language], StreamSuite(["3 4\n"], ["7\n"]))
    assert not verdict.passed
    assert "the program ended" in verdict.reason


@pytest.mark.parametrize("language", ["cpp", "javascript"])
def test_hidden_suites_and_checkers_decide_too(judges, language):
    if not is_installed(language):
        return
    checker = "def check(given, output, expected):\n    return sorted(output.split()) == sorted(expected.split())\n"
    accepting = StreamSuite(["3 4\n"], [" 7 \n"], checker=checker)
    refusing = StreamSuite(["3 4\n"], ["8"], checker=checker)
    broken = StreamSuite(["3 4\n"], ["8"], checker="nothing = 1\n")
    assert judged(judges, language, ADD[language], accepting).passed
    assert "checker refused" in judged(judges, language, ADD[language], refusing).reason
    assert "a checker defines" in judged(judges, language, ADD[language], broken).refusal
    job = Job(ADD[language], [SUM, refusing], LIMITS, language=language)
    assert judges.judge(job).count == 3


@pytest.mark.parametrize("language", ["cpp", "javascript"])
def test_a_program_that_chose_its_language_passes_as_well(judges, language):
    if not is_installed(language):
        return
    assert judged(judges, language, ADD[language], own_language=True).passed


READING = {
    "readline": "require('readline').createInterface({ input: process.stdin }).on('line', line => {\n"
    "    const [a, b] = line.split(' ').map(Number); console.log(a + b); });\n",
    "stream": "let text = ''; process.stdin.on('data', part => text += part);\n"
    "process.stdin.on('end', () => console.log(text.split(' ').map(Number).reduce((a, b) => a + b)));\n",
    "module": "import { readFileSync } from 'fs';\nconst [a, b] = readFileSync(0, 'utf8').split(' ').map(Number);\n"
    "console.log(a + b);\n",
    "awaiting": "(async () => { let sum = 0; for await (const part of process.stdin)\n"
    "    for (const word of String(part).split(' ')) sum += Number(word); console.log(sum); })();\n",
}


@pytest.mark.parametrize("way", READING)
def test_scripts_read_their_input_in_every_usual_way(judges, way):
    if not is_installed("javascript"):
        return
    verdict = judged(judges, "javascript", READING[way])
    assert verdict.passed, verdict


RANDOM = """
const fs = require("fs");
for (const path of ["/dev/random", "/dev/urandom"]) {
    console.log(fs.readSync(fs.openSync(path), Buffer.alloc(8)));
    try { fs.openSync(path, "w"); console.log("written"); } catch (error) {}
}
"""


FLOOD = """
process.on("SIGXFSZ", () => {});
for (;;) try { require("fs").writeSync(1, "x".repeat(1 << 16)); } catch (error) {}
"""


@pytest.mark.parametrize("at_most", [Tier.NAMESPACES, Tier.LANDLOCK], ids=lambda tier: tier.name.lower())
def test_random_numbers_can_be_read_and_not_written(at_most):
    """A JVM that cannot read them takes five seconds of processor time to make its own."""
    if not is_installed("javascript"):
        return
    node = find_toolchain(LANGUAGES["javascript"])
    with CommandPool(at_most) as pool, pool.load(node, RANDOM, LIMITS) as program:
        assert program.run(b"").stdout == b"8\n8\n"


def test_a_program_that_prints_on_without_effect_is_stopped_before_its_time_is_up():
    if not is_installed("javascript"):
        return
    node, limits = find_toolchain(LANGUAGES["javascript"]), replace(LIMITS, output_bytes=1 << 18)
    with CommandPool() as pool, pool.load(node, FLOOD, limits) as program:
        outcome = program.run(b"")
    assert outcome.status is CallStatus.OUTPUT_LIMIT
    assert outcome.cpu_s < LIMITS.cpu_s


@pytest.mark.parametrize("standard", ["C++11", "cpp14", "GNU C++17 (64)", "C++20", "c++23"])
def test_a_standard_of_cpp_can_be_named(judges, standard):
    if not is_installed("cpp"):
        return
    year = int(standard.partition("(")[0].strip()[-2:])
    least = {11: 201103, 14: 201402, 17: 201703, 20: 201709, 23: 202002}[year]
    source = f"#if __cplusplus < {least}\n#error too old\n#endif\n{ADD['c']}"  # <iostream> takes two seconds
    assert judged(judges, standard, source).passed


def test_functions_cannot_be_called_in_other_languages(judges):
    job = Job("int f();", [read_suite(["assert f() == 1"])], language="cpp")
    assert "standard input and output only" in judges.judge(job).refusal


def test_absent_tools_are_an_error_unless_the_program_chose_them(judges, monkeypatch):
    monkeypatch.setenv("PATH", "")
    find_toolchain.cache_clear()
    try:
        with pytest.raises(MissingToolchain, match=r"C\+\+ programs cannot be run here: .*apt install g\+\+"):
            judged(judges, "cpp20", ADD["cpp"])
        assert issubclass(MissingToolchain, SandboxError)
        verdict = judged(judges, "cpp20", ADD["cpp"], own_language=True)
        assert (verdict.count, verdict.refusal) == (0, "")
        assert "chose a language that nobody asked for" in verdict.reason
    finally:
        find_toolchain.cache_clear()


def test_an_owner_that_is_killed_leaves_no_process_and_no_folder(tmp_path):
    code = (
        "import os, tempfile; tempfile.tempdir = os.environ['PLACE']\n"
        "from plaudit.sandbox.child.confinement.profiles import Profile\n"
        "from plaudit.sandbox.server import ForkServer\n"
        "server = ForkServer(profile=Profile(executes=True, folder_mb=1))\n"
        "print(server.protections.active('namespaces'), flush=True)\ninput()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PLACE": str(tmp_path)},
    )
    assert owner.stdout is not None
    in_namespaces = owner.stdout.readline() == "True\n"
    started = descendants(owner.pid)
    assert started
    owner.kill()
    owner.communicate()
    assert gone(started, patience_s=30.0)
    assert not in_namespaces or list(tmp_path.iterdir()) == []


def test_pools_leave_no_process_descriptor_or_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before, files = descendants(), open_files()
    for language in {"c", "javascript"} & set(FOUND):
        with CommandPool() as pool:
            with pool.load(find_toolchain(LANGUAGES[language]), ADD[language], LIMITS) as program:
                assert program.run(b"1 2").stdout == b"3\n"
            started = descendants() - before
        assert gone(started)
    assert not {path.name for path in tmp_path.iterdir() if not path.name.startswith("plaudit-go-")}
    assert open_files() <= files
