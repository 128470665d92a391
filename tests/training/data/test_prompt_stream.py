"""Prompts come epoch after epoch, and the position is all there is to remember."""

import pytest

from plaudit.errors import DataError
from plaudit.training.data.prompt_stream import PromptStream
from plaudit.training.data.prompts import Prompts

TEN = Prompts.of([f"prompt {place}" for place in range(10)])


def test_an_epoch_takes_every_prompt_once():
    stream = PromptStream(TEN, seed=1)
    taken = [row.prompt for count in (3, 3, 4) for row in stream.take(count)]
    assert sorted(taken) == sorted(TEN.prompts)
    assert stream.epoch == 1.0


def test_epochs_have_different_orders_and_seeds_too():
    first, other = PromptStream(TEN, seed=1), PromptStream(TEN, seed=2)
    epochs = [first.take(10).prompts, first.take(10).prompts, other.take(10).prompts]
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_a_stream_goes_on_where_another_was():
    whole, rest = PromptStream(TEN, seed=1), PromptStream(TEN, seed=1)
    expected = whole.take(27).prompts[13:]
    rest.position = 13
    assert rest.take(14).prompts == expected


def test_without_shuffling_the_order_is_that_of_the_data():
    assert PromptStream(TEN, seed=1, shuffle=False).take(12).prompts == [*TEN.prompts, *TEN.prompts[:2]]


def test_no_prompts_are_an_error():
    with pytest.raises(DataError, match="no prompts"):
        PromptStream(Prompts(()), seed=1)
