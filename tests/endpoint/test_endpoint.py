"""Guarded rewards against a real HTTP server on this machine; only the waits between tries are not real."""

import asyncio
import inspect
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading

import pytest

import plaudit
from plaudit import CompositeReward, RewardOutput, Status, reward
from plaudit.contract.scoring import score_samples
from plaudit.engine import EndpointPolicy, Usage, guarded
from plaudit.errors import InvalidSettings, TransientError
from tests.endpoint.judging import USAGE, Answer, Judge, Scripted, failing, guard, samples, slow


def test_an_answer_is_the_reward_and_tells_what_it_took(endpoint, quick):
    [output] = score_samples(guard(endpoint, quick), samples(1))
    assert (output.reward, output.status) == (0.5, Status.OK)
    assert output.metadata == {"usage": USAGE, "model": "judge-1", "attempts": 1, "waited_s": 0.0}


def test_a_transient_fault_is_retried_after_a_wait(endpoint, quick):
    endpoint.answers = failing(2)
    [output] = score_samples(guard(endpoint, quick, first_wait_s=4.0), samples(1))
    assert output.reward == 0.5
    assert output.metadata["attempts"] == endpoint.requests == 3
    assert len(quick.waits) == 2
    assert output.metadata["waited_s"] == pytest.approx(sum(quick.waits), abs=1e-3)


def test_waits_double_at_most_and_are_never_longer_than_allowed(endpoint, quick):
    endpoint.answers = failing(1000)
    score_samples(guard(endpoint, quick, tries=8, first_wait_s=1.0, longest_wait_s=5.0), samples(1))
    assert len(quick.waits) == 7
    assert all(wait <= most for wait, most in zip(quick.waits, [1, 2, 4, 5, 5, 5, 5], strict=True))
    assert len(set(quick.waits)) == 7  # chance takes a part, so that samples do not come back all at once


def test_retry_after_is_obeyed(endpoint, quick):
    endpoint.answers = failing(1, 429, retry_after="7")
    [output] = score_samples(guard(endpoint, quick), samples(1))
    assert output.ok
    assert 7.0 <= quick.waits[0] <= 7.5


def test_retry_after_is_obeyed_only_up_to_the_longest_wait(endpoint, quick):
    endpoint.answers = failing(1, 503, retry_after="86400")
    [output] = score_samples(guard(endpoint, quick, longest_wait_s=20.0), samples(1))
    assert output.ok
    assert quick.waits == [20.0]


def test_a_sample_that_fails_each_time_is_given_up_with_the_number_of_tries(endpoint, quick):
    endpoint.answers = failing(1000)
    [output] = score_samples(guard(endpoint, quick, tries=3), samples(1))
    assert (output.reward, output.status) == (None, Status.ERROR)
    assert output.reason == "Judge: gave up after 3 tries: HTTP 503 Service Unavailable"
    assert output.metadata["attempts"] == endpoint.requests == 3


def test_an_endpoint_that_never_answers_is_a_timeout(endpoint, quick):
    endpoint.answers = lambda number: Answer(hang=True)
    [output] = score_samples(guard(endpoint, quick, attempt_s=0.1, tries=2), samples(1))
    assert output.status is Status.TIMEOUT
    assert output.reason == "Judge: gave up after 2 tries: TimeoutError: no answer within 0.1 s"


def test_a_try_that_hangs_is_ended_and_the_next_one_counts(endpoint, quick):
    endpoint.answers = lambda number: Answer(hang=number == 1)
    [output] = score_samples(guard(endpoint, quick, attempt_s=0.5, tries=20, breaker_after=20), samples(1))
    assert output.reward == 0.5
    assert output.metadata["attempts"] >= 2  # more on a machine so busy that 0.5 s are not enough


def test_a_refused_connection_is_tried_again_and_then_an_error(quick):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    judge = guarded(Judge(url), EndpointPolicy(tries=2), clock=quick.clock, sleep=quick.sleep)
    [output] = score_samples(judge, samples(1))
    assert output.status is Status.ERROR
    assert output.reason.startswith("Judge: gave up after 2 tries: ConnectError")


def test_a_request_is_retried_after_a_dropped_connection(endpoint, quick):
    endpoint.answers = lambda number: Answer(drop=number == 1)
    [output] = score_samples(guard(endpoint, quick), samples(1))
    assert output.reward == 0.5
    assert endpoint.requests == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_fails_at_once(endpoint, quick, status):
    endpoint.answers = failing(1000, status)
    [output] = score_samples(guard(endpoint, quick), samples(1))
    assert output.status is Status.ERROR
    assert str(status) in output.reason
    assert endpoint.requests == 1
    assert quick.waits == []


def test_a_bug_in_the_reward_fails_at_once(quick):
    [output] = score_samples(guarded(Scripted([KeyError("score")]), clock=quick.clock, sleep=quick.sleep), samples(1))
    assert (output.status, quick.waits) == (Status.ERROR, [])
    assert "Scripted raised KeyError" in output.reason


def test_a_reward_can_raise_a_transient_error(quick):
    loading = Scripted([TransientError("still loading", retry_after_s=3.0), 0.75])
    [output] = score_samples(guarded(loading, clock=quick.clock, sleep=quick.sleep), samples(1))
    assert output.reward == 0.75
    assert 3.0 <= quick.waits[0] <= 3.5


def test_no_more_calls_are_under_way_than_allowed(endpoint, quick):
    together = threading.Barrier(3)

    def answer(number: int) -> Answer:
        together.wait(30)  # breaks unless three are under way at once
        return Answer()

    endpoint.answers = answer
    outputs = score_samples(guard(endpoint, quick, concurrency=3, tries=1), samples(12))
    assert all(output.ok for output in outputs), outputs[0].reason
    assert endpoint.most_under_way == 3


