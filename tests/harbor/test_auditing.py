"""The audit finds planted flaws by kind and is silent on sound tasks; `benchmarks/harbor.py` runs the whole zoo."""

import base64
import codecs
import gzip
import hashlib
import json
import pickle
import sqlite3
from xml.etree import ElementTree

import pytest

from benchmarks.harbor_zoo import FLAWED, SOUND, write_zoo
from benchmarks.harbor_zoo_eighth import EIGHTH_FLAWED, EIGHTH_SOUND
from benchmarks.harbor_zoo_fifth import FIFTH_FLAWED, FIFTH_SOUND
from benchmarks.harbor_zoo_fourth import FOURTH_FLAWED, FOURTH_SOUND
from benchmarks.harbor_zoo_more import MORE_FLAWED, MORE_SOUND
from plaudit.cli import main
from plaudit.findings import Severity
from plaudit.harbor import Runtime, audit_task, read_task
from plaudit.harbor.audit.attacks import Seen, all_attacks
from plaudit.harbor.audit.auditing import KINDS
from plaudit.harbor.audit.equivalents import equivalents_of
from plaudit.harbor.audit.mutants import mutants_of
from plaudit.harbor.audit.probing import Prober
from plaudit.harbor.audit.products import Product, Products, products_of, read_archive
from plaudit.harbor.audit.surface import Surface
from plaudit.harbor.audit.tampering import Tampering
from plaudit.harbor.images import build_image
from plaudit.harbor.workspace import Entry, pack
from tests.harbor.task_folders import write_task
from tests.parts import part

RUNTIME = Runtime(network="none")
EXAMPLES = [
    "flaw-score-file",
    "flaw-shim-workdir",
    "flaw-symlink",
    "flaw-leak-answer",
    "flaw-nop",
    "flaw-last-command",
    "flaw-checksums",
    "flaw-top-folder",
    "flaw-any-link",
    "flaw-sample-only",
    "flaw-perl-lib",
    "flaw-hook",
    "flaw-loop",
    "flaw-optional-tool",
    "flaw-link-many",
    "flaw-packed-answer",
    "flaw-both-examples",
    "flaw-package",
    "flaw-row-order",
    "flaw-cached-reference",
    "flaw-result-folder",
]


def audit(name, folder):
    tables = (FLAWED, SOUND, MORE_FLAWED, MORE_SOUND, FOURTH_FLAWED, FOURTH_SOUND, FIFTH_FLAWED, FIFTH_SOUND)
    tables += (EIGHTH_FLAWED, EIGHTH_SOUND)
    [task] = [each for table in tables for each in table if each.name == name]
    [path] = write_zoo(folder, [task])
    return task, audit_task(read_task(path), RUNTIME)


@pytest.mark.parametrize("name", part(EXAMPLES, 2))
def test_a_planted_flaw_is_found_by_its_kind_and_with_a_witness(name, tmp_path):
    task, report = audit(name, tmp_path)
    findings = [each for each in report.failures if each.kind == task.kind]
    assert findings, report
    assert all(each.witness and each.remedy for each in findings)


@pytest.mark.parametrize("name", ["sound-total", "sound-shared-pair", "sound-remark", "sound-awk"])
def test_a_sound_task_raises_no_alarm(name, tmp_path):
    _, report = audit(name, tmp_path)
    assert report.passed, report
    assert report.trials > 8


def test_a_rewritten_solution_that_fails_is_shown_as_a_diff(tmp_path):
    _, report = audit("flaw-exact-text", tmp_path)
    [finding, *_] = [each for each in report.failures if each.kind == "overfitting"]
    assert "+++" in finding.witness
    assert finding.severity is Severity.ERROR


def test_the_zoo_is_large_enough_and_covers_every_kind_that_counts():
    assert len(FLAWED) >= 20
    assert len(SOUND) >= 20
    assert {task.kind for task in FLAWED} == set(KINDS) - {"verifier's rights"}
    everything = [*FLAWED, *SOUND, *MORE_FLAWED, *MORE_SOUND]
    assert len({task.name for task in everything}) == len(everything)


