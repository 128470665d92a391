"""Write a reward as the `tests/` of a Harbor task: they score the agent's response and write components to reward.json.

Where a response cannot be scored, no reward file is written: for Harbor, as for us, the trial is then not scored.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.loading import resolve

PACKAGE = Path(__file__).resolve().parents[1]
TEST_SH = """#!/bin/bash
# Written by `plaudit harbor export`: scores {response} with {spec}.
cd /tests && exec python3 -I /tests/verify.py
"""
VERIFY = '''"""Score the response that an agent left; written by `plaudit harbor export`."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "packages"), str(HERE)]

import plaudit  # noqa: E402

SETTINGS = json.loads((HERE / "settings.json").read_text())
MOST_BYTES = 1 << 20


def read_response(path: Path) -> str:
    """The response; empty where the agent left none, or something else than a file."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(MOST_BYTES).decode(errors="replace")


row = {"prompt": SETTINGS["prompt"], **SETTINGS["columns"], "response": read_response(Path(SETTINGS["response"]))}
[output] = plaudit.score(SETTINGS["spec"], [{**row, "workspace": SETTINGS["workspace"]}], backend="inline")
if not output.ok:
    sys.exit(f"not scored ({output.status}): {output.reason}")
parts = {name: part.reward for name, part in output.flat_components().items() if part.ok}
Path("/logs/verifier/reward.json").write_text(json.dumps({**parts, "reward": output.reward}))
'''
LOADED = """
import json, sys
sys.path[:0] = sys.argv[1:3]
import plaudit
settings = json.load(open(sys.argv[1] + "/settings.json"))
row = {"prompt": "", "response": "", **settings["columns"], "workspace": sys.argv[1]}
plaudit.score(settings["spec"].replace("/tests/", sys.argv[1] + "/"), [row], backend="inline")
files = {m.__file__ for n, m in list(sys.modules.items()) if "." not in n and getattr(m, "__file__", None)}
print(json.dumps(sorted(f for f in files if "site-packages" in f)))
"""


def export_tests(
    spec: str,
    folder: Path,
    *,
    prompt: str = "",
    response: str = "/app/response.txt",
    workspace: str = "/app",
    columns: dict[str, Any] | None = None,
    bundles: bool = False,
) -> list[Path]:
    """Write test.sh, verify.py and what they need into a folder; the files that were written.

    `columns` are the fields that the reward needs, such as the ground truth. `bundles` copies plaudit and the packages
    that the reward loads, for an image of this machine's Python version; otherwise the image has to have plaudit.
    """
    resolve(spec)  # raises for a spec that leads to no reward
    folder.mkdir(parents=True, exist_ok=True)
    path, _, rest = re.match(r"((?:.*?\.(?:py|ya?ml|json))?)(:?)(.*)", spec, re.DOTALL).groups()  # type: ignore[union-attr]
    written = spec
    if path:
        if not Path(path).is_file():
            raise InvalidSettings(f"no file {path}")
        shutil.copy(path, folder / Path(path).name)
        written = f"/tests/{Path(path).name}" + (f":{rest}" if rest else "")
    settings = {"spec": written, "prompt": prompt, "response": response, "workspace": workspace}
    (folder / "settings.json").write_text(json.dumps({**settings, "columns": columns or {}}, indent=2) + "\n")
    (folder / "verify.py").write_text(VERIFY)
    (folder / "test.sh").write_text(TEST_SH.format(response=response, spec=spec.replace("\n", " ")))
    (folder / "test.sh").chmod(0o755)
    if bundles:
        _bundle(folder)
    return sorted(each for each in folder.iterdir() if each.is_file())


def _bundle(folder: Path) -> None:
    """Copy plaudit and the packages that scoring a sample loads."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(folder), str(PACKAGE.parent)], capture_output=True, text=True, cwd=folder
    )
    if done.returncode:
        raise InvalidSettings(f"the reward cannot be bundled: {done.stderr.strip().splitlines()[-1]}")
    packages = folder / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    unneeded = shutil.ignore_patterns("__pycache__", "*.jsonl", "examples")
    shutil.copytree(PACKAGE, packages / "plaudit", ignore=unneeded)
    for file in map(Path, json.loads(done.stdout.strip().splitlines()[-1])):
        if file.name == "__init__.py" and file.parent.name != "plaudit":
            shutil.copytree(file.parent, packages / file.parent.name, ignore=unneeded, dirs_exist_ok=True)
        elif file.name != "__init__.py":
            shutil.copy(file, packages / file.name)
