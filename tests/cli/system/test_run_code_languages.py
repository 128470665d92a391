"""`plaudit run-code` and `plaudit doctor` with languages other than Python."""

import json

import pytest

from plaudit.cli import main
from plaudit.sandbox.languages.language import LANGUAGES
from tests.sandbox.languages.programs import ADD, FOUND

TRUTH = json.dumps({"inputs": ["3 4\n"], "outputs": ["7\n"]})
FILES = {"cpp": "program.cpp", "javascript": "program.js"}


def run(tmp_path, capfd, *arguments: str) -> tuple[int, str, str]:
    (tmp_path / "tests.json").write_text(TRUTH)
    with pytest.raises(SystemExit) as exited:
        main([*arguments])
    captured = capfd.readouterr()
    return int(exited.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("language", FILES)
def test_the_language_of_a_file_follows_from_its_name(tmp_path, capfd, language):
    program = tmp_path / FILES[language]
    program.write_text(ADD[language])
    code, out, err = run(tmp_path, capfd, "run-code", str(program), "--tests", str(tmp_path / "tests.json"))
    if language in FOUND:
        assert (code, "1 of 1 tests passed" in out) == (0, True)
    else:
        assert code != 0
        assert LANGUAGES[language].remedy in " ".join((out + err).split())


def test_an_option_goes_before_the_name(tmp_path, capfd):
    program = tmp_path / "program.js"
    program.write_text("print(7)\n")
    arguments = ["run-code", str(program), "--tests", str(tmp_path / "tests.json"), "--language"]
    assert run(tmp_path, capfd, *arguments, "python")[0] == 0
    code, out, err = run(tmp_path, capfd, *arguments, "cobol")
    assert code != 0
    assert "no language 'cobol'" in out + err


def test_doctor_finds_the_tools_of_each_language_or_names_the_package(tmp_path, capfd):
    _, out, _ = run(tmp_path, capfd, "doctor", "--json")
    found = {one["language"]: one for one in json.loads(out)["languages"]}
    assert list(found) == list(LANGUAGES)
    for name, one in found.items():
        assert one["usable"] is (name in FOUND), one
        assert one["version"] if one["usable"] else LANGUAGES[name].remedy in one["detail"]
