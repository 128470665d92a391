"""Calibration of a real model at a real endpoint: SmolLM2-135M-Instruct behind `transformers serve`.

A model this small is no judge. What counts is that its answers are read or counted as unanswered, that the figures say
that it is not better than chance, and that the record replays to the same numbers without the server. With fewer than
ten pairs no bias can be found, so the judge is asked about the labelled responses only: 22 calls. `--most 10` tests the
biases too, in about 150 calls more. The record is kept in FILE, so a run that was ended goes on. The server keeps
prefixes, and torch computes on one thread: on a machine with other work, a second one mostly waits for the first.
"""

import argparse
import sys
import time
from pathlib import Path

import torch

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


def main(record: Path, most: int) -> None:
    samples = [
        Trajectory(f"The capital of {country}?", city if right else "Springfield", columns={"human": right})
        for country, city in CAPITALS.items()
        for right in (True, False)
    ]
    began, processor = time.monotonic(), time.process_time()
    torch.set_num_threads(1)
    with serving_smollm2(keeps_prefixes=True) as (url, model):
        policy = {"concurrency": 1, "attempt_s": 300.0, "tries": 1}
        judge = LLMJudge(ChatEndpoint(url, model, sampling={"max_tokens": 40}, policy=policy), RUBRIC)
        labels = labels_of_column("human", judge, samples)
        first = calibrate(judge, samples, labels, most=most, transcript=Transcript(record))
    print(f"{time.monotonic() - began:.0f} s, {time.process_time() - processor:.0f} s of processor time")
    assert first.samples == len(samples)
    assert first.agreements[0].count + first.agreements[0].unanswered == len(samples)
    assert not first.agreements[0].informative
    assert first.means[0].corrected is None
    assert "agreement" in first.findings
    again = calibrate(judge, samples, labels, most=most, transcript=Transcript(record, replay=True))
    assert again == first
    for test in first.tests:
        print(f"{test.kind}: {test.effect or test.note}" + (" (a finding)" if test.is_finding else ""))
    certificate = record.with_suffix(".certificate.json")
    write_certificate(certificate, judge, first.to_dict(), [])
    try:
        require_certificates(judge, [certificate])
    except InvalidSettings as error:
        print(
            f"{first.agreements[0].count} verdicts, {first.agreements[0].unanswered} without; replayed exactly; {error}"
        )
    else:
        raise AssertionError("a certificate with findings was accepted")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=Path, metavar="FILE")
    parser.add_argument("--most", type=int, default=2)
    arguments = parser.parse_args()
    main(arguments.record, arguments.most)
