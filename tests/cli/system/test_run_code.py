"""`plaudit run-code`, as a user meets it."""

import json

import pytest

from plaudit.cli import main
from plaudit.cli.programs import visible

PROGRAM = "print('loaded')\ndef f(x):\n    print('called', '[red]')\n    return 2 * x\n"
TESTS = {
    "asserts": ("tests.py", "assert f(1) == 2\nassert f(2) == 4\n", []),
    "check": ("tests.py", "def check(candidate):\n    assert candidate(1) == 2\n", ["--entry-point", "f"]),
    "a test file": ("test_f.py", "import pytest\ndef test_f():\n    assert f(1) == pytest.approx(2)\n", []),
    "a ground truth": ("truth.json", '{"fn_name": "f", "inputs": [[1]], "outputs": [2]}', []),
}


@pytest.fixture
def run(tmp_path, capfd):
    def run(program, name, tests, *options):
        (tmp_path / "program.py").write_text(program)
        (tmp_path / name).write_text(tests)
        with pytest.raises(SystemExit) as exited:
            main(["run-code", str(tmp_path / "program.py"), "--tests", str(tmp_path / name), *options])
        captured = capfd.readouterr()
        return exited.value.code, captured.out, captured.err

    return run


@pytest.mark.parametrize(("name", "tests", "options"), TESTS.values(), ids=TESTS.keys())
def test_a_right_program_passes_every_kind_of_tests(run, name, tests, options):
    code, out, _ = run(PROGRAM, name, tests, *options)
    assert code == 0
    assert "tests passed" in out
    assert "judged split" in out


def test_a_wrong_program_exits_with_one_and_says_what_failed(run):
    code, out, _ = run(PROGRAM, "tests.py", "assert f(1) == 2\nassert f(2) == 5\n")
    assert code == 1
    assert "1 of 2 tests passed" in out
    assert "returned 4" in out
    assert "called [red]" in out


def test_json_for_programs(run):
    code, out, _ = run(PROGRAM, "tests.py", "assert f(1) == 3\n", "--json")
    told = json.loads(out)
    assert (code, told["passed"], told["tests"][0]["passed"], told["trusts_objects"]) == (1, False, False, False)


def test_tests_that_compare_objects_are_an_error_unless_the_objects_are_trusted(run):
    tests = "assert Money(5) == 5\n"
    program = (
        "class Money:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == other\n"
    )
    code, _, err = run(program, "tests.py", tests)
    assert (code, "objects of the program" in " ".join(err.split())) == (2, True)
    code, out, _ = run(program, "tests.py", tests, "--trust-objects")
    assert (code, "could forge" in " ".join(out.split())) == (0, True)


WRITER = "def f(x):\n    open('kept', 'w').write(str(x))\n    return open('kept').read()\n"


@pytest.mark.parametrize(("options", "code"), [([], 1), (["--scratch-mb", "1"], 0)], ids=["without", "with"])
def test_a_program_that_writes_a_file_needs_scratch_space(run, options, code):
    assert run(WRITER, "tests.py", "assert f(5) == '5'\n", *options)[0] == code


def test_control_characters_of_a_program_are_written_out():
    assert visible("a\x1b[31mb\x07\r\n\tü") == "a\\x1b[31mb\\x07\\r\n\tü"
