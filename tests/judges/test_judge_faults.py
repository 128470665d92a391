"""Judges on a server that misbehaves on purpose: whatever it does is a status with its reason, never a score."""

import json
import os
import pickle
import re
import socket

import pytest

from plaudit import Status, Trajectory
from plaudit.contract.scoring import score_samples
from plaudit.engine import Usage
from plaudit.errors import InvalidSettings
from plaudit.judges import ChatEndpoint, LLMJudge
from tests.judges.servers import Reply, serving, verdict

SAMPLE = Trajectory(prompt="What is 2 + 2?", response="4")
QUICK = {"first_wait_s": 0.001, "longest_wait_s": 0.01, "tries": 3, "attempt_s": 5.0}
KEY = "sk-very-secret-0123456789"


def judge(url: str, policy=QUICK, **settings) -> LLMJudge:
    return LLMJudge(ChatEndpoint(url, "m", policy=policy, **settings))


def judged(reply, sample=SAMPLE, **settings):
    """What a server that always replies like this makes of a sample, and how often it was asked."""
    answer = reply if callable(reply) else lambda body: reply
    with serving(answer) as server:
        [output] = score_samples(judge(server.url, **settings), [sample])
        return output, len(server.requests)


FAULTS = {
    "half a body": (Reply(body=b'{"choices": [{"mess'), Status.ERROR, "not a chat completion", 3),
    "no json": (Reply(body=b"<html>busy</html>"), Status.ERROR, "not a chat completion: <html>busy</html>", 3),
    "no choices": (Reply(body=b'{"choices": []}'), Status.ERROR, "not a chat completion", 3),
    "an error in a 200": (Reply(body=b'{"error": {"message": "overloaded"}}'), Status.ERROR, "overloaded", 3),
    "a list": (Reply(body=b"[]"), Status.ERROR, "not a chat completion", 3),
    "dropped": (Reply(drop=True), Status.ERROR, "gave up after 3 tries", 3),
    "down": (Reply(status=503), Status.ERROR, "gave up after 3 tries: HTTP 503 Service Unavailable", 3),
    "throttled for ever": (Reply(status=429), Status.ERROR, "gave up after 3 tries: HTTP 429", 3),
    "no key": (Reply(body=b'{"error": "no key"}', status=401), Status.ERROR, "; name where its key is, by api_key", 1),
    "wrong path": (Reply(body=b"{}", status=404), Status.ERROR, "HTTP 404: {}; the url ends where", 2),
    "too long a context": (Reply(body=b"context of 4096", status=400), Status.ERROR, "HTTP 400: context of 4096", 2),
    "no content": (Reply(None), Status.UNPARSED, "the reply is empty", 1),
    "prose": (Reply("A fine answer!"), Status.UNPARSED, "the code of this call in the answer: A fine", 1),
    "cut off": (Reply('{"code"', finish_reason="length"), Status.UNPARSED, "cut off before its end", 1),
    "refused": (Reply(None, message={"refusal": "I will not."}), Status.UNPARSED, "the judge refused: I will not.", 1),
    "filtered": (Reply("", finish_reason="content_filter"), Status.UNPARSED, "content filter", 1),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "status", "reason", "asked"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_a_status_with_its_reason(reply, status, reason, asked):
    output, requests = judged(reply)
    assert (output.status, output.reward, output.score) == (status, None, None)
    assert reason in output.reason
    assert requests == asked  # a refusal may be meant for the schema, so the question is sent again without it


@pytest.mark.parametrize("score", [11, 0, -1, "ten", None, True, float("nan"), "70/100"])
def test_a_verdict_off_the_scale_is_no_score(score):
    output, _ = judged(lambda body: verdict(body, score=score))
    assert (output.status, output.reward) == (Status.UNPARSED, None)


def test_passing_faults_are_waited_out_and_counted():
    replies = iter([Reply(status=500), Reply(status=429, headers={"retry-after": "0.02"})])
    output, requests = judged(lambda body: next(replies, None) or verdict(body, score=10))
    assert output.reward == 1.0
    assert output.metadata["attempts"] == requests == 3
    assert output.metadata["waited_s"] >= 0.005


def test_a_server_that_does_not_answer_in_time_is_a_timeout():
    output, _ = judged(Reply(wait_s=0.4), policy={**QUICK, "tries": 1, "attempt_s": 0.1})
    assert output.status is Status.TIMEOUT
    assert "no answer within 0.1 s" in output.reason


def test_an_endpoint_that_is_not_there_fails_each_sample_and_soon_all_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    policy = {**QUICK, "tries": 1, "breaker_after": 4, "breaker_rest_s": 1.0}
    outputs = score_samples(judge(url, policy), [SAMPLE] * 50)
    assert {output.status for output in outputs} == {Status.ERROR}
    assert any("endpoint is down" in output.reason for output in outputs)


def test_one_bad_sample_spoils_no_other():
    def answer(body):
        return Reply("?") if "| bad" in body["messages"][-1]["content"] else verdict(body, score=10)

    with serving(answer) as server:
        outputs = score_samples(judge(server.url), [Trajectory("p", text) for text in ("good", "bad", "fine")])
    assert [output.reward for output in outputs] == [1.0, None, 1.0]


def test_no_more_calls_are_under_way_than_the_policy_allows():
    def answer(body):
        return Reply(verdict(body, score=10), wait_s=0.01)

    with serving(answer) as server:
        outputs = score_samples(judge(server.url, {"concurrency": 3}), [Trajectory("p", str(n)) for n in range(12)])
        assert server.most_under_way <= 3
        assert {output.reward for output in outputs} == {1.0}


def test_an_answer_without_end_is_not_read_to_it():
    output, requests = judged(Reply(body=b"x" * (9 << 20)))
    assert (output.status, requests) == (Status.ERROR, 1)
    assert "larger than 8 MB" in output.reason


def test_a_verdict_on_half_a_question_does_not_count():
    output, _ = judged(lambda body: verdict(body, score=10), Trajectory("p", "word " * 5000))
    assert output.status is Status.UNPARSED
    assert re.search(r"the endpoint read 1,000 tokens of a question with 5,\d\d\d words", output.reason)


# JSON schemas.


def refusing(*fields):
    def answer(body):
        refused = [name for name in fields if name in body]
        return Reply(body=f"unknown field {refused}".encode(), status=400) if refused else verdict(body, score=10)

    return answer


@pytest.mark.parametrize(
    ("refused", "field", "asked"),
    [((), "response_format", 1), (("response_format",), None, 2)],
)
def test_a_server_that_refuses_the_schema_is_called_without_it_afterwards(refused, field, asked):
    with serving(refusing(*refused)) as server:
        outputs = [score_samples(rater, [SAMPLE])[0] for rater in [judge(server.url)] * 2]
        assert [output.reward for output in outputs] == [1.0, 1.0]
        assert len(server.requests) == asked + 1
        assert {"response_format"} & server.requests[-1].keys() == ({field} if field else set())


def test_a_model_without_system_messages_gets_one_user_message():
    with serving(lambda body: verdict(body, score=10)) as server:
        [output] = score_samples(judge(server.url, system=False), [SAMPLE])
        assert [message["role"] for message in server.requests[0]["messages"]] == ["user"]
    assert output.reward == 1.0


# Keys, requests, cost.


@pytest.fixture
def key_file(tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    return str(tmp_path / "key")


def test_a_key_is_sent_and_never_printed(monkeypatch, key_file):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    for source in ({"api_key_env": "JUDGE_KEY"}, {"api_key_file": key_file}):
        for status in (403, 200):
            with serving(lambda body, status=status: Reply(body=f"bad key {KEY}".encode(), status=status)) as server:
                rater = judge(server.url, **source)
                [output] = score_samples(rater, [SAMPLE])
                assert server.headers[0]["authorization"] == f"Bearer {KEY}"
            assert "bad key (key)" in output.reason
            shown = (rater, rater.endpoint, vars(rater.endpoint), output, pickle.dumps(rater))
            assert not any(KEY in repr(each) for each in shown)


def test_without_being_named_no_key_of_the_environment_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda body: verdict(body, score=10)) as server:
        score_samples(judge(server.url), [SAMPLE])
        assert "authorization" not in server.headers[0]


def test_a_missing_key_is_an_error_that_names_where_it_was_searched(tmp_path):
    os.environ.pop("NO_SUCH_KEY", None)
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "two").write_text("one two")
    for source, words in (
        ({"api_key_env": "NO_SUCH_KEY"}, "the environment variable NO_SUCH_KEY holds no key"),
        ({"api_key_file": str(tmp_path / "none")}, "cannot read the key in"),
        ({"api_key_file": str(tmp_path / "empty")}, "holds no key"),
        ({"api_key_file": str(tmp_path / "two")}, "does not hold a key"),
    ):
        [output] = score_samples(judge("http://127.0.0.1:9/v1", **source), [SAMPLE])
        assert output.status is Status.ERROR
        assert words in output.reason


