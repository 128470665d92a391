"""Images of podman: built by it with any Dockerfile, run in our workspaces. Where it is missing, the error says so."""

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from plaudit.cli import main
from plaudit.errors import InvalidSettings
from plaudit.harbor import Runtime, read_task, run_task
from tests.harbor.task_folders import write_task

HAS_PODMAN = shutil.which("podman") is not None
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


@pytest.fixture
def podman(tmp_path, monkeypatch):
    """podman with storage of its own, and one image; its builds need no container runtime."""
    (tmp_path / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{tmp_path}/store"\nrunroot = "{tmp_path}/run"\n'
    )
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(tmp_path / "storage.conf"))
    monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    subprocess.run(["podman", "import", "-", BASE], input=pack_programs(), check=True, capture_output=True)


def write(folder, **more):
    files = {"solution/solve.sh": SOLVE, "tests/test.sh": TESTS, **more}
    return write_task(folder, files=files)


def test_a_task_runs_with_the_image_that_podman_builds_or_has_and_a_failing_build_is_no_score(tmp_path, request):
    task = read_task(write(tmp_path, **{"environment/Dockerfile": DOCKERFILE}))
    runtime = Runtime(engine="podman")
    if not HAS_PODMAN:
        with pytest.raises(InvalidSettings, match="podman is not installed here; install it"):
            run_task(task, "nop", runtime)
        return
    request.getfixturevalue("podman")
    trials = {name: run_task(task, name, runtime) for name in ("oracle", "nop")}
    assert {name: trial.reward for name, trial in trials.items()} == {"oracle": 1.0, "nop": 0.0}, trials
    assert trials["oracle"].notes[0] == "the image is podman's"
    assert "is not supported" in run_task(task, "nop", Runtime()).outcome
    assert subprocess.run(["podman", "ps", "-aq"], capture_output=True, text=True).stdout == ""
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
    assert "podman build failed" in trial.outcome


def test_an_engine_takes_all_images(tmp_path, capfd):
    task = write(tmp_path)
    with pytest.raises(SystemExit) as exited:
        main(["harbor", "run", str(task), "--base", "podman", "--base", "debian=/srv"])
    assert exited.value.code == 2
    assert "takes all images" in capfd.readouterr().err
