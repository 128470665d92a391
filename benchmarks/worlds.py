"""Train the embedded model on `robot_room` after a warm start in which half of the lamps are wrong.

`python benchmarks/worlds.py [--steps N] [--folder DIR]` prints what held-out tasks earn before and after. The model
must learn to read the letter in the result of one tool and to write it into the call of another.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from plaudit.worlds import WORLDS

LAMPS = "abcd"


def demonstrations(prompts: list[str]) -> list[dict[str, str]]:
    """Each turn of an episode; half of the demonstrations of the second turn switch on a wrong lamp."""
    rows = []
    for prompt in prompts:
        for letter in LAMPS:
            looked = f"{prompt}[see()]\n{letter}\n"
            rows.append({"prompt": prompt, "response": "[see()]"})
            rows += [{"prompt": looked, "response": f"[on('{lamp}')]"} for lamp in LAMPS + 2 * letter]
            rows.append({"prompt": f"{looked}[on('{letter}')]\nok\n", "response": "done]"})
    return rows


def train(folder: Path, steps: int, warm_start_steps: int) -> None:
    """Run `plaudit train` in the folder."""
    rows = WORLDS["robot_room"].rows()
    shown = demonstrations([row["prompt"] for row in rows])
    for name, listed in (("room.jsonl", rows), ("demonstrations.jsonl", shown)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in listed))
    settings = [
        "training.agent_file=robot_room", "training.agent_max_steps=4", f"data.path={folder / 'room.jsonl'}",
        "data.eval_share=0.25", f"data.demonstrations={folder / 'demonstrations.jsonl'}",
        f"model.warm_start_steps={warm_start_steps}", "sampling.max_new_tokens=12", 'sampling.stop=["]"]',
        "sampling.prompts_per_step=8", "sampling.samples_per_prompt=8", f"steps={steps}",
        f"output_dir={folder / 'run'}",
    ]  # fmt: skip
    subprocess.run([sys.executable, "-m", "plaudit", "train", *settings], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--warm-start-steps", type=int, default=250)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        train(folder, arguments.steps, arguments.warm_start_steps)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
