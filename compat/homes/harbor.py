"""Harbor: the package's own loader reads our exported task, its own trial runner runs it, and we read its results.

Harbor has no environment without a container engine, so its trials run in our workspaces through its plug-in interface
(`environment.import_path`). Needs Python 3.12 or newer.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult

from plaudit.harbor.dockerfile import build, read_dockerfile
from plaudit.harbor.workspace import HostImage, pack

SYSTEM, DISTRIBUTION = "harbor", "harbor"
RAN = "tasks that plaudit exported, loaded and run by Harbor's own trial runner in our workspaces"
FORMS = {}


class Workspaces(BaseEnvironment):
    """One workspace, in which all phases of a shared task run."""

    @staticmethod
    def type() -> str:
        return "plaudit"

    def _validate_definition(self):
        read_dockerfile((self.environment_dir / "Dockerfile").read_text())

    async def start(self, force_build: bool) -> None:
        instructions = read_dockerfile((self.environment_dir / "Dockerfile").read_text())
        self.image = HostImage()
        with self.image.workspace(is_build=True) as workspace:
            self.config = build(instructions, Path(self.environment_dir), workspace, seconds=60)
        self.workspace = self.image.workspace()
        for name in ("agent", "verifier", "artifacts"):
            self.workspace.put(pack({}), f"/logs/{name}", mode=0o777)

    async def stop(self, delete: bool):
        self.image.close()
        self.workspace.close()

    async def upload_file(self, source_path, target_path: str):
        self.workspace.put(pack({str(target_path).lstrip("/"): Path(source_path)}), "/")

    async def upload_dir(self, source_dir, target_dir: str):
        self.workspace.put(pack({str(target_dir).strip("/"): Path(source_dir)}), "/")

    async def download_file(self, source_path: str, target_path):
        kind, data = self.workspace.read(str(source_path))
        if kind != "file":
            raise FileNotFoundError(f"{source_path}: {kind}")
        Path(target_path).write_bytes(data)

    async def download_dir(self, source_dir: str, target_dir):
        done = self.workspace.run(f"tar -C {source_dir} -cf /tmp/.download .")
        if done.code:
            raise FileNotFoundError(source_dir)
        _, data = self.workspace.read("/tmp/.download", 64 << 20)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(target_dir, filter="data")

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None, **_):
        done = self.workspace.run(
            command, cwd=cwd or self.config.workdir, env={**self.config.env, **(env or {})},
            user=self._resolve_user(user), seconds=timeout_sec or 60,
        )  # fmt: skip
        return ExecResult(stdout=done.output, stderr="", return_code=done.code)


SPEC = "0.8 * exact_match + 0.2 * length(target=1)"


def make_task(folder):
    """A task whose tests are an exported reward, bundled for the Python of the workspaces, which is the project's."""
    task = folder / "sum"
    for name, text in {
        "task.toml": 'schema_version = "1.4"\nartifacts = ["/app"]\n[task]\nname = "plaudit/sum"\n',
        "instruction.md": "What is 2 + 2? Write the answer to /app/response.txt.\n",
        "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\n",
        "solution/solve.sh": "#!/bin/bash\necho 4 > /app/response.txt\n",
    }.items():
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text(text)
    export = ["harbor", "export", SPEC, "-o", task / "tests", "--ground-truth", "4", "--bundle"]
    subprocess.run([os.environ["PROJECT_PYTHON"], "-m", "plaudit", *export], check=True, capture_output=True)
    return task


def read_by_harbor():
    """Harbor's task model accepts the folder, and agrees on its parts."""
    from harbor.models.task.task import Task

    from plaudit.harbor import read_task

    with tempfile.TemporaryDirectory() as folder:
        path = make_task(Path(folder))
        theirs, ours = Task(path), read_task(path)
        assert Task.is_valid_dir(path)
        assert theirs.instruction.strip() == ours.instruction.strip()
        assert not ours.problems, ours.problems
        assert theirs.config.verifier.timeout_sec == ours.seconds("verifier", 600.0)


def keys_agree():
    """Every key of Harbor's own schema is known to `plaudit harbor check`."""
    from harbor.models.task.config import TaskConfig

    from plaudit.harbor.task import KEYS

    names = {"": TaskConfig.model_fields}
    for table in ("agent", "verifier", "environment", "solution"):
        names[table] = type(getattr(TaskConfig(), table)).model_fields
    for table, fields in names.items():
        missing = {fields[name].alias or name for name in fields} - set(KEYS[table])
        assert not missing, f"{table or 'top level'}: {sorted(missing)}"


