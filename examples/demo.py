"""`make demo`: train the embedded model to sort digits, and look at what it learnt.

Needs no GPU and no download. Leaves the run in demo/: report.html, samples.md, metrics.jsonl,
rollouts.jsonl, the model.
"""

from pathlib import Path

from plaudit.cli import main

FOLDER = Path("demo")


def demo() -> None:
    """Train as `plaudit train` does without arguments, then show samples."""
    try:
        main(["train", f"output_dir={FOLDER}", "training.save_reward_analysis=true", "--overwrite"])
    finally:
        if (FOLDER / "samples.md").exists():
            print((FOLDER / "samples.md").read_text())
        if (FOLDER / "report.html").exists():
            print(f"The report with the curves is in {FOLDER / 'report.html'}: open it in a browser.")


if __name__ == "__main__":
    demo()
