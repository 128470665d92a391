"""One contract for every log: what was logged can be read back from where it went."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plaudit.errors import InvalidSettings, MissingPackage
from plaudit.training import load_config
from plaudit.training.log_writers import LOG_WRITERS, RunName, check_logs

STEPS = [{"step": step, "reward": step / 2, "component/a": 0.5, "extra/hits": 3, "note": "text"} for step in range(3)]
LOGGED = {"reward": [0.0, 0.5, 1.0], "component/a": [0.5] * 3, "extra/hits": [3.0] * 3}


def from_tensorboard(folder: Path) -> dict[str, list[float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return {name: [event.value for event in events.Scalars(name)] for name in events.Tags()["scalars"]}


def from_wandb(folder: Path) -> dict[str, list[float]]:
    from wandb.proto.wandb_internal_pb2 import Record

    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    found: dict[str, list[float]] = {}
    for data in leveldb_records(path.read_bytes()):
        record = Record()
        record.ParseFromString(data)
        for item in record.history.item:
            name = item.key or "/".join(item.nested_key)
            if not name.startswith("_"):
                found.setdefault(name, []).append(float(json.loads(item.value_json)))
    return found


def leveldb_records(data: bytes) -> Iterator[bytes]:
    """The records of a LevelDB log, which is what W&B writes offline: blocks of 32 KiB, each part with a small head."""
    place, body = 7, b""
    while place + 7 <= len(data):
        room = 32768 - place % 32768
        if room < 7:
            place += room
            continue
        _, size, kind = struct.unpack("<IHB", data[place : place + 7])
        body += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):  # whole, or the last part
            yield body
            body = b""


READERS = {"tensorboard": from_tensorboard, "wandb": from_wandb}
SCRIPT = """
import json, sys
from pathlib import Path
from plaudit.training.log_writers import LOG_WRITERS, RunName
run = RunName(Path(sys.argv[1]), project="checked", config={"seed": 1, "model": {"a": None}})
writers = [writer(run) for writer in LOG_WRITERS.values()]
for metrics in json.loads(sys.argv[2]):
    for writer in writers:
        writer.log(metrics["step"], metrics)
for writer in writers:
    writer.close()
"""


def test_logged_metrics_can_be_read_back(tmp_path):
    """In a process of its own: the packages leave threads and servers behind, and read where to write from there."""
    places = {"WANDB_MODE": "offline", "HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), json.dumps(STEPS)]
    done = subprocess.run(command, env={**os.environ, **places}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {name: read(tmp_path) for name, read in READERS.items()} == dict.fromkeys(LOG_WRITERS, LOGGED)


def test_a_resumed_run_replaces_the_steps_it_repeats(tmp_path):
    for first, last in ((0, 4), (2, 3)):
        writer = LOG_WRITERS["tensorboard"](RunName(tmp_path, first_step=first))
        for step in range(first, last):
            writer.log(step, {"reward": step + 10.0 * first})
        writer.close()
    assert from_tensorboard(tmp_path) == {"reward": [0.0, 1.0, 22.0]}


@pytest.mark.parametrize("name", LOG_WRITERS)
def test_a_missing_package_names_the_package_to_install(name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackage, match=rf"needs '{name}': pip install 'plaudit\[logs\]'"):
        LOG_WRITERS[name](RunName(tmp_path))


def test_a_run_is_called_as_its_folder_unless_named(tmp_path):
    assert RunName(tmp_path / "first").label == "first"
    assert RunName(tmp_path, name="mine").label == "mine"


LOGIN_SCRIPT = """
from plaudit.errors import InvalidSettings
from plaudit.training import load_config
from plaudit.training.log_writers import check_logs
try:
    check_logs(load_config(None, ["logging.wandb=true"]))
except InvalidSettings as error:
    print(error)
"""


def test_an_invalid_wandb_key_is_a_user_error_with_a_remedy(tmp_path):
    environment = {**os.environ, "WANDB_API_KEY": "bad", "HOME": str(tmp_path), "WANDB_MODE": "online"}
    done = subprocess.run(
        [sys.executable, "-c", LOGIN_SCRIPT], env=environment, capture_output=True, text=True, timeout=120
    )
    assert "cannot log in to Weights & Biases" in done.stdout, done.stderr
    assert "check the network, run `wandb login`, or set WANDB_MODE=offline" in done.stdout


def test_a_wandb_server_that_cannot_be_reached_is_a_user_error(tmp_path, monkeypatch):
    def login(**_):
        raise OSError("Network is unreachable")

    monkeypatch.setattr("wandb.login", login)
    monkeypatch.setenv("WANDB_MODE", "online")
    with pytest.raises(InvalidSettings, match=r"\(Network is unreachable\); check the network, run `wandb login`"):
        check_logs(load_config(None, ["logging.wandb=true"]))
