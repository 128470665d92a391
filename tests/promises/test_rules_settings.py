"""A call finds the process settings as they were before any other call, and the caller gets them back."""

import pytest
import torch

import plaudit
from plaudit import Trajectory
from plaudit.engine import Scorer
from tests.promises.process_settings import CHANGES, MAIN_THREAD, observers, read_settings

COMBINATIONS = [
    (change, style, is_async)
    for change in CHANGES
    for is_async in (False, True)
    for style in observers(is_async=is_async)
    if not (is_async and change in MAIN_THREAD)
]


@pytest.mark.parametrize(("change", "style", "is_async"), COMBINATIONS)
def test_calls_find_the_same_settings_inline_and_the_caller_too(change, style, is_async):
    before = read_settings()
    outputs = plaudit.score(observers(is_async=is_async)[style], _samples("first", change, "a", "b"))
    after = read_settings()
    assert [(output.reward, output.reason or "") for output in outputs] == [(1.0, "")] * 4
    assert after == before


@pytest.mark.parametrize(
    ("style", "is_async"), [(style, is_async) for is_async in (False, True) for style in observers(is_async=is_async)]
)
def test_calls_find_the_same_settings_in_a_worker(style, is_async):
    changes = [change for change in CHANGES if not (is_async and change in MAIN_THREAD)]
    responses = ["first", *(each for change in changes for each in (change, "a"))]
    with Scorer(observers(is_async=is_async)[style], workers=1, deadline_s=5.0) as scorer:
        outputs = scorer.score(_samples(*responses))
        outputs += scorer.score(_samples("second batch"))
    assert [(output.reward, output.reason or "") for output in outputs] == [(1.0, "")] * (len(responses) + 1)


def test_a_call_that_imports_torch_leaves_its_defaults():
    def first_changes(response):  # in no module, so that the worker has not imported torch before
        import torch

        assert torch.is_grad_enabled()
        assert torch.get_default_dtype() is torch.float32
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return 1.0

    with Scorer(first_changes, workers=1, deadline_s=None) as scorer:
        assert [output.status for output in scorer.score(_samples("a", "b"))] == ["ok", "ok"]


def test_the_gradient_mode_of_a_caller_is_not_that_of_the_event_loop():
    async def computes_gradients(response):
        return float(torch.is_grad_enabled())

    with torch.no_grad():
        plaudit.score(computes_gradients, _samples("a"))
        assert not torch.is_grad_enabled()
    assert plaudit.score(computes_gradients, _samples("b"))[0].reward == 1.0


def _samples(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response) for response in responses]
