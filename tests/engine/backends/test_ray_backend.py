"""The Ray backend gives the outputs of the other backends, also if workers, actors or nodes die."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from plaudit import RewardOutput, Status, Trajectory, reward
from plaudit.contract.function import RewardLike
from plaudit.contract.scoring import score_samples
from plaudit.engine.backends.backend import BackendSettings, Limits
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.backends.ray import RayBackend
from plaudit.engine.backends.ray_session import RaySession
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import Cutting, OrderedStream, UnitResult, UnitSize
from plaudit.errors import InvalidSettings, ScoringFailed
from plaudit.exports.exporting import export
from plaudit.loading import load, resolve
from tests.engine.contract_rewards import Batch, Located, faulty, kills_its_actor, length

DEADLINE_S = 0.5


pytestmark = pytest.mark.usefixtures("local_ray")


@pytest.fixture
def opened():
    """Build backends that are shut down after the test."""
    backends = []

    def build(reward: RewardLike | str, kind: type = RayBackend, workers: int = 1, **limits):
        loaded = resolve(reward)
        settings = BackendSettings(workers, Limits(**limits))
        backends.append(kind(Shipment.of(loaded), settings))
        return backends[-1]

    yield build
    for backend in backends:
        backend.shutdown()


def samples(*responses: str, **fields) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response, **fields) for response in responses]


def results_of(backend, stream: OrderedStream) -> Iterator[UnitResult]:
    """Drive a backend through a stream."""
    while not stream.is_finished:
        while backend.wants_more(0) and (unit := stream.cut()):
            backend.submit(unit)
        for result in backend.collect(1.0):
            stream.accept(result)
            yield result
        list(stream.release())


def collected(backend, trajectories, scope="sample", *, size=None, watch=lambda done: None) -> list[RewardOutput]:
    """All outputs in order; fails on one that is missing or comes twice."""
    learned = UnitSize(size)
    outputs: dict[int, RewardOutput] = {}
    for result in results_of(backend, OrderedStream(iter(trajectories), Cutting(scope, learned))):
        learned.learn(result.outputs)
        assert not set(result.indices) & set(outputs), "delivered twice"
        outputs.update(zip(result.indices, result.outputs, strict=True))
        watch(result)
    return [outputs[place] for place in range(len(trajectories))]


def timeless(outputs: list[RewardOutput]) -> list[RewardOutput]:
    return [msgspec.structs.replace(output, latency_s=None) for output in outputs]


FILE = """
def brief(response: str, ground_truth=None) -> float:
    return 1.0 / (1 + len(response))
