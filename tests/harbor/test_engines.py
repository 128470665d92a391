"""Images of podman and docker: built with any Dockerfile, run in our workspaces. A missing engine is named."""

import contextlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

import pytest

from plaudit.cli import main
from plaudit.errors import InvalidSettings
from plaudit.harbor import Runtime, read_task, run_task
from plaudit.harbor.engines import ENGINES
from tests.harbor.task_folders import write_task

PROGRAMS = ("bash", "cat", "chmod", "mkdir", "true")
BASE = "localhost/plaudit-base:1"
# two stages, an instruction that our own builder refuses, and a user
DOCKERFILE = f"""FROM {BASE} AS made
RUN echo 4 > /answer
FROM {BASE}
COPY --from=made /answer /data/answer
RUN mkdir /app && echo 1000 > /app/owner
ENV PLACE=/data/answer
VOLUME /unused
WORKDIR /app
"""
SOLVE = '#!/bin/bash\ncat "$PLACE" > /app/result\n'
TESTS = """#!/bin/bash
if [ "$(cat /app/result 2>/dev/null)" = 4 ] && [ "$(cat /data/answer)" = 4 ]; then r=1; else r=0; fi
echo $r > /logs/verifier/reward.txt
"""


def can_run(engine: str) -> bool:
    """Whether an engine is installed; docker also needs its daemon, which root starts."""
    has_daemon = engine != "docker" or (shutil.which("dockerd") is not None and os.geteuid() == 0)
    return shutil.which(engine) is not None and has_daemon


def pack_programs() -> bytes:
    """A root file system of a few programs of this machine, with the libraries that they load."""
    files = {Path(str(shutil.which(name))).resolve(): f"usr/bin/{name}" for name in PROGRAMS}
    for program in list(files):
        for word in subprocess.run(["ldd", program], capture_output=True, text=True).stdout.split():
            if word.startswith("/"):
                files[Path(word).resolve()] = word.lstrip("/")
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, target in {"usr/bin/sh": "bash", "bin": "usr/bin"}.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for path, name in files.items():
            archive.add(path, name)
    return data.getvalue()


@contextlib.contextmanager
def start_podman(folder, monkeypatch):
    """podman with storage of its own; its builds need no container runtime."""
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/store"\nrunroot = "{folder}/run"\n'
    )
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(folder / "storage.conf"))
    monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")
    yield


@contextlib.contextmanager
def start_docker(monkeypatch):
    """A daemon of docker with storage of its own and no network."""
    folder = tempfile.mkdtemp(prefix="docker-")  # paths of sockets must be short
    socket = f"unix://{folder}/docker.sock"
    places = {"data-root": "data", "exec-root": "exec", "pidfile": "docker.pid"}
    daemon = subprocess.Popen(
        ["dockerd", "--host", socket, "--bridge=none", "--iptables=false", "--ip6tables=false",
         *(f"--{option}={folder}/{name}" for option, name in places.items())],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    monkeypatch.setenv("DOCKER_HOST", socket)
    try:
        deadline = time.monotonic() + 30
        while subprocess.run(["docker", "info"], capture_output=True).returncode:
            assert daemon.poll() is None, "dockerd ended"
            assert time.monotonic() < deadline, "dockerd does not answer"
            time.sleep(0.2)
        yield
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(folder)


@pytest.fixture
def engine(request, tmp_path, monkeypatch):
    """An engine with one image, if it is installed."""
    name = request.param
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if not can_run(name):
        yield name
    else:
        with start_docker(monkeypatch) if name == "docker" else start_podman(tmp_path, monkeypatch):
            subprocess.run([name, "import", "-", BASE], input=pack_programs(), check=True, capture_output=True)
            yield name


def write(folder, **more):
    files = {"solution/solve.sh": SOLVE, "tests/test.sh": TESTS, **more}
    return write_task(folder, files=files)


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_task_runs_with_the_image_that_an_engine_builds_or_has_and_a_failing_build_is_no_score(tmp_path, engine):
    task = read_task(write(tmp_path, **{"environment/Dockerfile": DOCKERFILE}))
    runtime = Runtime(engine=engine)
    if shutil.which(engine) is None:
        with pytest.raises(InvalidSettings, match=f"{engine} is not installed here; install it"):
            run_task(task, "nop", runtime)
        return
    if not can_run(engine):
        assert "failed" in run_task(task, "nop", runtime).outcome
        return
    trials = {name: run_task(task, name, runtime) for name in ("oracle", "nop")}
    assert {name: trial.reward for name, trial in trials.items()} == {"oracle": 1.0, "nop": 0.0}, trials
    assert trials["oracle"].notes[0] == f"the image is {engine}'s"
    assert "is not supported" in run_task(task, "nop", Runtime()).outcome
    assert subprocess.run([engine, "ps", "-aq"], capture_output=True, text=True).stdout == ""
    [root] = (tmp_path / "cache/plaudit/images").iterdir()
    assert (root / "data/answer").read_text() == "4\n"

    (task.folder / "environment/Dockerfile").unlink()
    (task.folder / "task.toml").write_text(f'[environment]\ndocker_image = "{BASE}"\n')
    prebuilt = read_task(task.folder)
    assert "is prebuilt" in run_task(prebuilt, "nop", Runtime()).outcome
    trial = run_task(prebuilt, "nop", runtime)
    assert trial.reward == 0.0, trial

    (task.folder / "environment/Dockerfile").write_text(f"FROM {BASE}\nRUN cat /missing\n")
    trial = run_task(read_task(task.folder), "oracle", runtime)
    assert (trial.reward, trial.can_run) == (None, False)
    assert f"{engine} build failed" in trial.outcome


def test_an_engine_takes_all_images(tmp_path, capfd):
    task = write(tmp_path)
    with pytest.raises(SystemExit) as exited:
        main(["harbor", "run", str(task), "--base", "podman", "--base", "debian=/srv"])
    assert exited.value.code == 2
    assert "takes all images" in capfd.readouterr().err