def test_separate_scorings_in_one_event_loop_share_the_bound_and_the_next_loop_has_its_own(endpoint, quick):
    endpoint.answers = slow
    judge = guard(endpoint, quick, concurrency=2)

    async def scored() -> list[RewardOutput]:
        return await asyncio.gather(*(judge.compute_reward(sample) for sample in samples(10)))

    for _ in range(2):
        assert all(output.ok for output in asyncio.run(scored()))
    assert endpoint.most_under_way <= 2


def test_calls_begin_no_faster_than_allowed(endpoint):
    judge = guarded(Judge(endpoint.url), EndpointPolicy(per_second=20.0))
    assert all(output.ok for output in score_samples(judge, samples(20)))
    assert endpoint.arrivals[-1] - endpoint.arrivals[0] >= 0.5  # 0.95 s when nothing is late


def test_the_rate_limit_holds_across_event_loops(endpoint, quick):
    judge = guard(endpoint, quick, per_second=2.0)
    for sample in samples(5):
        score_samples(judge, [sample])
    assert quick.waits == [0.5] * 4


def test_a_guarded_reward_keeps_the_declarations_of_the_reward(endpoint):
    judge = guarded(Judge(endpoint.url), EndpointPolicy(concurrency=7))
    assert (judge.name, judge.scope, judge.bounds, judge.deterministic) == ("Judge", "sample", (0.0, 1.0), False)
    assert (judge.concurrency, judge.is_async) == (7, True)
    file = inspect.getfile(Judge)
    assert repr(judge) == f'guarded("{file}:Judge(url={endpoint.url!r})")'


def test_a_guarded_reward_can_be_sent_to_another_process_even_after_use(endpoint):
    judge = guarded(Judge(endpoint.url), EndpointPolicy(concurrency=1))
    before = score_samples(judge, samples(4))
    travelled = pickle.loads(pickle.dumps(judge))
    assert (travelled.name, travelled.concurrency, repr(travelled)) == ("Judge", 1, repr(judge))
    assert [output.reward for output in score_samples(travelled, samples(4))] == [output.reward for output in before]


def test_a_guarded_reward_is_a_part_like_any_other(endpoint, quick):
    @reward
    def brief(response: str) -> float:
        return 1.0

    endpoint.answers = failing(1)
    composite = CompositeReward([(guard(endpoint, quick), 0.5), (brief, 0.5)])
    outputs = plaudit.score(composite, samples(3))
    assert [output.reward for output in outputs] == [0.75] * 3
    assert set(outputs[0].components) == {"Judge", "brief"}
    usage = Usage.of(outputs)
    assert (usage.reported, usage.prompt_tokens, usage.response_tokens, usage.cost) == (3, 30, 6, 0.75)
    assert usage.attempts == endpoint.requests == 4


def test_a_failing_part_leaves_the_combination_unscored(endpoint, quick):
    endpoint.answers = failing(1000)
    [output] = plaudit.score(0.5 * guard(endpoint, quick, tries=2), samples(1))
    assert (output.reward, output.status) == (None, Status.ERROR)
    assert "gave up after 2 tries" in output.reason


def test_a_reward_that_is_not_async_or_not_by_sample_cannot_be_guarded(endpoint):
    @reward
    def blocking(response: str) -> float:
        return 1.0

    @reward
    async def batched(responses: list[str]) -> list[float]:
        return [1.0 for _ in responses]

    for wrong in (blocking, batched, 0.5 * Judge(endpoint.url)):
        with pytest.raises(InvalidSettings, match="cannot be guarded: it must be async and take one sample at a time"):
            guarded(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"concurrency": 0}, "concurrency: expected int >= 1, got 0"),
        ({"tries": 2.5}, "tries: expected int, got 2.5"),
        ({"breaker_after": True}, "breaker_after: expected int, got True"),
        ({"per_second": 0}, "per_second: expected float > 0.0, got 0"),
        ({"attempt_s": None}, "attempt_s: expected float, got None"),
        ({"attempt_s": float("nan")}, "attempt_s: expected float > 0.0, got nan"),
        ({"breaker_rest_s": -1}, "breaker_rest_s: expected float >= 0.0, got -1"),
        ({"first_wait_s": "soon"}, "first_wait_s: expected float, got 'soon'"),
        ({"first_wait_s": 40.0}, "need first_wait_s <= longest_wait_s, got 40 and 30"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_policy_that_is_invalid_is_refused_when_built(arguments, message):
    with pytest.raises(InvalidSettings, match=message):
        EndpointPolicy(**arguments)


INTERRUPTED = """
import sys
from plaudit import Trajectory, score
from plaudit.engine import EndpointPolicy, guarded
from tests.endpoint.judging import Judge

score(guarded(Judge(sys.argv[1]), EndpointPolicy(concurrency=4)), [Trajectory(prompt="", response="")] * 50)
"""


def test_an_interrupt_ends_scoring_without_leaving_anything_pending(endpoint):
    begun = threading.Event()

    def answer(number: int) -> Answer:
        begun.set()
        return Answer(hang=True)

    endpoint.answers = answer
    process = subprocess.Popen(
        [sys.executable, "-W", "always", "-c", INTERRUPTED, endpoint.url],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert begun.wait(60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)  # the endpoint would hang for 60 s
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert "Warning" not in said
    assert "never awaited" not in said
    assert "destroyed" not in said  # what asyncio says of tasks left pending