def test_usage_and_cost_of_calls_are_in_the_metadata():
    with serving(lambda body: verdict(body, score=10)) as server:
        rater = LLMJudge(ChatEndpoint(server.url, "m", prices=(2.0, 10.0)), votes=3)
        outputs = score_samples(rater, [SAMPLE])
        assert {body["temperature"] for body in server.requests} == {0.7}
    usage = Usage.of(outputs)
    assert (usage.attempts, usage.prompt_tokens, usage.response_tokens) == (3, 3000, 30)
    assert usage.cost == pytest.approx(3 * (1000 * 2 + 10 * 10) / 1e6)
    assert outputs[0].metadata["model"] == "m"


@pytest.mark.parametrize("tokens", [10**400, float("nan"), float("inf"), -5, True, "900", None, [1]])
def test_counts_that_cannot_be_some_are_left_out_and_no_cost_follows_from_them(tokens):
    def answer(body):
        usage = {"prompt_tokens": tokens, "completion_tokens": 10}
        return Reply(
            body=json.dumps({"choices": [{"message": {"content": verdict(body, score=10)}}], "usage": usage}).encode()
        )

    with serving(answer) as server:
        [output] = score_samples(LLMJudge(ChatEndpoint(server.url, "m", prices=(2.0, 10.0))), [SAMPLE])
    assert (output.reward, output.metadata["usage"]) == (1.0, {"completion_tokens": 10})


