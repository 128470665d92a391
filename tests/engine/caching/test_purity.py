"""Rewards whose scores depend on more than their code and the sample are not kept, and the reason says so."""

import functools
import random
import textwrap

import pytest

from plaudit import RewardFunction, Trajectory, load, reward, score
from plaudit.engine import Cache, Scorer
from plaudit.engine.caching.fingerprint import fingerprint

HEAD = """
import codecs, datetime, functools, glob, gzip, importlib, io, json, os, random, secrets, subprocess, time, uuid
import urllib.request, zipfile
import datetime as dt
import os.path
from datetime import date
from os import environ, getenv
from pathlib import Path
from random import choice
from subprocess import check_output
from time import perf_counter, sleep, time as now

DATA = {"a": 1}
GENERATOR = random.Random(7)
"""

IMPURE = {
    "random": ("return random.random()", "draws at random (random.random)"),
    "random, by name": ("return float(choice([0, 1]))", "draws at random (choice)"),
    "random, imported inside": ("import random as r\nreturn r.random()", "draws at random (r.random)"),
    "random, by name inside": ("from random import random\nreturn random()", "draws at random (random)"),
    "a generator beside it": ("return GENERATOR.random()", "is a source of random numbers"),
    "secrets": ("return float(secrets.randbelow(2))", "draws at random (secrets.randbelow)"),
    "uuid": ("return float(uuid.uuid4().int % 2)", "draws at random (uuid.uuid4)"),
    "numpy": ("import numpy as np\nreturn float(np.random.rand())", "draws at random (np.random.rand)"),
    "clock": ("return time.time() % 2", "reads the clock (time.time)"),
    "clock, by another name": ("return now() % 2", "reads the clock (time.time)"),
    "clock for speed": ("began = perf_counter()\nreturn perf_counter() - began", "reads the clock (time.perf_counter)"),
    "date": ("return float(date.today().day)", "reads the clock (date.today)"),
    "date and time": ("return float(dt.datetime.now().day)", "reads the clock (dt.datetime.now)"),
    "in a nested function": ("return max([1], key=lambda n: random.random())", "draws at random (random.random)"),
    "open": ("return float(len(open('words.txt').read()))", "reads files while it scores (open)"),
    "open, in a with": ("with open('words.txt') as file:\n    return float(len(file.read()))", "reads files while"),
    "open a file called w": ("return float(len(open('w').read()))", "reads files while it scores (open)"),
    "path": ("return float(len(Path('words.txt').read_text()))", "reads files while it scores (read_text)"),
    "path from elsewhere": ("return float(len(response.read_text()))", "reads files while it scores (read_text)"),
    "gzip": ("return float(len(gzip.open('words.gz').read()))", "reads files while it scores (gzip.open)"),
    "folder": ("return float(len(os.listdir('.')))", "reads files while it scores (os.listdir)"),
    "pattern": ("return float(len(glob.glob('*')))", "reads files while it scores (glob.glob)"),
    "module by name": ("return importlib.import_module('helper').score()", "loads code by a name"),
    "import function": ("return __import__('helper').score()", "loads code by a name"),
    "path, opened": ("with Path('words.txt').open() as file:\n    return float(len(file.read()))", "reads files while"),
    "whether a file is there": ("return float(Path(response).exists())", "reads files while it scores (exists)"),
    "whether it is, by os": ("return float(os.path.isfile(response))", "reads files while it scores (os.path.isfile)"),
    "archive": ("return float(len(zipfile.ZipFile('a.zip').namelist()))", "reads files while it scores (zipfile.Zip"),
    "setting": ("return float(os.environ['LIMIT'])", "reads environment variables while it scores (os.environ)"),
    "setting, by name": ("return float(environ.get('LIMIT', 1))", "reads environment variables while it scores"),
    "setting, by function": ("return float(getenv('LIMIT', 1))", "reads environment variables while it scores"),
    "program": ("return float(len(subprocess.run(['date']).stdout))", "runs other programs (subprocess.run)"),
    "program, by name": ("return float(len(check_output(['date'])))", "runs other programs (subprocess.check_output)"),
    "program, by os": ("return float(os.system('date'))", "runs other programs (os.system)"),
    "network": ("return float(urllib.request.urlopen('http://a').status)", "asks the network (urllib.request.urlopen)"),
    "hash of a text": ("return float(hash(response) % 2)", "depends on the process it runs in (hash)"),
    "eval": ("return eval('1.0')", "loads code by a name"),
}

