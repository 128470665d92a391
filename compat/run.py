"""`make compat`: build an environment per system, run the suite in each, and write the table.

    python compat/run.py [SYSTEM …] [--write]

Environments stay in `.compat/` and are built again only when what they hold changed. A system that does not run here
has no row and is marked as checked against its documented contract: `tests/dialects` calls it as documented.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from page import compat_page

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
FOLDER = PROJECT / ".compat"
PAGE = PROJECT / "docs" / "systems.md"
TABLE = PROJECT / "src" / "plaudit" / "exports" / "compat.json"
LIMIT_S = 600


def build(name: str, wanted: dict[str, Any]) -> Path:
    """The python of the environment, made where it is not there yet."""
    place, stamp = FOLDER / name, FOLDER / name / "made_of.json"
    python = place / "bin" / "python"
    if stamp.exists() and json.loads(stamp.read_text()) == wanted:
        return python
    subprocess.run([_interpreter(wanted.get("python")), "-m", "venv", "--clear", str(place)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    site = Path(
        subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    )
    if wanted.get("needs"):
        _run([*install, *wanted["needs"]])
    if wanted.get("packages"):
        _run([*install, "--no-deps", *wanted["packages"]])
    if wanted.get("torch"):
        (site / "lent.pth").write_text(f"{_own_site()}\n")
        (site / "plaudit.pth").write_text(f"{PROJECT / 'src'}\n")
    else:
        _run([*install, "--editable", str(PROJECT)])
    stamp.write_text(json.dumps(wanted))
    return python


def _interpreter(version: str | None) -> str:
    """The Python that an environment needs, where it is not the project's own."""
    if version is None:
        return sys.executable
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    python = str(installed[-1]) if installed else shutil.which(f"python{version}")
    if python is None:
        raise RuntimeError(f"it needs Python {version}, which is not installed here")
    return python


def _run(command: list[str]) -> None:
    """Run pip; what it says is shown only where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[2:])}: {done.stderr.strip().splitlines()[-1]}")


def _own_site() -> Path:
    """Where the project's own environment has torch."""
    import torch

    return Path(torch.__file__).parent.parent


def run_suite(name: str, python: Path) -> dict[str, Any]:
    """What the suite says inside the environment."""
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "JAX_PLATFORMS": "cpu"}
    environment |= {"PROJECT_PYTHON": sys.executable, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [python, HERE / "suite.py", name], cwd=HERE, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def row_of(found: dict[str, Any]) -> dict[str, Any]:
    """One row of the table: for each kind of check, what passed."""
    row = {"system": found["system"], "version": found["version"], "date": _today(), "ran": found["ran"]}
    for what in ("import", "export", "groups", "unscored", "episodes"):
        results = [each for each in found["results"] if each["what"] == what]
        details = dict.fromkeys(each["detail"] for each in results if each["passed"] and each["detail"])
        passed = sum(each["passed"] for each in results)
        row[what] = f"{passed} of {len(results)}" + (f" ({', '.join(details)})" if details else "") if results else ""
    row["import"] = row["import"] or found["ships"]
    return row


def write_row(row: dict[str, Any]) -> None:
    """Put a row into the table, in place of the one of its environment, and make the page anew."""
    kept = json.loads(TABLE.read_text()) if TABLE.exists() else []
    rows = {each["environment"]: each for each in [*kept, row]}
    TABLE.write_text(json.dumps([rows[name] for name in sorted(rows)], indent=1) + "\n")
    PAGE.write_text(compat_page(), encoding="utf-8")


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", help="only these environments")
    parser.add_argument("--write", action="store_true", help="write the rows into the table that plaudit carries")
    arguments = parser.parse_args()
    environments = tomllib.loads((HERE / "environments.toml").read_text())
    failed = []
    for name in arguments.systems or environments:
        try:
            found = run_suite(name, build(name, environments[name]))
        except (RuntimeError, OSError, subprocess.SubprocessError, json.JSONDecodeError) as error:
            print(f"{name}: not run: {error}")
            failed.append(name)
            continue
        for each in found["results"]:
            outcome = "ok" if each["passed"] else each["detail"]
            print(f"{name} {found['version']}: {each['what']} {each['subject']}: {outcome}")
        failed += [name] * any(not each["passed"] for each in found["results"])
        if arguments.write and any(each["what"] != "episodes" for each in found["results"]):  # the table is of rewards
            write_row({"environment": name, **row_of(found)})
    if failed:
        raise SystemExit(f"not all passed: {', '.join(dict.fromkeys(failed))}")


if __name__ == "__main__":
    main()