def test_the_command_writes_json_and_junit(tmp_path, capfd):
    write_zoo(tmp_path, [each for each in FLAWED if each.name == "flaw-nop"])
    with pytest.raises(SystemExit) as exited:
        main(["harbor", "audit", str(tmp_path), "--json", "--junit", str(tmp_path / "a.xml"), "--network", "none"])
    assert exited.value.code == 1
    [report] = json.loads(capfd.readouterr().out)
    assert {each["kind"] for each in report["findings"]} == {"stub solution"}
    assert [each.tag for each in ElementTree.parse(tmp_path / "a.xml").iter("failure")] == ["failure"]


def test_a_task_whose_solution_fails_cannot_be_audited(tmp_path):
    [path] = write_zoo(tmp_path, [SOUND[0]])
    (path / "solution" / "solve.sh").write_text("true\n")
    report = audit_task(read_task(path), RUNTIME)
    assert not report.passed
    assert not report.findings
    assert "its solution earns 0" in report.notes[-1]


def test_products_are_what_the_solution_changed_and_the_instruction_names():
    kept = {"app/v1/n": b"", "app/v2/n": b""}
    before = pack({"app/gone": b"x", "app/port.ini": b"port = 1\nhost = a\n", "app/run": b"#!/bin/sh", **kept})
    link, run = Entry(link="v2", mode=0o777), Entry(b"#!/bin/sh", 0o700)
    after = pack({"app/port.ini": b"port = 2\nhost = a\n", "app/now": link, "app/run": run, **kept})
    undone = products_of(
        before, after, "set the port, make now a link, the mode of run 700, remove the rest", "/app"
    ).undone
    assert [(product.path, version.change) for product, version in undone] == [
        ("/app/gone", "not removed"),
        ("/app/now", "a link to v1, not to v2"),
        ("/app/port.ini", "line 1 as before"),
        ("/app/run", "mode 755, not 700"),
    ]
    assert undone[2][1].content == b"port = 1\nhost = a\n"


def test_members_of_an_archive_are_changed_and_removed():
    content = gzip.compress(pack({"a.txt": b"1\n", "b.txt": b"2\n"}))
    mutants = {
        each.change: read_archive(gzip.decompress(each.content))
        for each in mutants_of(Product("/app/x.tgz", content), "")
    }
    assert mutants["a.txt removed"] == {"/b.txt": b"2\n"}
    assert mutants["b.txt the number 2 changed"] == {"/a.txt": b"1\n", "/b.txt": b"3\n"}
    assert content not in mutants.values()


@pytest.mark.parametrize(
    ("path", "content", "other", "differs"),
    [
        ("/app/x.awk", b"{ n += $2 } END { print n }", b"{ n += $1 } END { print n }", True),
        ("/app/x.awk", b"{ n += $2 } END { print n }", b"# a sum\n{ n += $2 }\nEND { print n }", False),
        ("/app/x.sql", b"SELECT sum(b) FROM t", b"SELECT max(b) FROM t", True),
        ("/app/x.sql", b"SELECT sum(b) FROM t", b"select sum(t.b) from t", False),
        ("/app/x.sh", b"#!/bin/bash\necho a$1", b"#!/bin/bash\necho a$1; exit 3", False),
        ("/app/x.sh", b"#!/bin/bash\necho $1", b"#!/bin/bash\necho $2", True),
    ],
)
def test_programs_are_compared_by_what_they_print(path, content, other, differs, tmp_path):
    files = {"environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nRUN echo a 2 > n.txt\n"}
    task = read_task(write_task(tmp_path, files=files))
    with build_image(task, RUNTIME) as image:
        prober = Prober(image, "a table t(a, b) and 7 numbers", "")
        assert bool(prober.difference(Product(path, content), other)) is differs
        assert not prober.notes


def test_a_program_that_cannot_be_observed_is_noted(tmp_path):
    with build_image(read_task(write_task(tmp_path)), RUNTIME) as image:
        prober = Prober(image, "", "")
        assert prober.difference(Product("/app/x.unknown", b"a"), b"b") == ""
        assert list(prober.notes) == ["the behaviour of /app/x.unknown could not be observed"]


CODE = b"""def largest(values):
    best = values[0]
    for v in values:
        if v > best:
            best = v
    return best
"""


def test_mutants_differ_and_rewritings_do_the_same():
    product = Product("/app/x.py", CODE)
    changes = {each.change for each in mutants_of(product, "")}
    assert {"line 4: Gt became LtE", "line 6: returns None"} <= changes
    for version in equivalents_of(product, "", "largest"):
        namespace = {}
        exec(version.content, namespace)
        assert namespace["largest"]([3, 9, 2]) == 9
    assert len(equivalents_of(product, "", "largest")) == 2


