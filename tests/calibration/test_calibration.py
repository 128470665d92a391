"""Calibration of judges: scripted judges of known bias at a real server, replay, certificates, labels and errors."""

import json
from dataclasses import replace

import pytest

from plaudit import Trajectory, load, score
from plaudit.calibration import (
    Transcript,
    calibrate,
    identify,
    labels_of_column,
    read_certificate,
    read_labels,
    require_certificates,
    sample_key,
    write_certificate,
)
from plaudit.cli.app import main
from plaudit.errors import InvalidSettings
from plaudit.judges import ChatEndpoint, JudgePanel, LLMJudge, RubricReward
from plaudit.rollouts import Rollout
from tests.calibration.scripted_judges import COMPOUND, OWN, RUBRIC, LocalEndpoint, ScriptedJudge, labelled_rollouts
from tests.judges.servers import Reply, serving

SAMPLES = labelled_rollouts(1)
COMPARED = {"verbosity in comparisons", "format in comparisons"}
POLICY = {"tries": 1, "breaker_after": 1000}


def judge_at(server, rubric=RUBRIC, kind=LLMJudge):
    return kind(ChatEndpoint(server.url, OWN, policy=POLICY), rubric)


def run(judge, samples=SAMPLES, **options):
    return calibrate(judge, samples, labels_of_column("human", judge, samples), **options)


def test_four_biases_of_one_judge_are_found_and_nothing_else():
    with serving(ScriptedJudge(position=0.3, verbosity=0.1, format=0.2, own=0.25)) as server:
        result = run(judge_at(server))
    assert set(result.findings) - COMPARED == {"position", "verbosity", "format", "self-preference"}
    assert result.agreements[0].kappa.value > 0.5


def test_a_judge_without_faults_has_no_findings_and_replays_exactly(tmp_path):
    file = tmp_path / "transcript.jsonl"
    with serving(ScriptedJudge()) as server:
        judge = judge_at(server)
        first = run(judge, transcript=Transcript(file))
        count = len(server.requests)
        with file.open("ab") as record:
            record.write(b'{"question": "half a li')
        run(judge, transcript=Transcript(file))
        assert len(server.requests) == count  # what is recorded is not asked again
    assert first.findings == {}
    again = run(judge, transcript=Transcript(file, replay=True))  # the server is gone
    assert again.to_dict() == first.to_dict()
    with pytest.raises(InvalidSettings, match=r"no answer to .* questions of this calibration"):
        run(replace(judge, rubric=COMPOUND), transcript=Transcript(file, replay=True))


def test_a_judge_of_keywords_fails_the_attacks_and_contradictory_reasons_are_found():
    endpoint = LocalEndpoint.of(ScriptedJudge(keywords=True, noise=0.0, contradicts=0.5))
    samples = [
        Trajectory(f"Report {n}", f"The price of {n}." if n % 2 else f"I do not know {n}.", columns={"human": n % 2})
        for n in range(24)
    ]
    result = run(RubricReward(endpoint, COMPOUND), samples)
    assert {"partial satisfaction", "topical match", "reasons"} <= set(result.findings)
    assert result.compound == {"parts": ["States the price", "explains the delay"]}
    partial = next(test for test in result.tests if test.kind == "partial satisfaction")
    assert "States the price" in partial.witness["response"]


def test_a_judge_that_compares_is_measured_on_whole_responses():
    judge = LLMJudge(LocalEndpoint.of(ScriptedJudge(position=0.3, noise=0.05)), RUBRIC, mode="pairwise")
    result = run(judge, labelled_rollouts(2, prompts=20, each=4))
    assert set(result.findings) == {"position", "unanswered"}  # pairs of equal quality contradict each other
    assert {test.kind for test in result.tests} == {"position", "verbosity", "format", "self-preference", "reasons"}


def test_unanswered_samples_are_counted_and_get_no_number():
    script = ScriptedJudge(noise=0.0)

    def answer(body):
        return Reply(status=500) if "Exercise 3" in body["messages"][-1]["content"] else script(body)

    with serving(answer) as server:
        result = run(judge_at(server))
        assert result.unanswered == {"error": 2}
        assert result.agreements[0].unanswered == result.means[0].unanswered == 2
        assert result.agreements[0].count == len(SAMPLES) - 2
        with (
            serving(lambda body: Reply(status=500)) as broken,
            pytest.raises(InvalidSettings, match="no verdict on any"),
        ):
            run(judge_at(broken))


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (SAMPLES[:12], "12 labels with a verdict; agreement needs at least 20"),
        (
            [each for each in SAMPLES if each.columns["human"]],
            "labels say yes; agreement needs responses of both kinds",
        ),
    ],
)
def test_labels_that_do_not_suffice_are_an_error(samples, message):
    with serving(ScriptedJudge()) as server, pytest.raises(InvalidSettings, match=message):
        run(judge_at(server), samples)


