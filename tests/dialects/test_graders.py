"""OpenAI graders: JSON files as rewards."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from plaudit import Status, Trajectory, load
from plaudit.contract.scoring import score_samples
from plaudit.errors import RewardNotLoaded

SAMPLE = Trajectory(
    "Capital?", "Paris", ground_truth="paris", columns={"reference_answer": "Paris", "parts": [{"n": 7}]}
)
TEXT, TRUTH = "{{ sample.output_text }}", "{{ item.reference_answer }}"


def grade(tmp_path, grader, sample=SAMPLE):
    (tmp_path / "grader.json").write_text(json.dumps(grader))
    return score_samples(load(str(tmp_path / "grader.json")), [sample])[0]


def check(operation, reference=TRUTH, text=TEXT):
    return {"type": "string_check", "name": "exact", "input": text, "reference": reference, "operation": operation}


def similar(metric, reference=TRUTH, **further):
    further |= {"input": TEXT, "reference": reference, "evaluation_metric": metric}
    return {"type": "text_similarity", "name": "alike", **further}


PYTHON = {
    "type": "python",
    "name": "code",
    "source": "def grade(sample, item):\n    return len(sample['output_text']) / 10",
}


@pytest.mark.parametrize(
    ("grader", "expected"),
    [
        (check("eq"), 1.0),
        (check("ne"), 0.0),
        (check("like", "Par"), 1.0),
        (check("like", "par"), 0.0),
        (check("ilike", "PAR"), 1.0),
        (check("eq", "paris", "{{item.ground_truth}}"), 1.0),
        (check("eq", "7", "{{ item.parts[0].n }}"), 1.0),
        (similar("fuzzy_match"), 1.0),
        (similar("fuzzy_match", "Pavis"), 0.8),
        (similar("rouge_1"), 1.0),
        (similar("rouge_l", "Lyon"), 0.0),
        (similar("gleu"), 1.0),
        (PYTHON, 0.5),
        ({"grader": PYTHON}, 0.5),
    ],
    ids=str,
)
def test_a_grader_gives_its_number(tmp_path, grader, expected):
    output = grade(tmp_path, grader)
    assert output.ok, output.reason
    assert output.reward == pytest.approx(expected)


def test_a_multi_grader_computes_its_formula_and_keeps_the_parts(tmp_path):
    graders = {"exact": check("eq"), "code": PYTHON}
    multi = {"type": "multi", "name": "both", "graders": graders, "calculate_output": "max(exact, 0) * code^2 + 1"}
    output = grade(tmp_path, multi)
    assert output.reward == pytest.approx(1.25)
    assert {name: part.reward for name, part in output.components.items()} == {"exact": 1.0, "code": 0.5}


def test_a_threshold_decides_the_score_only(tmp_path):
    output = grade(tmp_path, similar("fuzzy_match", "Pavis", pass_threshold=0.7))
    assert (output.reward, output.score) == (pytest.approx(0.8), 1.0)


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ({"type": "strng_check"}, "got 'strng_check'; did you mean 'string_check'"),
        ({"type": "string_check", "name": "exact"}, "the string_check grader 'exact' has no 'input'"),
        (check("equals"), "no operation 'equals'"),
        (similar("rogue_1"), "no evaluation_metric 'rogue_1'; did you mean 'rouge_1'"),
        (similar("cosine"), "needs a hosted embedding model"),
        ({"type": "python", "source": "x = 1"}, "defines no grade"),
        ({"type": "multi", "graders": {"a": check("eq")}, "calculate_output": "a + b"}, "uses 'b'"),
        ({"type": "multi", "graders": {"a": check("eq")}, "calculate_output": "a.__class__"}, "uses 'a.__class__'"),
        (["no"], "a grader's type is one of"),
    ],
)
def test_an_invalid_grader_is_refused_at_load_with_the_reason(tmp_path, grader, message):
    with pytest.raises(RewardNotLoaded) as raised:
        grade(tmp_path, grader)
    assert message in str(raised.value)


def test_a_variable_that_a_sample_lacks_leaves_it_unscored(tmp_path):
    output = grade(tmp_path, check("eq", "{{ item.refrence }}"))
    assert output.status is Status.ERROR
    assert "asks for 'item.refrence', which the sample does not have; did you mean 'reference_answer'?" in output.reason


class Model(BaseHTTPRequestHandler):
    """A model that gives what it is asked to give: the content of the last message."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": asked["messages"][-1]["content"]}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    server = HTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("said", "expected"),
    [('{"steps": "", "result": 0.75}', 0.75), ('{"result": 7}', None), ("I refuse", None)],
)
def test_a_model_gives_a_score_within_the_range_or_none(tmp_path, monkeypatch, endpoint, said, expected):
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    ask = [{"role": "developer", "content": "grade"}, {"role": "user", "content": said}]
    output = grade(tmp_path, {"type": "score_model", "name": "judge", "model": "m", "input": ask, "range": [0, 1]})
    assert output.reward == expected
    assert output.ok or output.status is Status.UNPARSED
    assert output.metadata["attempts"] == 1


def test_a_model_that_is_away_is_tried_again_and_then_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr("plaudit.endpoint.channel.wait_strategy", lambda policy: lambda state: 0.0)
    ask = [{"role": "user", "content": "grade"}]
    output = grade(tmp_path, {"type": "score_model", "name": "judge", "model": "m", "input": ask, "range": [0, 1]})
    assert output.status is Status.ERROR
    assert "gave up after 4 tries" in output.reason


@pytest.mark.parametrize(("label", "expected"), [("good", 1.0), ("bad", 0.0), ("odd", None)])
def test_a_model_gives_a_label(tmp_path, monkeypatch, endpoint, label, expected):
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    ask = [{"role": "user", "content": {"type": "input_text", "text": json.dumps({"label": label})}}]
    grader = {"type": "label_model", "model": "m", "input": ask, "labels": ["good", "bad"], "passing_labels": ["good"]}
    assert grade(tmp_path, grader).reward == expected
