"""Runs as jobs on a real Ray cluster that somebody else started: one cluster for the file."""

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from ray.job_submission import JobStatus
from tenacity import stop_after_attempt, wait_none

from plaudit.cli import main
from plaudit.cli.training.train import run_job
from plaudit.errors import TrainingError
from plaudit.launching import ray_jobs
from plaudit.launching.ray_jobs import Job, RayJob, plaudit_command, submit_job

DEADLINE_S = 120


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    folder = Path(tempfile.mkdtemp(prefix="ray-test-", dir="/tmp"))  # sockets need a short path
    (folder / "ray").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(folder))
        head = {"num_cpus": 1, "include_log_monitor": False, "no_monitor": True}
        # any free ports: beside another Ray at its usual one, an agent takes no jobs
        head |= {"include_dashboard": True, "dashboard_port": 0, "dashboard_agent_listen_port": 0}
        started = Cluster(initialize_head=True, head_node_args=head)
        yield started
        started.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def address(cluster):
    return cluster.address


def test_a_run_is_followed_to_its_end_and_ctrl_c_leaves_one_running(address, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("plaudit.cli.training.train.plaudit_command", _echo)
    with pytest.raises(SystemExit) as exited:
        main(["train", "--n_samples_per_prompt", "3", "output_dir=run", "seed=4", "--ray", address])
    assert exited.value.code == 0
    shown = capfd.readouterr().err
    assert "submitted to Ray" in shown
    assert "train output_dir=run seed=4 sampling.samples_per_prompt=3\n" in shown

    monkeypatch.setattr("plaudit.cli.training.train._show", _interrupt)
    assert run_job(address, Job("sh -c 'echo begun; sleep 1; touch done.txt'")) == 130
    told = capfd.readouterr().err
    assert "is still running; follow it with `ray job logs --follow" in told
    ends = time.monotonic() + DEADLINE_S
    while not (tmp_path / "done.txt").exists() and time.monotonic() < ends:
        time.sleep(0.1)
    assert (tmp_path / "done.txt").exists()


def test_jobs_through_the_dashboard_are_followed_to_their_end_in_this_folder(cluster, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.txt").write_text("found ü\n")
    url = f"http://{cluster.head_node.webui_url}"
    assert run_job(url, Job("sh -c 'cat here.txt; echo $CARRIED; exit 3'", {"CARRIED": "a variable"})) == 1
    shown = capfd.readouterr().err
    assert {"found ü", "a variable"} <= set(shown.splitlines())  # Ray may write a line of its own between them
    assert "FAILED" in shown
    assert list(tmp_path.iterdir()) == [tmp_path / "here.txt"]


class ForgetfulClient:
    """Ray's client on a connection that loses lines of the log."""

    def __init__(self, *parts: str) -> None:
        self.parts = parts

    async def tail_job_logs(self, _: str) -> AsyncIterator[str]:
        for part in self.parts:
            yield part

    def get_job_logs(self, _: str) -> str:
        return "one\ntwo\nthree\n"

    def get_job_status(self, _: str) -> JobStatus:
        return JobStatus.SUCCEEDED


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (["one\n", "two\nthree\n"], ["one\n", "two\nthree\n"]),
        (["one\n"], ["one\n", "two\nthree\n"]),
        (["one\n", "three\n"], ["one\n", "three\n", "\n(a part of the log was lost; the whole log:)\n",
                               "one\ntwo\nthree\n"]),
    ],
)  # fmt: skip
def test_the_end_shows_log_lines_that_a_lost_connection_missed(parts, shown):
    seen: list[str] = []
    assert RayJob("job", "http://host", ForgetfulClient(*parts)).follow(seen.append) is None
    assert seen == shown


def test_a_dashboard_that_does_not_answer_is_an_error():
    with pytest.raises(TrainingError, match="no Ray cluster answers"):
        submit_job("http://127.0.0.1:1", Job("true"))


class AgentlessDashboard(BaseHTTPRequestHandler):
    """Answers as a dashboard does whose agent found its port taken; without a second Ray, which would take it."""

    def do_GET(self) -> None:
        self._answer(200, '{"version": "4", "ray_version": "2", "ray_commit": "", "session_name": ""}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(500, "No available agent to submit job, please try again later.")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


def test_a_dashboard_without_an_agent_is_retried_and_then_an_error_with_a_remedy(monkeypatch):
    waiting = ray_jobs._WAIT_FOR_AGENT.copy(wait=wait_none(), stop=stop_after_attempt(3))
    monkeypatch.setattr(ray_jobs, "_WAIT_FOR_AGENT", waiting)
    with ThreadingHTTPServer(("127.0.0.1", 0), AgentlessDashboard) as dashboard:
        Thread(target=dashboard.serve_forever).start()
        with pytest.raises(TrainingError, match=r"no agent that starts jobs.*--dashboard-agent-listen-port 0"):
            submit_job(f"http://127.0.0.1:{dashboard.server_port}", Job("true"))
        dashboard.shutdown()
    assert waiting.statistics["attempt_number"] == 3


@pytest.mark.parametrize("wrong", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_without_a_server_is_an_error(wrong):
    with pytest.raises(TrainingError, match="no Ray cluster answers"):
        submit_job(wrong, Job("true"))


def test_a_job_is_a_command_of_this_python():
    assert plaudit_command(["train", "a b=c"]).endswith("-m plaudit train 'a b=c'")


def _interrupt(_: str) -> None:
    raise KeyboardInterrupt


def _echo(arguments: list[str]) -> str:
    """The command, told instead of run: a training run would cost more than this file may."""
    return f"echo {' '.join(arguments)}"