def test_labels_are_read_from_a_file_and_must_belong_to_the_samples(tmp_path):
    judge = LLMJudge(ChatEndpoint("http://127.0.0.1:1/v1", OWN), RUBRIC)
    file = tmp_path / "decisions.json"

    def write(*rows):
        file.write_text(json.dumps({"decisions": [{"key": key, "decision": label} for key, label in rows]}))

    known = sample_key(SAMPLES[0])
    write((f"{known} right", "yes"), (f"{sample_key(SAMPLES[1])} right", "unclear"))
    assert read_labels(file, judge, SAMPLES) == {(known, "right"): True}
    write(("0123 right", "yes"))
    with pytest.raises(InvalidSettings, match="a sample that is not in the rollouts"):
        read_labels(file, judge, SAMPLES)
    write((f"{known} wrong", "yes"))
    with pytest.raises(InvalidSettings, match="no criterion of the rubric"):
        read_labels(file, judge, SAMPLES)


def test_a_certificate_is_bound_to_rubric_model_and_prompt(tmp_path):
    endpoint = ChatEndpoint("http://127.0.0.1:1/v1", OWN)
    judge, file = LLMJudge(endpoint, RUBRIC), tmp_path / "certificate.json"
    write_certificate(file, judge, {"findings": {}}, [])
    require_certificates(judge, [file])
    require_certificates(0.5 * judge + 0.5 * load("length"), [file])
    require_certificates(LLMJudge(ChatEndpoint("http://127.0.0.1:2/v1", OWN), RUBRIC), [file])  # another server
    changed = {
        "rubric": LLMJudge(endpoint, COMPOUND),
        "model": LLMJudge(ChatEndpoint("http://127.0.0.1:1/v1", "another"), RUBRIC),
        "prompt": LLMJudge(ChatEndpoint("http://127.0.0.1:1/v1", OWN, system=False), RUBRIC),
    }
    for part, other in changed.items():
        with pytest.raises(InvalidSettings, match=f"is for another {part}.*plaudit judge calibrate"):
            require_certificates(other, [file])
    for setting in ({"reference": "never"}, {"votes": 3}, {"mode": "ranked"}, {"max_chars": 1000}):
        assert identify(LLMJudge(endpoint, RUBRIC, **setting)).prompt != identify(judge).prompt
    with pytest.raises(InvalidSettings, match="is for another model"):
        require_certificates(JudgePanel([judge, changed["model"]]), [file])
    with pytest.raises(InvalidSettings, match="has no judge"):
        require_certificates(load("length"), [file])


def test_a_certificate_with_findings_is_valid_only_if_they_were_accepted(tmp_path):
    judge, file = LLMJudge(ChatEndpoint("http://127.0.0.1:1/v1", OWN), RUBRIC), tmp_path / "certificate.json"
    write_certificate(file, judge, {"findings": {"position": "…", "format": "…"}}, ["format"])
    with pytest.raises(InvalidSettings, match=r"not accepted.*position"):
        require_certificates(judge, [file])
    write_certificate(file, judge, {"findings": {"position": "…"}}, ["position"])
    require_certificates(judge, [file])
    file.write_text(file.read_text().replace('"findings": {', '"findings": {"x": "y", '))
    with pytest.raises(InvalidSettings, match="was changed after it was written"):
        read_certificate(file)
    with pytest.raises(InvalidSettings, match="no certificate"):
        require_certificates(judge, [tmp_path / "none.json"])


def test_the_command_calibrates_certifies_and_replays(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubric.yaml").write_text(json.dumps(RUBRIC))
    (tmp_path / "rollouts.jsonl").write_bytes(b"".join(Rollout(each).to_line() for each in SAMPLES))
    command = ["judge", "calibrate", "rubric.yaml", "rollouts.jsonl", "--against", "human", "--model", OWN]
    with serving(ScriptedJudge(verbosity=0.2)) as server:
        here = [*command, "--url", server.url]
        assert _exit(*here, "--record", "answers.jsonl", "-o", "certificate.json", "--json") == 1
        first = json.loads(capsys.readouterr().out)
    assert set(first["findings"]) == {"verbosity", "verbosity in comparisons"}
    assert (
        _exit(
            *here,
            "--replay",
            "answers.jsonl",
            "--accept-finding",
            "verbosity",
            "--accept-finding",
            "verbosity in comparisons",
            "--json",
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out) == first
    assert read_certificate(tmp_path / "certificate.json")["findings"] == first["findings"]
    spec = f"rubric({{'url': '{server.url}', 'model': '{OWN}'}}, rubric='rubric.yaml')"
    assert _exit("serve", spec, "--port", "0", "--judge-certificate", "certificate.json") == 2
    assert "not accepted (--accept-finding): verbosity" in capsys.readouterr().err
    assert _exit("train", f"training.reward_function={spec}", "training.judge_certificates=[certificate.json]") == 2
    assert "not accepted (--accept-finding): verbosity" in capsys.readouterr().err
    assert _exit("judge", "calibrate", "rubric.yaml", "rollouts.jsonl", "--against", "human") == 2
    assert "--url and --model" in capsys.readouterr().err
    assert _exit("judge", "calibrate", "length", "rollouts.jsonl", "--against", "human") == 2
    assert "is no single judge" in capsys.readouterr().err


def _exit(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def test_a_rubric_of_one_criterion_keeps_the_reason_of_the_judge():
    with serving(ScriptedJudge(noise=0.0)) as server:
        [output] = score(judge_at(server, RUBRIC, RubricReward), SAMPLES[:1])
    assert output.reason.startswith("The answer is")