def test_fields_of_requests_can_be_added_and_left_out():
    with serving(lambda body: verdict(body, score=10)) as server:
        score_samples(judge(server.url, sampling={"max_tokens": None, "max_completion_tokens": 9, "seed": 1}), [SAMPLE])
        asked = server.requests[0]
    assert (asked["temperature"], asked["max_completion_tokens"], asked["seed"]) == (0.0, 9, 1)
    assert "max_tokens" not in asked


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"url": "localhost:8000"}, "the url of an endpoint is like"),
        ({"url": "http://u:secret@h/v1"}, "holds no key, no query and no fragment"),
        ({"url": "http://h/v1", "sampling": {"messages": []}}, "sampling cannot hold messages"),
        ({"url": "http://h/v1", "sampling": 3}, "sampling is a mapping"),
        ({"url": "http://h/v1", "prices": [1]}, "prices are two numbers"),
        ({"url": "http://h/v1", "policy": {"tires": 3}}, "policy has no setting 'tires'; did you mean 'tries'"),
        ({"url": "http://h/v1", "api_key_env": "A", "api_key_file": "b"}, "not both"),
        ({"url": "http://h/v1", "api_key": "sk-1"}, "endpoint has no setting 'api_key'"),
        ({"url": "http://h/v1", "model": ""}, "model is the name"),
        ({}, "endpoint needs url"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(settings, words):
    with pytest.raises(InvalidSettings) as raised:
        LLMJudge({"model": "m", **settings})
    assert words in str(raised.value)
    assert "secret" not in str(raised.value)
