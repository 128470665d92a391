"""Calibration of a real model at a real endpoint: SmolLM2-135M-Instruct behind `transformers serve`.

A model this small is no judge. What counts is that its answers are read or counted as unanswered, that the figures say
that it is not better than chance, and that the record replays to the same numbers without the server.
"""

import pytest

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


def test_a_real_small_model_is_measured_and_its_record_replays_exactly(tmp_path):
    samples = [
        Trajectory(f"The capital of {country}?", city if right else "Springfield", columns={"human": right})
        for country, city in CAPITALS.items()
        for right in (True, False)
    ]
    record = tmp_path / "answers.jsonl"
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
    write_certificate(tmp_path / "certificate.json", judge, first.to_dict(), [])
    with pytest.raises(InvalidSettings, match=r"not accepted.*agreement"):
        require_certificates(judge, [tmp_path / "certificate.json"])
