"""The test run itself: it ends and names the test, whatever a test does to its worker."""

import os
import re
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

from tests.scheduling import file_scheduling

ROOT = Path(__file__).parents[1]
DIES = "import os, signal\ndef test_before(): pass\ndef test_dies(): os.kill(os.getpid(), signal.SIGILL)\n"


def run_as_make_does(folder, files, *arguments):
    """Run files of tests with the options of the Makefile, on two workers."""
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    [options] = re.findall(r"^PYTEST_OPTIONS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    command = [sys.executable, "-m", "pytest", *options.replace("$(TEST_WORKERS)", "2").split(), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, "-p", "tests.scheduling"], cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )


def test_a_test_that_kills_its_worker_fails_by_name_and_the_others_run(tmp_path):
    files = {f"test_{name}.py": f"{DIES}def test_after(): pass\n" for name in "abc"}
    done = run_as_make_does(tmp_path, {**files, "test_d.py": "def test_fine(): pass\n"})
    assert done.returncode == 1, done.stdout
    for name in "abc":
        assert f"crashed while running 'test_{name}.py::test_dies'" in done.stdout
    assert "3 failed, 7 passed" in done.stdout


def test_the_last_test_of_all_may_kill_its_worker(tmp_path):
    done = run_as_make_does(tmp_path, {"test_only.py": DIES})
    assert done.returncode == 1, done.stdout
    assert "crashed while running 'test_only.py::test_dies'" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_a_test_that_hangs_fails_by_name(tmp_path):
    hangs = "import time\ndef test_hangs(): time.sleep(10_000)\ndef test_after(): pass\n"
    done = run_as_make_does(tmp_path, {"test_hanging.py": hangs}, "--timeout", "1")
    assert done.returncode == 1, done.stdout
    assert "FAILED test_hanging.py::test_hangs - Failed: Timeout" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_a_worker_with_a_single_test_is_told_that_it_is_the_last():
    class Worker:
        shutting_down = False
        sent = 0

        def send_runtest_some(self, indices):
            self.sent += len(indices)

        def shutdown(self):
            self.shutting_down = True

    scheduler = object.__new__(file_scheduling())
    scheduler.log = print
    worker, name = Worker(), "test_a.py::test_after"
    scheduler.workqueue = OrderedDict({"test_a.py": {name: False}})
    scheduler.assigned_work, scheduler.registered_collections = {worker: {}}, {worker: [name]}
    scheduler._reschedule(worker)
    assert (worker.sent, worker.shutting_down) == (1, True)


def test_work_for_a_worker_that_has_just_died_is_assigned_again():
    class DeadWorker:
        def send_runtest_some(self, indices):
            raise OSError("cannot send (already closed?)")

    scheduler = object.__new__(file_scheduling())
    worker = DeadWorker()
    scheduler.workqueue = OrderedDict({"test_a.py": {"test_a.py::test_one": False}})
    scheduler.assigned_work, scheduler.registered_collections = {}, {worker: ["test_a.py::test_one"]}
    scheduler._assign_work_unit(worker)
    assert scheduler.remove_node(worker) == "test_a.py::test_one"