def test_a_program_with_a_lambda_has_mutants():
    product = Product("/app/x.py", b"rows = sorted([3, 1], key=lambda row: -row)\n")
    assert "line 1: 3 became 4" in {each.change for each in mutants_of(product, "")}


def test_a_rewritten_program_keeps_the_line_that_names_its_interpreter():
    product = Product("/app/x", b"#!/usr/bin/env python3\n# a comment\n" + CODE)
    versions = [*mutants_of(product, ""), *equivalents_of(product, "", "")]
    contents = [each.content for each in versions] + [
        product.with_constant("7"),
        product.with_answers({("f", "1"): 1, ("f", "2"): 2}),
    ]
    assert len(contents) > 5
    assert all(content.startswith(b"#!/usr/bin/env python3\n") for content in contents)


def test_only_functions_that_nobody_names_are_renamed():
    code = b"def helper(a):\n    return a\n\n\ndef asked(a):\n    return helper(a) + other(a)\n\n\n"
    code += b"def other(a):\n    return 1\n"
    versions = equivalents_of(Product("/app/x.py", code), "", "asked() is wanted; the image calls other()")
    [renamed] = [each for each in versions if each.change == "helper functions renamed"]
    namespace = {}
    exec(renamed.content, namespace)
    assert namespace["asked"](2) == 3
    assert "helper" not in namespace
    assert "other" in namespace


@pytest.mark.parametrize(
    ("value", "instruction", "reversed_lists"),
    [
        ([{"n": "b", "v": 9}, {"n": "a", "v": 3}], "sorted by v", ["the list in reverse order"]),
        ([{"n": "b", "v": 9}, {"n": "a", "v": 3}], "in any order, ranks do not count", []),
        ({"x": [1, 2, 3], "y": ["b", "a", "c"]}, "x sorted, y", ["x in reverse order"]),
        ([1, 1], "sorted", []),
    ],
)
def test_lists_are_reversed_only_where_the_task_asks_for_an_order_that_they_have(value, instruction, reversed_lists):
    mutants = mutants_of(Product("/app/x.json", json.dumps(value).encode()), instruction)
    assert [each.change for each in mutants if "reverse" in each.change] == reversed_lists


def test_rows_are_reordered_only_where_the_instruction_leaves_their_order_free():
    product = Product("/app/x.csv", b"name,age\nAda,3\nBo,4\n")
    [version] = equivalents_of(product, "The order of the rows is free.", "")
    assert version.content == b"name,age\nBo,4\nAda,3\n"
    assert equivalents_of(product, "Sort the rows by name.", "") == []


def test_a_folder_that_the_instruction_names_stands_for_its_files():
    after = pack({"app/shop/rates.py": b"r = 1\n", "app/shop/__init__.py": b"", "app/else/x.py": b""})
    instruction = "Write a package /app/shop below /app."
    named = products_of(pack({}), after, instruction, "/app").required
    assert [each.path for each in named] == ["/app/shop/rates.py", "/app/shop/__init__.py"]
    assert products_of(pack({}), after, instruction, "/app/shop").required == []


def test_a_program_of_shown_answers_gives_these_and_nothing_else(tmp_path):
    product = Product("/app/f.py", b"def f(a, b=1):\n    return a * 10 + b\n")
    with build_image(read_task(write_task(tmp_path)), RUNTIME) as image:
        program = Prober(image, "f(3, 4) is 34, f(8, 1) is 81", "f(5, 6) == 56").with_shown_answers(product)
    namespace = {}
    exec(program, namespace)
    assert [namespace["f"](*pair) for pair in ((3, 4), (8, 1), (5, 6), (4, 3))] == [34, 81, None, None]


