"""`/run_code` answers as SandboxFusion does, from plaudit's sandbox."""

import pytest

from plaudit.serving import ServerSettings, ServerThread
from tests.serving.asking import ask

LATE = """
import atexit, sys, threading, time
threading.Thread(target=lambda: (time.sleep(0.1), print("late", file=sys.stderr))).start()
atexit.register(print, "last")
"""


@pytest.fixture(scope="module")
def sandbox():
    with ServerThread(ServerSettings(sandbox=True, port=0, workers=1)) as running:
        yield running.address


@pytest.mark.parametrize(
    ("code", "stdin", "status", "run_status", "code_returned", "stdout"),
    [
        ("print(input()[::-1])", "abc", "Success", "Finished", 0, "cba\n"),
        ("import sys; sys.exit(4)", None, "Failed", "Finished", 4, ""),
        ("print(1)\nraise ValueError(3)", None, "Failed", "Finished", 1, "1\n"),
        ("while True: pass", None, "Failed", "TimeLimitExceeded", None, ""),
        ("import os; os.kill(os.getpid(), 11)", None, "Failed", "Finished", -11, ""),
    ],
)
def test_run_code_runs_a_program_and_reports_the_result(
    sandbox, code, stdin, status, run_status, code_returned, stdout
):
    asked = {"code": code, "language": "python", "stdin": stdin, "run_timeout": 1, "files": {}, "fetch_files": []}
    answer = ask(sandbox, "/run_code", asked).json
    run = answer["run_result"]
    assert (answer["status"], run["status"], run["return_code"], run["stdout"]) == (
        status, run_status, code_returned, stdout,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"language": "cobol"}, "no language"),
        ({"files": {"a": "aGk="}}, "programs run without files"),
        ({"fetch_files": ["b"]}, "programs run without files"),
    ],
)
def test_an_invalid_run_request_is_an_error_of_the_sandbox(sandbox, more, words):
    answer = ask(sandbox, "/run_code", {"code": "print(1)", "language": "python", **more}).json
    assert answer["status"] == "SandboxError"
    assert words in answer["message"]
    assert answer["run_result"] is None


def test_the_client_of_sandbox_fusion_is_answered(sandbox):
    from sandbox_fusion import RunCodeRequest, run_code

    asked = RunCodeRequest(code="print(input())", language="python", stdin="x")
    answer = run_code(asked, endpoint=sandbox, max_attempts=1, client_timeout=30)
    assert (answer.status, answer.run_result.status, answer.run_result.return_code) == ("Success", "Finished", 0)
    assert answer.run_result.stdout == "x\n"
    failed = run_code(RunCodeRequest(code="1 / 0", language="python"), endpoint=sandbox, max_attempts=1)
    assert "ZeroDivisionError" in failed.run_result.stderr
    with pytest.raises(Exception, match="Sandbox responded with error: no language 'php'"):
        run_code(RunCodeRequest(code="1", language="php"), endpoint=sandbox, max_attempts=1)


def test_a_request_without_a_program_is_refused(sandbox):
    assert ask(sandbox, "/run_code", {"language": "python"}).status == 422
    assert ask(sandbox, "/run_code", {"code": "", "language": "python", "run_timeout": 0}).status == 422


@pytest.mark.parametrize(
    ("code", "status", "return_code", "words"),
    [
        ("print(1)", "Success", 0, ""),
        ("raise ValueError(3)", "Failed", 1, "ValueError: 3"),
        ("import os; os._exit(5)", "Failed", 5, ""),
        ("import sys; sys.exit(True)", "Failed", 1, ""),
        ("import sys; sys.exit(256 + 7)", "Failed", 7, ""),
        ("import sys; sys.exit('good bye')", "Failed", 1, "good bye"),
        (LATE, "Success", 0, "late"),
        ("while True: pass", "Failed", None, ""),
    ],
)
def test_the_end_of_a_program_is_its_return_code(sandbox, code, status, return_code, words):
    asked = {"code": code, "language": "python", "run_timeout": 1}
    answer = ask(sandbox, "/run_code", asked).json
    assert (answer["status"], answer["run_result"]["return_code"]) == (status, return_code)
    assert words in answer["run_result"]["stderr"]