PURE = {
    "text": "return float(len(response))",
    "data read when imported": "return float(len(DATA))",
    "json in the response": "return float(len(json.loads(response or '{}')))",
    "waiting": "sleep(0.0)\ntime.sleep(0.0)\nreturn 1.0",
    "a generator seeded by the sample": "return random.Random(response).random()",
    "dates in the response": "return float(datetime.datetime.fromisoformat('2024-01-01').day)",
    "paths without files": "return float(len(os.path.join('a', response)) + len(Path(response).name))",
    "a log that is written": "with open(os.devnull, 'a') as file:\n    file.write(response)\nreturn 1.0",
    "a log that a path opens": "with Path(os.devnull).open('a') as file:\n    file.write(response)\nreturn 1.0",
    "texts of addresses": "from urllib.parse import urlsplit\nreturn float(len(urlsplit(response).path))",
    "a method called open or load": "return float(len(json.dumps(response)))",
}


def load_body(tmp_path, body):
    file = tmp_path / "rewards.py"
    file.write_text(HEAD + "\ndef judged(response):\n" + textwrap.indent(body, "    ") + "\n")
    return load(f"{file}:judged")


@pytest.mark.parametrize(("body", "reason"), IMPURE.values(), ids=IMPURE)
def test_what_depends_on_more_than_the_sample_is_not_kept_and_says_why(body, reason, tmp_path):
    found = fingerprint(load_body(tmp_path, body))
    assert found.digest is None
    assert reason in found.reason


@pytest.mark.parametrize("body", PURE.values(), ids=PURE)
def test_what_depends_on_the_sample_alone_is_kept(body, tmp_path):
    found = fingerprint(load_body(tmp_path, body))
    assert found.digest is not None, found.reason


def test_a_helper_that_draws_at_random_is_found_behind_the_reward(tmp_path):
    (tmp_path / "helper_of_chance.py").write_text("import random\n\ndef draw():\n    return random.random()\n")
    file = tmp_path / "rewards.py"
    file.write_text("from helper_of_chance import draw\n\ndef judged(response):\n    return draw()\n")
    assert "draw draws at random" in fingerprint(load(f"{file}:judged")).reason


def test_a_method_and_a_cached_function_are_looked_into():
    class Timed(RewardFunction):
        def compute_reward(self, trajectory):
            return self.draw()

        @functools.cache  # noqa: B019 - lives as long as the test
        def draw(self):
            return random.random()

    assert "draws at random" in fingerprint(Timed()).reason


def samples(*responses):
    return [Trajectory(prompt="p", response=response) for response in responses]


LIMIT = 3


def test_a_global_that_changes_between_runs_is_scored_anew(tmp_path, monkeypatch):
    @reward
    def limited(response):
        return float(len(response) < LIMIT)

    with Cache(tmp_path / "scores.sqlite") as cache, Scorer(limited, backend="inline", cache=cache) as scorer:
        assert scorer.score(samples("abcd"))[0].reward == 0.0
        monkeypatch.setitem(globals(), "LIMIT", 10)
        assert scorer.score(samples("abcd"))[0].reward == 1.0
        monkeypatch.setitem(globals(), "LIMIT", 3)
        assert scorer.score(samples("abcd"))[0].reward == 0.0
        assert scorer.stats.cached == 1


def test_a_parameter_that_changes_between_runs_is_scored_anew(tmp_path):
    class Limited(RewardFunction):
        limit = 3

        def compute_reward(self, trajectory):
            return float(len(trajectory.response) < self.limit)

    limited = Limited()
    with Scorer(limited, backend="inline", cache=tmp_path / "scores.sqlite") as scorer:
        assert scorer.score(samples("abcd"))[0].reward == 0.0
        limited.limit = 10
        assert scorer.score(samples("abcd"))[0].reward == 1.0


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_the_scorer_says_why_it_does_not_use_its_cache(backend, tmp_path):
    @reward
    def chance(response):
        return random.random()

    with Scorer(chance, backend=backend, workers=1, cache=tmp_path / "scores.sqlite") as scorer:
        first, again = scorer.score(samples("a"))[0], scorer.score(samples("a"))[0]
        assert first.reward != again.reward
        assert scorer.stats.uncached == (
            "chance draws at random (random.random): the same sample may score differently next time; "
            "say deterministic=False"
        )
    assert score(chance, samples("a"), cache=tmp_path / "scores.sqlite")[0].reward != first.reward