@pytest.mark.parametrize(
    "pack_answer",
    [
        gzip.compress,
        lambda text: pack({"old/answer": text}),
        lambda text: text,
        lambda text: b'{"result": "%s"}' % base64.b64encode(text),
        lambda text: gzip.compress(b"\n".join((b"# dump", text.hex().encode()))),
        lambda text: codecs.encode(text.decode(), "rot13").encode(),
    ],
)
def test_an_answer_in_the_image_is_tried_however_it_is_packed(pack_answer, tmp_path):
    answer = b'{"total": 62, "names": ["a"]}'
    products = Products(
        [Product("/app/r.json", answer)], [Product("/app/r.json", b'{"names": ["a"],\n "total": 62}\n')]
    )
    seen = Seen({"/app/.cache": pack_answer(answer), "$OTHER": gzip.compress(b"something else")}, [], [])
    task = read_task(write_task(tmp_path))
    attacks = all_attacks(task, "separate", products, Surface(), seen)
    [leak] = [each for each in attacks if each.kind == "answer in the image"]
    assert leak.solution.files == {"/app/r.json": answer}


def test_links_point_first_to_what_is_most_like_the_result(tmp_path):
    files = {f"tests/data/{index}.txt": f"{index} other words\n" for index in range(20)}
    task = read_task(write_task(tmp_path, files={**files, "tests/want.csv": "name,age\nAda,36\n"}))
    product = Product("/app/out.csv", b"name,age\nAda,36\n")
    surface = Surface(protected=[f"/{name}" for name in [*files, "tests/want.csv"]])
    attacks = all_attacks(task, "shared", Products([product], [product]), surface, Seen({}, [], []))
    first = next(each for each in attacks if each.kind == "symlink")
    assert first.solution.name == "links to /tests/want.csv"


def test_a_constant_program_keeps_the_signatures():
    stub = Product("/app/x.py", CODE).with_constant("7")
    namespace = {}
    exec(stub, namespace)
    assert namespace["largest"]([3]) == 7
    assert Product("/app/x.txt", b"5").with_constant("7") is None


def test_json_is_rewritten_with_the_same_values():
    product = Product("/app/x.json", b'{"a": [1, {"b": 2}], "c": null}')
    assert all(json.loads(each.content) == json.loads(product.content) for each in equivalents_of(product, "", ""))
    assert all(json.loads(each.content) != json.loads(product.content) for each in mutants_of(product, "a b c"))


def rows_of(content):
    database = sqlite3.connect(":memory:")
    database.deserialize(content)
    return database.execute("SELECT * FROM totals").fetchall()


def test_databases_are_changed_by_value_and_rewritten_with_the_same_rows():
    database = sqlite3.connect(":memory:")
    database.executescript(
        "CREATE TABLE totals (name TEXT, amount INTEGER); INSERT INTO totals VALUES ('Ada', 15), ('Bo', 7)"
    )
    product = Product("/app/x.db", database.serialize())
    mutants = {each.change: rows_of(each.content) for each in mutants_of(product, "")}
    assert mutants == {
        "totals.name changed": [("Ada", 15), ("Box", 7)],
        "totals.amount changed": [("Ada", 15), ("Bo", 8)],
        "a row of totals removed": [("Ada", 15)],
    }
    [version] = equivalents_of(product, "", "")
    assert version.content != product.content
    assert rows_of(version.content) == rows_of(product.content)
    assert mutants_of(Product("/app/x.bin", b"\xff\x00"), "") == []


@pytest.mark.parametrize(
    ("content", "known", "counted"),
    [
        (b'{"remark": "easy"}', "any remark", set()),
        (b'{"remark": "easy"}', "write the remark easy", {"remark changed"}),
        (b'{"sum": 62, "even": true}', "sum even", {"sum changed", "sum became nan", "even changed"}),
        (b"# Tea\n- green\n- black\n", "any topic", set()),
        (b"Ada\nBo\n", "Ada Bo", {"line 1 removed", "line 2 removed", "line 1 changed", "line 2 changed"}),
        (
            b"3\n5\n",
            "",
            {"the number 3 changed", "the number 5 changed", "line 1 removed", "line 2 removed", "a line added"},
        ),
        (b"Ada\nBo\n", "sort names", {"lines in reverse order"}),
        (b"name,points\nAda,3\n", "", {"the number 3 changed", "line 2 removed"}),
        (b"62\n", "", {"the number 62 changed", "a digit added", "the number became nan"}),
    ],
)
def test_a_change_of_words_counts_only_where_the_task_has_them(content, known, counted):
    path = "/app/x.json" if content.startswith(b"{") else "/app/x.txt"
    mutants = mutants_of(Product(path, content), f"{known} remark sum even")
    assert {each.change for each in mutants if each.is_wrong(known)} == counted


