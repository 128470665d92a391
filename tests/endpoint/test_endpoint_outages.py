"""What happens to samples, and to the endpoint, while it is down or asks to be left alone."""

import threading

from plaudit import Status, score
from plaudit.contract.scoring import score_samples
from plaudit.engine import EndpointPolicy, guarded
from tests.endpoint.judging import GONE, Answer, Scripted, failing, guard, samples


def test_no_request_is_sent_to_an_endpoint_that_is_down(endpoint, quick):
    endpoint.answers = failing(10**6)
    judge = guard(endpoint, quick, concurrency=4, breaker_after=5, breaker_rest_s=30.0)
    outputs = score_samples(judge, samples(300))
    assert all(output.status is Status.ERROR for output in outputs)
    assert endpoint.requests <= 5 + 4 + 1  # until it opens, those under way by then, and the prober
    assert outputs[-1].reason.startswith("Judge: endpoint is down: ")
    assert outputs[-1].reason.endswith("failures in a row, the last one HTTP 503 Service Unavailable")
    assert outputs[-1].metadata["attempts"] == 0
    assert quick.now < 300.0


def test_samples_are_held_while_the_endpoint_recovers_and_none_is_lost(endpoint, quick):
    endpoint.answers = lambda number: Answer() if quick.now >= 20.0 else Answer(503)
    judge = guard(endpoint, quick, concurrency=4, breaker_after=5, breaker_rest_s=30.0)
    assert [output.reward for output in score_samples(judge, samples(40))] == [0.5] * 40


def test_an_endpoint_that_comes_back_later_is_used_again(endpoint, quick):
    endpoint.answers = lambda number: Answer() if quick.now >= 1000.0 else Answer(503)
    judge = guard(endpoint, quick, breaker_after=5, breaker_rest_s=30.0)
    assert {output.status for output in score_samples(judge, samples(40))} == {Status.ERROR}
    quick.now = 1000.0
    assert [output.reward for output in score_samples(judge, samples(40))] == [0.5] * 40


def test_a_sample_waits_for_the_breaker_at_most_once(quick):
    flapping = Scripted([GONE, GONE, 1.0, GONE])  # back for the first prober only
    policy = EndpointPolicy(concurrency=2, tries=10, breaker_after=2, breaker_rest_s=30.0)
    outputs = score_samples(guarded(flapping, policy, clock=quick.clock, sleep=quick.sleep), samples(3))
    assert [output.ok for output in outputs].count(True) == 1
    assert all(output.metadata["waited_s"] < 50.0 for output in outputs)


def test_queued_samples_are_not_sent_once_the_breaker_is_open(quick):
    gone = Scripted([GONE])
    policy = EndpointPolicy(per_second=1.0, tries=1, breaker_after=1, breaker_rest_s=30.0)
    score_samples(guarded(gone, policy, clock=quick.clock, sleep=quick.sleep), samples(5))
    assert gone.calls == 1 + 1


def test_a_probe_without_a_result_does_not_block_other_calls(quick):
    buggy = Scripted([GONE, GONE, KeyError("score"), 1.0])
    policy = EndpointPolicy(concurrency=1, tries=1, breaker_after=2)
    outputs = score_samples(guarded(buggy, policy, clock=quick.clock, sleep=quick.sleep), samples(4))
    assert [output.reward for output in outputs] == [None, None, None, 1.0]


def test_the_breaker_keeps_its_state_across_event_loops(endpoint, quick):
    endpoint.answers = failing(10**6)
    judge = guard(endpoint, quick, tries=1, breaker_after=3, breaker_rest_s=30.0)
    outputs = [score_samples(judge, [sample])[0] for sample in samples(10)]
    assert endpoint.requests == 3 + 1
    assert [output.metadata["attempts"] for output in outputs] == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]


def test_the_breaker_is_shared_by_threads(endpoint, quick):
    endpoint.answers = failing(10**6)
    judge = guard(endpoint, quick, tries=1, breaker_after=3, breaker_rest_s=30.0)
    for sample in samples(6):
        thread = threading.Thread(target=score_samples, args=(judge, [sample]))
        thread.start()
        thread.join()
    assert endpoint.requests == 3 + 1


def test_http_429_does_not_open_the_breaker(endpoint, quick):
    endpoint.answers = failing(6, 429)
    [output] = score_samples(guard(endpoint, quick, tries=10, breaker_after=3), samples(1))
    assert output.reward == 0.5
    assert output.metadata["attempts"] == 7


def test_endless_429s_open_the_breaker(endpoint, quick):
    endpoint.answers = failing(10**6, 429)
    judge = guard(endpoint, quick, concurrency=1, tries=2, breaker_after=3)
    outputs = score_samples(judge, samples(20))
    assert endpoint.requests == 3 * 2 + 2
    assert "endpoint is down" in outputs[-1].reason


def test_a_refusal_closes_the_breaker(endpoint, quick):
    endpoint.answers = lambda number: Answer(503 if number % 2 else 400)
    score_samples(guard(endpoint, quick, concurrency=1, tries=1, breaker_after=2), samples(10))
    assert endpoint.requests == 10


def test_a_deadline_that_ends_a_retry_reports_the_last_failure():
    policy = EndpointPolicy(first_wait_s=20.0, longest_wait_s=30.0)
    [output] = score(guarded(Scripted([GONE]), policy), samples(1), backend="processes", workers=1, deadline_s=0.5)
    assert output.status is Status.TIMEOUT
    assert output.reason.startswith(
        "no result within the deadline of 0.5 s; the call was cancelled: the last failure of"
    )
