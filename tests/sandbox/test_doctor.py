"""`plaudit doctor` says which protections are active, and fails where programs are not safe."""

import json
from pathlib import Path

import pytest

from plaudit.cli.app import main
from plaudit.errors import SandboxError
from plaudit.sandbox import Tier, doctor


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main(["doctor", *arguments])
    return left.value.code, capsys.readouterr().out


def test_every_protection_of_a_safe_machine_is_reported(capsys):
    code, out = run(capsys, "--json")
    report = json.loads(out)
    assert (code, report["healthy"]) == (0, True)
    assert {name: active for name, active, _ in report["confinement"]}["seccomp"] is True
    assert all(succeeded is False for _, succeeded in report["attempts"])


def test_without_protections_it_fails_and_says_what_is_absent(capsys):
    code, out = run(capsys, "--at-most", "none")
    assert code == 1
    assert "seccomp" in out
    assert "absent" in out
    assert "possible" in out


def test_files_of_one_diagnosis_do_not_change_the_next():
    before = set(Path("/tmp").glob("plaudit-canary-*"))
    runs = [doctor.diagnose(Tier.NONE).attempts for _ in range(2)]
    assert runs[0] == runs[1]
    assert dict(runs[1])["write a file"]
    assert set(Path("/tmp").glob("plaudit-canary-*")) == before


def test_where_no_server_starts_everything_is_untested(capsys, monkeypatch):
    def fails(**_):
        raise SandboxError("programs can be run safely on Linux only; this is darwin")

    monkeypatch.setattr(doctor, "ForkServer", fails)
    code, out = run(capsys)
    assert code == 1
    assert "untested" in out
    assert "Linux only" in out


def test_a_weaker_tier_can_be_asked_for():
    assert doctor.diagnose(Tier.SECCOMP).tier is Tier.SECCOMP
