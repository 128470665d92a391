"""Write the pinned definitions anew: `python -m tests.launching.pin_definitions openrlhf 0.11.2 FOLDER`.

FOLDER is an unpacked wheel (`pip download --no-deps openrlhf==0.11.2`, then unzip); TRL is taken as installed.
"""

import json
import sys
from pathlib import Path

import yaml

from plaudit.launching import definitions


def read_wheel(trainer: str, folder: Path) -> dict[str, definitions.Definition]:
    if trainer == "openrlhf":
        return definitions.read_parser(next(folder.rglob("openrlhf/cli/train_ppo_ray.py")).read_text())
    if trainer == "verl":
        return definitions.read_settings(yaml.safe_load(next(folder.rglob("_generated_ppo_trainer.yaml")).read_text()))
    return definitions.READERS[trainer]()


def row(definition: definitions.Definition) -> str | list:
    if definition.choices:
        return [definition.kind, definition.arity, list(definition.choices)]
    return definition.kind if definition.arity == 1 else [definition.kind, definition.arity]


if __name__ == "__main__":
    trainer, version, folder = sys.argv[1:]
    found = read_wheel(trainer, Path(folder))
    kept = {name: each for name, each in found.items() if "profiler" not in name and "._target_" not in name}
    lines = [f"# {trainer} {version}: kind, how many values, choices; written by tests/launching/pin_definitions.py"]
    lines += [f"{json.dumps(name)}: {json.dumps(row(each))}" for name, each in sorted(kept.items())]
    file = Path(definitions.__file__).parent / "pinned" / f"{trainer}-{version}.yaml"
    file.write_text("\n".join(lines) + "\n")
