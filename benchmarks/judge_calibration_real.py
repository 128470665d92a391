"""Calibration of a real model at a real endpoint: SmolLM2-135M-Instruct behind `transformers serve` (some minutes).

A model this small is no judge. What counts is that its answers are read or counted as unanswered, that the figures say
that it is not better than chance, and that the record replays to the same numbers without the server.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from plaudit import Trajectory
from plaudit.calibration import Transcript, calibrate, labels_of_column, require_certificates, write_certificate
from plaudit.errors import InvalidSettings
from plaudit.judges import ChatEndpoint, LLMJudge
from tests.judges.chat_model import serving_smollm2

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo", "Egypt": "Cairo", "Peru": "Lima",
            "Norway": "Oslo", "Cuba": "Havana", "Kenya": "Nairobi", "Austria": "Vienna", "Iran": "Tehran"}  # fmt: skip
RUBRIC = {
    "scale": [1, 10],
    "instructions": "Is the response right?",
    "examples": [
        {"prompt": "The capital of Poland?", "response": "Warsaw", "verdict": 10, "reasoning": "Right."},
        {"prompt": "The capital of Chile?", "response": "Berlin", "verdict": 1, "reasoning": "Wrong."},
    ],
}


def main(folder: Path) -> None:
    samples = [
        Trajectory(f"The capital of {country}?", city if right else "Springfield", columns={"human": right})
        for country, city in CAPITALS.items()
        for right in (True, False)
    ]
    record = folder / "answers.jsonl"
    with serving_smollm2() as (url, model):
        policy = {"concurrency": 1, "attempt_s": 120.0, "tries": 1}
        judge = LLMJudge(ChatEndpoint(url, model, sampling={"max_tokens": 40}, policy=policy), RUBRIC)
        labels = labels_of_column("human", judge, samples)
        first = calibrate(judge, samples, labels, most=2, transcript=Transcript(record))
    assert first.samples == len(samples)
    assert first.agreements[0].count + first.agreements[0].unanswered == len(samples)
    assert not first.agreements[0].informative
    assert first.means[0].corrected is None
    assert "agreement" in first.findings
    again = calibrate(judge, samples, labels, most=2, transcript=Transcript(record, replay=True))
    assert again == first
    write_certificate(folder / "certificate.json", judge, first.to_dict(), [])
    try:
        require_certificates(judge, [folder / "certificate.json"])
    except InvalidSettings as error:
        print(
            f"{first.agreements[0].count} verdicts, {first.agreements[0].unanswered} without; replayed exactly; {error}"
        )
    else:
        raise AssertionError("a certificate with findings was accepted")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