def run_by_harbor():
    """Harbor's own runner runs oracle and nop with the exported reward as tests; its results are those of the reward.

    We read its results, and verify the files that it recorded again.
    """
    import plaudit
    from plaudit.harbor import Runtime, read_task, read_trials, verify_job

    here = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "HARBOR_TELEMETRY": "off", "PYTHONPATH": f"{here}:{here.parent / 'src'}"}
    command = [Path(sys.executable).parent / "harbor", "run", "-e", "homes.harbor:Workspaces", "-y"]
    with tempfile.TemporaryDirectory() as folder:
        task = make_task(Path(folder))
        for agent, response in {"oracle": "4\n", "nop": ""}.items():
            jobs = Path(folder) / agent
            arguments = ["-p", task, "-a", agent, "--jobs-dir", jobs]
            subprocess.run([*command, *arguments], env=environment, check=True, capture_output=True, cwd=folder)
            [trial] = read_trials(jobs)
            row = {"prompt": "", "response": response, "ground_truth": "4"}
            [expected] = plaudit.score(SPEC, [row], backend="inline")
            assert trial.output.reward == expected.reward, (agent, trial.output, expected)
            parts = {name: part.reward for name, part in expected.flat_components().items()}
            assert {name: part.reward for name, part in trial.output.components.items()} == parts
            assert trial.rollout.trajectory.prompt == read_task(task).instruction
            [again] = verify_job(jobs, [read_task(task)], Runtime(network="none"))
            assert again.output.reward == trial.output.reward
        assert expected.reward < 1.0


CHECKS = {
    "files.py": "import rewardkit as rk\nrk.file_exists('a.txt', weight=2)\nrk.file_contains('response.txt', '4')\n",
    "size/check.py": (
        "from pathlib import Path\nfrom rewardkit import criterion\n\n\n"
        "@criterion(description='short')\ndef short(workspace: Path) -> float:\n"
        "    return 1.0 if (workspace / 'response.txt').stat().st_size < 3 else 0.25\n"
    ),
}
REWARD = '[[reward]]\nname = "reward"\nweights = {files = 1, size = 1}\n'


def load_rewardkit_folder():
    """A folder of rewardkit's criteria is a reward; its numbers are those that rewardkit's command writes."""
    import json

    import plaudit

    with tempfile.TemporaryDirectory() as folder:
        checks, workspace = Path(folder) / "checks", Path(folder) / "app"
        for name, text in {**CHECKS, "reward.toml": REWARD}.items():
            (checks / name).parent.mkdir(parents=True, exist_ok=True)
            (checks / name).write_text(text)
        rows = [
            {"prompt": "", "response": "4", "files": {"a.txt": ""}},
            {"prompt": "", "response": "four"},
        ]
        right, wrong = plaudit.score(f"{checks}/", rows, backend="inline")
        assert (right.reward, wrong.reward) == (1.0, 0.125), (right, wrong)
        assert {name: part.reward for name, part in wrong.components.items()} == {"files": 0.0, "size": 0.25}

        workspace.mkdir()
        (workspace / "response.txt").write_text("44")
        written = Path(folder) / "reward.json"
        command = [Path(sys.executable).parent / "rewardkit", checks, "--workspace", workspace, "--output", written]
        subprocess.run(command, check=True, capture_output=True)
        theirs = json.loads(written.read_text())
        [ours] = plaudit.score(f"{checks}/", [{"prompt": "", "response": "", "workspace": str(workspace)}])
        assert {"reward": ours.reward, **{name: part.reward for name, part in ours.components.items()}} == theirs

        (checks / "reward.toml").unlink()
        [several] = plaudit.score(f"{checks}/", rows[:1], backend="inline")
        assert several.reward is None
        assert "no key 'reward'" in several.reason, several
        (checks / "files.py").write_text("import rewardkit as rk\nrk.json_key_equals('none.json', 'a', 1)\n1 / 0\n")
        [failed] = plaudit.score(f"{checks}/", rows[:1], backend="inline")
        assert failed.reward is None
        assert "ZeroDivisionError" in failed.reason, failed


EPISODES = {
    "a task is read by Harbor": read_by_harbor,
    "the keys of task.toml": keys_agree,
    "trials of Harbor": run_by_harbor,
    "a folder of rewardkit": load_rewardkit_folder,
}


def shipped():
    return []
