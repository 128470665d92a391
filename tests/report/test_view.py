"""The server of `plaudit view`: who may read, what it serves, and how it follows a file that grows."""

import gzip
import importlib
import json
import time
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

from plaudit.errors import RolloutsError
from plaudit.report.collecting import collect_figures
from plaudit.report.run_files import GrowingRollouts, find_runs
from plaudit.report.view import ViewServer
from plaudit.rollouts import RolloutsWriter
from tests.report.page.hostile_run import hostile_rollouts

ROLLOUTS = hostile_rollouts(80)


def write(path, rollouts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(rollout.to_line() for rollout in rollouts))
    return path


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def count_of(run):
    return run.describe().get("figures", {}).get("summary", {}).get("count")


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    write(folder / "one" / "rollouts.jsonl", ROLLOUTS)
    write(folder / "two" / "deep" / "rollouts.jsonl", ROLLOUTS[:16])
    with ViewServer([folder]) as server:
        wait_for(lambda: [count_of(run) for run in server.runs] == [80, 16])
        yield server


def get(view, path):
    with urllib.request.urlopen(f"{view.address}{path}") as answer:
        return answer.read()


def samples_of(view, run=0):
    """The samples by row, from all blocks."""
    blocks = json.loads(gzip.decompress(get(view, f"runs/{run}/columns")))["blocks"]
    return {
        row: sample
        for name, rows in blocks.items()
        for row, sample in zip(rows, json.loads(gzip.decompress(get(view, f"runs/{run}/{name}"))), strict=True)
    }


def test_the_figures_are_those_of_a_report(view):
    assert [run["name"] for run in json.loads(get(view, "runs"))] == ["one", "two/deep"]
    described = json.loads(get(view, "runs/0"))
    assert described["figures"] == json.loads(json.dumps(collect_figures(ROLLOUTS).to_dict()))
    assert described["texts"] == described["rows"] == 80


def test_blocks_have_every_sample(view):
    samples = samples_of(view)
    assert [samples[row]["response"] for row in range(80)] == [one.trajectory.response for one in ROLLOUTS]


def status_of(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_only_the_link_on_this_machine_is_answered(view):
    root = view.address.rsplit("/", 2)[0]
    assert root.startswith("http://127.0.0.1:")
    assert len(view.address.rsplit("/", 2)[1]) >= 32
    assert status_of(view.address) == 200
    for address in (f"{root}/", f"{root}/wrong/", f"{root}/runs", f"{root}//runs", f"{root}/%00/"):
        assert status_of(address) == 403
    assert status_of(view.address, Host="evil.example") == 403


@pytest.mark.parametrize("path", ["runs/9", "runs/x", "nothing", "runs/0/999", "runs/0/..", "../../etc/passwd"])
def test_an_unknown_path_is_refused_and_the_server_continues(view, path):
    assert status_of(f"{view.address}{path}") == 404
    assert status_of(f"{view.address}runs") == 200


def test_a_file_that_grows_is_followed_and_one_that_was_cut_back_is_read_from_its_start(tmp_path):
    path = write(tmp_path / "run" / "rollouts.jsonl", ROLLOUTS[:16])
    (tmp_path / "run" / "metrics.jsonl").write_text('{"step": 1, "entropy": 2.0}\n')
    with ViewServer([tmp_path / "run"]) as server:
        (run,) = server.runs
        wait_for(lambda: count_of(run) == 16)
        line = ROLLOUTS[16].to_line()
        with path.open("ab") as file:
            file.write(line[:20])
            file.flush()
            time.sleep(0.05)
            file.write(line[20:] + b'{"broken"}\n{"prompt": "p", "response": "not scored"}\n' + ROLLOUTS[17].to_line())
        wait_for(lambda: count_of(run) == 18)
        assert run.state()["left_out"] == 2
        assert samples_of(server)[17]["response"] == ROLLOUTS[17].trajectory.response
        assert run.describe()["metrics"] == {"entropy": [(1, 2.0)]}
        write(path, ROLLOUTS[:4])
        wait_for(lambda: count_of(run) == 4)
        assert sorted(samples_of(server)) == [0, 1, 2, 3]
        write(path, ROLLOUTS[20:60])  # larger at once
        wait_for(lambda: count_of(run) == 40)
        assert samples_of(server)[0]["response"] == ROLLOUTS[20].trajectory.response


def test_other_formats_are_shown_too(tmp_path):
    path = tmp_path / "scored.jsonl.gz"
    with RolloutsWriter(path) as writer:
        for rollout in ROLLOUTS[:8]:
            writer.write(rollout)
    with ViewServer([path]) as server:
        wait_for(lambda: count_of(server.runs[0]) == 8)
        assert samples_of(server)[3]["response"] == ROLLOUTS[3].trajectory.response


def test_a_folder_without_runs_is_an_error(tmp_path):
    with pytest.raises(RolloutsError, match="there is no run in"):
        find_runs(tmp_path)
    with pytest.raises(RolloutsError, match="there is no run in"):
        ViewServer([tmp_path])


def responses(rollouts):
    return [one.trajectory.response for one in rollouts]


def test_a_growing_file_gives_each_finished_line_once(tmp_path):
    path, restarts = tmp_path / "rollouts.jsonl", []
    growing = GrowingRollouts(path, lambda: restarts.append(None))
    assert list(growing.read()) == []  # there is no file yet
    first, second, third = (rollout.to_line() for rollout in ROLLOUTS[:3])
    path.write_bytes(first + second[:10])
    assert responses(growing.read()) == responses(ROLLOUTS[:1])
    path.write_bytes(first + second + third.rstrip(b"\n"))
    assert responses(growing.read()) == responses(ROLLOUTS[1:2])
    assert responses(growing.read(complete=True)) == responses(ROLLOUTS[2:3])
    assert list(growing.read(complete=True)) == restarts == []
    path.write_bytes(second)
    assert responses(growing.read()) == responses(ROLLOUTS[1:2])
    assert len(restarts) == 1
    assert responses(growing.read(most=5)) == []


def test_a_growing_file_is_read_in_parts(tmp_path):
    growing = GrowingRollouts(write(tmp_path / "rollouts.jsonl", ROLLOUTS), lambda: None)
    parts = [responses(growing.read(most=30)) for _ in range(4)]
    assert [len(part) for part in parts] == [30, 30, 20, 0]
    assert [each for part in parts for each in part] == responses(ROLLOUTS)


def test_a_folder_that_does_not_exist_yet_is_named(tmp_path, monkeypatch, capfd):
    command = importlib.import_module("plaudit.cli.results")
    ended = SimpleNamespace(Event=lambda: SimpleNamespace(wait=lambda: None))  # as if Ctrl-C came at once
    monkeypatch.setattr(command, "threading", ended)
    command.view([tmp_path / "later"])
    assert f"{tmp_path / 'later'} does not exist yet: its run is shown when it begins" in capfd.readouterr().err
