"""Run the hooks of .pre-commit-hooks.yaml with the real pre-commit: it installs plaudit from this checkout.

Installs plaudit twice, which takes minutes, and needs a package index. `python benchmarks/pre_commit.py` prints the
exit code and the time of each run; its own code is 1 unless the hook passes on a sound project and fails on a broken
one.
"""

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DECLARED = '[tool.plaudit.ci.rewards.quality]\nreward = "reward.py:quality"\ncases = "reward.cases.yaml"\n'
NAMES = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def run(folder: Path, *command: str | Path) -> int:
    """Run a command in a folder and print how it ended."""
    began = time.monotonic()
    caches = {"PRE_COMMIT_HOME": str(folder.parent / "cache")}
    done = subprocess.run(list(map(str, command)), cwd=folder, env=os.environ | NAMES | caches)
    print(
        f"{' '.join(map(str, command[1:]))}: exit code {done.returncode}, {time.monotonic() - began:.1f} s", flush=True
    )
    return done.returncode


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        python, folder = Path(scratch, "venv", "bin", "python"), Path(scratch, "project")
        venv.create(python.parent.parent, with_pip=True)
        run(Path(scratch), python, "-m", "pip", "install", "--quiet", "pre-commit")
        run(Path(scratch), sys.executable, "-m", "plaudit", "init", folder)
        (folder / "pyproject.toml").write_text(DECLARED)
        for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "first"]):
            run(folder, "git", *arguments)
        hook = (python, "-m", "pre_commit", "try-repo", ROOT, "plaudit-ci", "--all-files")
        sound = run(folder, *hook)
        reward = folder / "reward.py"
        reward.write_text(reward.read_text().replace("numbers[-1] ==", "numbers[0] =="))
        broken = run(folder, *hook)
        return int(bool(sound) or not broken)


if __name__ == "__main__":
    sys.exit(main())
