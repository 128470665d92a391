"""A statement that fails counts with every function of the file that was running then, however it was called."""

import warnings

import pytest

from plaudit import load
from plaudit.errors import RewardNotLoaded

FILLING = """
import asyncio
import functools
import numpy

TABLE = {}

def fill(*_, **__):
    TABLE["x"] = undefined

def fill_later():
    yield 1
    fill()

LATER = fill_later()
next(LATER)

@functools.singledispatch
def fill_by_type(value):
    fill()

class Filling:
    __enter__ = __iter__ = __or__ = __str__ = __bool__ = __contains__ = __set_name__ = __call__ = __add__ = fill

    def __exit__(self, *_):
        pass

    def __getattr__(self, name):
        return fill() if name == "table" else fill

def make(*_):
    return Filling()

async def run_group(*tasks):
    async with asyncio.TaskGroup() as group:
        for task in tasks:
            group.create_task(task())

async def fill_in_task():
    fill()

class Failing:
    def __init__(self):
        raise OSError("no data")

    def load(self):
        fill()
"""
WAYS = {
    "context manager": "with Filling():\n    pass",
    "chained call": "Filling().load()",
    "call of a result": "make()()",
    "method of a result": "make().load()",
    "item of a list": "[fill][0]()",
    "operand": "(None or fill)()",
    "comprehension": "[step() for step in (fill,)]",
    "loop over an object": "for _ in Filling():\n    pass",
    "operator": "Filling() | 1",
    "sum": "sum([Filling()], start=Filling())",
    "formatted string": "print(f'{Filling()}')",
    "truth value": "if Filling():\n    pass",
    "membership": "assert 1 in Filling()",
    "attribute": "Filling().table",
    "name in a class": "class Named:\n    part = Filling()",
    "generator that was begun before": "next(LATER)",
    "callback of a package": "numpy.vectorize(fill)([1])",
    "callback of a package for each row": "numpy.apply_along_axis(fill, 0, numpy.zeros(3))",
    "function by type": "fill_by_type(3)",
    "lambda": "(lambda: fill())()",
    "callback in a group of errors": "asyncio.run(run_group(fill_in_task))",
    "method of an object that could not be made": "data = Failing()\ndata.load()",
}
REWARD = """
def reward(response):
    try:
        return float(len(TABLE))
    except Exception:
        return 0.0
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_table_that_a_running_function_was_to_fill_is_not_used(write, way):
    write("rewards.py", f"{FILLING}\n{WAYS[way]}\n{REWARD}")
    with warnings.catch_warnings(action="error"), pytest.raises(RewardNotLoaded) as caught:
        load("rewards.py:reward")
    assert "`" + WAYS[way].split("\n")[0] in str(caught.value) or "part = Filling()" in way, caught.value


@pytest.mark.parametrize("way", WAYS)
def test_a_reward_that_does_not_use_the_table_is_loaded(write, way):
    write("rewards.py", f"{FILLING}\n{WAYS[way]}\n\ndef brief(response):\n    return 1.0\n")
    with pytest.warns(UserWarning, match="could not run here"):
        assert load("rewards.py:brief")("a short answer") == 1.0


@pytest.mark.parametrize(
    "store", ["Counter.count += 1", "Counter.count = 1", "type(self).count += 1", "Counter.inner.count = 1"]
)
def test_a_method_that_sets_an_attribute_of_a_class_changes_the_class(write, store):
    text = f"""
class Counter:
    count, inner = 0, None
    def __init__(self):
        self.own = 1
        {store}
        undefined
Counter()

def reward(response):
    return float(Counter.count)
"""
    write("rewards.py", text)
    with pytest.raises(RewardNotLoaded, match="line 8: `Counter"):
        load("rewards.py:reward")


def test_a_method_that_sets_attributes_of_its_object_changes_no_class(write):
    text = """
class Model:
    limit = 1
    def __init__(self):
        self.calls = 0
        self.calls += 1
        self.settings.limit = undefined

MODEL = Model()

def reward(response):
    return float(Model.limit)
"""
    write("rewards.py", text)
    with pytest.warns(UserWarning, match="could not run here"):
        assert load("rewards.py:reward")("a") == 1.0


@pytest.mark.parametrize("decorator", ["functools.cache", "functools.lru_cache(maxsize=None)"])
def test_an_object_in_the_cache_of_a_function_is_reached_by_the_function(write, decorator):
    text = f"""
import functools

@{decorator}
def table():
    return {{}}

VIEW = table()
VIEW["x"] = undefined

def reward(response):
    return float(len(table()))
"""
    write("rewards.py", text)
    with pytest.raises(RewardNotLoaded, match="VIEW"):
        load("rewards.py:reward")


def test_errors_that_are_causes_of_each_other_are_followed_once(write):
    text = """
def fill():
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    raise first

fill()

def reward(response):
    return 1.0
"""
    write("rewards.py", text)
    with pytest.warns(UserWarning, match="could not run here"):
        assert load("rewards.py:reward")("a") == 1.0