def test_what_the_verifier_reads_gets_other_contents_beside_wrong_results():
    image = {"/app/check.json": b'{"tolerance": 0.01, "strict": true, "total": 62}', "/app/a.sum": b"-"}
    tampering = Tampering(
        {"/app/total.txt": b"62\n"}, {"/app/total.txt": b"63\n"}, image, words=["all passed"], sums=["md5"]
    )
    surface = Surface(existing=list(image), missing=["/app/.ok"], left={"/app/seen/1.xml": b"passed"})
    variants = [*tampering.variants(surface)]
    values = {(path, content) for _, files in variants for path, content in files.items()}
    assert {
        ("/app/check.json", b'{"tolerance": 999999999, "strict": true, "total": 999999999}'),
        ("/app/check.json", b'{"tolerance": 0, "strict": false, "total": 0}'),
        ("/app/check.json", b'{"tolerance": 0.01, "strict": true, "total": 63}'),
        ("/app/.ok", b"63\n"),
        ("/app/.ok", b"all passed\n"),
        ("/app/a.sum", f"{hashlib.md5(b'63' + bytes([10])).hexdigest()}  total.txt\n".encode()),
        ("/app/seen/1.xml", b"passed"),
    } <= values
    assert any(list(files) == ["/app/check.json"] for _, files in variants)
    assert not any("/app/total.txt" in files for _, files in variants)


def test_a_verification_that_passes_shows_what_it_leaves(tmp_path):
    results = "mkdir -p /app/r; python3 -I /app/add.py && echo passed > /app/r/$$.txt\n"
    verdict = "if grep -qs passed /app/r/*; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    report = audit_task(
        read_task(write_task(tmp_path, files={"tests/test.sh": f"#!/bin/bash\n{results}{verdict}"})), RUNTIME
    )
    assert any("as a verification that passes leaves them" in each.message for each in report.findings)


def test_an_answer_is_found_outside_the_folder_of_the_task_and_in_variables(tmp_path):
    docker = "FROM debian:12\nWORKDIR /app\n{}\n"
    files = {
        "instruction.md": "Write the pass phrase into /app/phrase.txt.\n",
        "solution/solve.sh": "echo 'grey heron over the weir' > /app/phrase.txt",
        "tests/test.sh": "#!/bin/bash\n[ \"$(cat /app/phrase.txt)\" = 'grey heron over the weir' ]\n"
        "echo $((1 - $?)) > /logs/verifier/reward.txt\n",
    }
    for place in ("RUN echo grey heron over the weir > /etc/phrase", 'ENV PHRASE="grey heron over the weir"'):
        dockerfile = {"environment/Dockerfile": docker.format(place)}
        report = audit_task(read_task(write_task(tmp_path, place[:3], files={**files, **dockerfile})), RUNTIME)
        assert "answer in the image" in {each.kind for each in report.findings}, report


def test_a_pickle_and_an_archive_that_do_harm_are_tried(tmp_path):
    task = read_task(write_task(tmp_path))
    for path, content in (("/app/m.pkl", pickle.dumps({"a": 1})), ("/app/a.tar", pack({"a.txt": b"1"}))):
        product = Product(path, content)
        attacks = all_attacks(task, "separate", Products([product], [product]), Surface(), Seen({}, [], []))
        [harm] = [each.solution.files[path] for each in attacks if each.kind == "verifier's rights"]
        assert b"logs/verifier/reward.json" in harm


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/app/x.py", CODE),
        ("/app/x.py", b"import sys\nprint(sys.argv[1])\n"),
        ("/app/x.sh", b"echo $1"),
        ("/app/x.c", b""),
    ],
)
def test_a_stub_gives_back_what_it_gets(path, content):
    stub = Product(path, content).echoing()
    assert stub != content
    if content == CODE:
        namespace = {}
        exec(stub, namespace)
        assert namespace["largest"]([3, 1]) == [3, 1]
    assert Product("/app/x.txt", b"5").echoing() is None


def test_other_numbers_in_the_same_form_keep_those_of_the_task():
    product = Product("/app/x.json", b'{"total": 62, "name": "Ada", "limit": 5}')
    assert json.loads(product.disguised("keys total, name and limit (5)")) == {"total": 73, "name": "Ada", "limit": 5}
    assert Product("/app/x.py", CODE).disguised("") is None
