"""The breaker on its own, with a clock that stands still unless told."""

from plaudit.endpoint.channel import Breaker, Permission, RateLimit


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(2, 10.0, clock)
    for caller in ("a", "b"):
        breaker.record_failure(caller, "HTTP 503")
    return breaker


def test_failures_open_it_only_when_they_come_in_a_row():
    breaker = Breaker(2, 10.0, Clock())
    for _ in range(5):
        breaker.record_failure("a", "HTTP 503")
        breaker.record_success()
    assert breaker.ask("a") is Permission.SEND


def test_callers_wait_while_the_breaker_is_open_for_the_first_time():
    clock = Clock()
    breaker = opened(clock)
    clock.now = 4.0
    assert breaker.ask("c") is Permission.WAIT
    assert breaker.wait_s() == 6.0


def test_after_the_rest_exactly_one_caller_is_sent():
    clock = Clock()
    breaker = opened(clock)
    clock.now = 10.0
    assert [breaker.ask(caller) for caller in "cdec"] == [
        Permission.SEND,
        Permission.WAIT,
        Permission.WAIT,
        Permission.SEND,
    ]


def test_a_successful_probe_closes_the_breaker():
    clock = Clock()
    breaker = opened(clock)
    clock.now = 10.0
    breaker.ask("c")
    breaker.record_success()
    assert breaker.ask("d") is Permission.SEND
    breaker.record_failure("d", "HTTP 503")
    assert breaker.ask("e") is Permission.SEND  # counting began anew


def test_after_a_failed_probe_calls_are_refused_until_the_next_probe():
    clock = Clock()
    breaker = opened(clock)
    clock.now = 10.0
    breaker.ask("c")
    breaker.record_failure("c", "HTTP 502 Bad Gateway")
    clock.now = 19.9
    assert breaker.ask("d") is Permission.DOWN
    assert breaker.describe() == "endpoint is down: 3 failures in a row, the last one HTTP 502 Bad Gateway"
    clock.now = 20.0
    assert breaker.ask("d") is Permission.SEND


def test_a_cancelled_probe_is_replaced_by_another():
    clock = Clock()
    breaker = opened(clock)
    clock.now = 10.0
    breaker.ask("c")
    breaker.release("d")
    assert breaker.ask("d") is Permission.WAIT
    breaker.release("c")
    assert breaker.ask("d") is Permission.SEND


def test_failures_of_calls_that_were_under_way_do_not_lengthen_the_rest():
    clock = Clock()
    breaker = opened(clock)
    clock.now = 9.0
    breaker.record_failure("late", "HTTP 503")
    clock.now = 10.0
    assert breaker.ask("c") is Permission.SEND


def test_places_are_evenly_spaced_and_unused_ones_are_not_saved_up():
    clock = Clock()
    limit = RateLimit(4.0, clock)
    assert [limit.reserve() for _ in range(3)] == [0.0, 0.25, 0.5]
    clock.now = 100.0
    assert [limit.reserve() for _ in range(3)] == [0.0, 0.25, 0.5]


def test_without_a_rate_limit_no_call_waits():
    limit = RateLimit(None, Clock())
    assert [limit.reserve() for _ in range(1000)] == [0.0] * 1000
