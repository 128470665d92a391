"""How long to wait before an endpoint is tried again."""

from collections.abc import Callable

from tenacity import RetryCallState, wait_random_exponential

from plaudit.engine.endpoint.policy import EndpointPolicy
from plaudit.engine.endpoint.transient import fault_of

__all__ = ["waits_of"]


def waits_of(policy: EndpointPolicy) -> Callable[[RetryCallState], float]:
    """The waits a policy asks for, as tenacity takes them: what the endpoint wants, and a random backoff on top."""
    backoff = wait_random_exponential(multiplier=policy.first_wait_s, max=policy.longest_wait_s)

    def wait_s(state: RetryCallState) -> float:
        fault = fault_of(state.outcome.exception()) if state.outcome else None
        return min(policy.longest_wait_s, (fault.retry_after_s if fault else 0.0) + backoff(state))

    return wait_s