"""
RESPONSES = ["one", "two words", "", "x" * 50_000, "naïve \ud800 \x00"] * 40


def test_a_relative_spec_gives_the_outputs_of_a_plain_evaluation_in_order(opened, tmp_path, monkeypatch):
    (tmp_path / "brief.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    trajectories = samples(*RESPONSES)
    expected = timeless(score_samples(load("brief.py:brief"), trajectories))
    assert timeless(collected(opened("brief.py:brief", workers=2), trajectories)) == expected


STATUSES = {
    "raise": Status.ERROR,
    "nan": Status.ERROR,
    "none": Status.SKIPPED,
    "sleep": Status.TIMEOUT,
    "exit": Status.ERROR,
    "segfault": Status.ERROR,
    "memory": Status.MEMORY,
}


def test_every_fault_has_the_status_and_the_words_of_the_processes_backend(opened):
    faults = ["fine", *STATUSES, "fine", "sleep", "exit", "fine"]
    limits = {"deadline_s": DEADLINE_S, "memory_mb": 1024}
    on_ray = collected(opened(faulty, **limits), samples(*faults))
    on_processes = collected(opened(faulty, ProcessBackend, **limits), samples(*faults))
    assert [output.status for output in on_ray] == [STATUSES.get(fault, Status.OK) for fault in faults]
    assert timeless(on_ray) == timeless(on_processes)


def test_a_batch_reward_that_dies_has_the_statuses_of_the_processes_backend(opened):
    responses = samples("fine", "exit", *["fine"] * 20)
    on_ray, on_processes = (
        collected(opened(Batch(), kind), responses, size=8) for kind in (RayBackend, ProcessBackend)
    )
    assert timeless(on_ray) == timeless(on_processes)
    assert {output.status for output in on_ray} == {Status.OK, Status.ERROR}


def test_a_killed_process_loses_nothing_and_delivers_nothing_twice(opened):
    trajectories = samples(*("x" * (n % 7) for n in range(200)))
    backend = opened(Located(), workers=2)
    killed = []

    def kill(victim, done):
        if len(done.outputs) > 1 and victim not in dict(killed):  # by now both actors have calls under way
            killed.append((victim, done.outputs[-1].metadata[victim]))
            os.kill(killed[-1][1], signal.SIGKILL)

    for watch in (partial(kill, "worker"), partial(kill, "actor"), lambda done: None):
        gone = [pid for _, pid in killed]
        outputs = collected(backend, trajectories, watch=watch)
        assert [output.reward for output in outputs] == [(n % 7) / 10 for n in range(200)]
        assert not {pid for output in outputs for pid in output.metadata.values()} & set(gone)
    assert [victim for victim, _ in killed] == ["worker", "actor"]


def test_a_sample_that_kills_its_actor_each_time_gets_an_error_and_the_others_are_scored(opened, monkeypatch):
    monkeypatch.setattr("plaudit.engine.backends.ray.MAX_TRIES", 2)
    outputs = collected(opened(kills_its_actor), samples("fine", "kill", *["fine"] * 6), size=1)
    assert [output.status for output in outputs] == [Status.OK, Status.ERROR, *[Status.OK] * 6]
    assert outputs[1].reason.startswith("the Ray actor died 2 times")


def test_actors_that_cannot_start_end_the_run_with_a_clear_error(monkeypatch):
    monkeypatch.setattr("plaudit.engine.backends.ray.MAX_DEATHS", 0)
    backend = RayBackend(None, BackendSettings(1))  # an actor cannot be built from None
    with pytest.raises(ScoringFailed, match="actors on the Ray cluster died 1 times without a result"):
        collected(backend, samples("a"))
    backend.shutdown()


def test_a_reward_that_cannot_be_loaded_in_another_process_fails_the_run_in_the_same_words(opened, tmp_path):
    path = tmp_path / "here_only.py"
    path.write_text(FILE)
    backends = [opened(f"{path}:brief", kind) for kind in (RayBackend, ProcessBackend)]
    path.unlink()
    messages = []
    for backend in backends:
        with pytest.raises(InvalidSettings, match="a worker could not load the reward: no file") as caught:
            collected(backend, samples("a"))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_caller_that_stops_early_can_start_anew(opened):
    backend = opened(Located())
    stream = OrderedStream(samples(*["abc"] * 500), Cutting("sample", UnitSize()))
    next(results_of(backend, stream))
    backend.discard(stream)
    assert [output.reward for output in collected(backend, samples("a", "bc"))] == [0.1, 0.2]


def test_scorers_share_one_ray_whatever_their_number_of_workers(opened):
    backends = [opened(length, workers=1), opened(length, workers=2)]
    for backend in backends:
        assert [output.reward for output in collected(backend, samples("a", "bc"))] == [0.1, 0.2]


def run_script(tmp_path: Path, code: str) -> str:
    """Run a program with a home of its own; returns what it printed."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(code))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    (tmp_path / "home").mkdir()
    command = [sys.executable, "-W", "error", str(script)]
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=80)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_a_ray_of_our_own_prints_nothing_and_leaves_no_process_and_no_file_behind(tmp_path):
    printed = run_script(
        tmp_path,
        """
        import os
        from plaudit import Trajectory, reward
        from plaudit.engine import Scorer
        from plaudit.engine.backends.ray_session import RaySession

        def descendants(pid):
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                children = [int(child) for child in file.read().split()]
            return children + [below for child in children for below in descendants(child)]

        def runs(pid):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    return file.read().rpartition(")")[2].split()[0] != "Z"
            except FileNotFoundError:
                return False

        @reward
        def length(response):
            return len(response) / 10

        scorer = Scorer(length, backend="ray", workers=1)
        samples = [Trajectory(prompt="p", response=response) for response in ["a", "bc"]]
        print([output.reward for output in scorer.score(samples)])
        processes = descendants(os.getpid())
        folder = RaySession._folder
        print(sum(map(runs, processes)) > 3, os.path.isdir(folder))
        scorer.close()
        print(sum(map(runs, processes)), os.path.exists(folder))
        """,
    )
    assert printed.splitlines() == ["[0.1, 0.2]", "True True", "0 False"]
    assert list((tmp_path / "home").rglob("*")) == []


def test_without_ray_the_message_names_the_package_to_install(tmp_path):
    printed = run_script(
        tmp_path,
        """
        import sys
        import importlib.abc

        class Blocker(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "ray":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Blocker())
        from plaudit.engine.backends.ray import RayBackend
        from plaudit.engine.shipping import Shipment
        from plaudit.engine.backends.backend import BackendSettings
        from plaudit.errors import MissingPackage
        try:
            RayBackend(Shipment(spec="length"), BackendSettings(1))
        except MissingPackage as error:
            print(error)
        """,
    )
    assert printed == "the Ray backend needs 'ray': pip install 'plaudit[ray]'\n"


def test_the_backend_module_does_not_import_ray():
    code = "import plaudit.engine.backends.ray, sys; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_exported_reward_scores_in_an_actor_that_it_was_sent_to():
    session = RaySession(None, 2)
    ray = session.ray

    class Trainer:
        def __init__(self, reward_function):
            self.reward = reward_function

        def step(self):
            rewards = self.reward(["2+2?"] * 2, ["four", "4"], answer=["4", "4"])
            self.reward.close()
            return rewards, os.getpid()

    exported = export(reward(lambda response, answer: float(response == answer)), "trl", workers=1)
    rewards, pid = ray.get(ray.remote(Trainer).remote(exported).step.remote())
    session.leave()
    assert rewards == [0.0, 1.0]
    assert pid != os.getpid()
