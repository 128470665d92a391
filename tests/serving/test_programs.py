"""`/run_code` answers as SandboxFusion does, from plaudit's sandbox."""

import pytest

from plaudit.serving import ServerSettings, ServerThread
from tests.serving.asking import ask


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
def test_a_program_is_run_and_told_of(sandbox, code, stdin, status, run_status, code_returned, stdout):
    asked = {"code": code, "language": "python", "stdin": stdin, "run_timeout": 1, "files": {}, "fetch_files": []}
    answer = ask(sandbox, "/run_code", asked).json
    run = answer["run_result"]
    assert (answer["status"], run["status"], run["return_code"], run["stdout"]) == (
        status, run_status, code_returned, stdout,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("more", "words"), [({"language": "cobol"}, "no language"), ({"files": {"a": "aGk="}}, "files and fetch_files")]
)
def test_what_cannot_be_run_says_nothing_about_the_program(sandbox, more, words):
    answer = ask(sandbox, "/run_code", {"code": "print(1)", "language": "python", **more}).json
    assert answer["status"] == "SandboxError"
    assert words in answer["message"]
    assert answer["run_result"] is None


def test_a_request_without_a_program_is_refused(sandbox):
    assert ask(sandbox, "/run_code", {"language": "python"}).status == 422
    assert ask(sandbox, "/run_code", {"code": "", "language": "python", "run_timeout": 0}).status == 422
