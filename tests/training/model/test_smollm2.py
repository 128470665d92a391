"""A real language model trains with LoRA and a real reward through the command, and is evaluated before and after."""

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file

from plaudit.cli import main
from tests.training.runs import metrics, rollouts

ROOT = Path(__file__).parents[3]
SHORT = (
    "steps=2",
    "sampling.prompts_per_step=2",
    "sampling.samples_per_prompt=4",
    "sampling.max_new_tokens=8",
    "eval.prompts=2",
    "eval.greedy=false",
    "logging.samples=0",
    "logging.report=false",
    "checkpoint.every=0",
    "training.reward_backend=inline",
)


@pytest.mark.slow
def test_smollm2_takes_grpo_steps_with_lora_and_is_evaluated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as exited:
        main(["train", "examples/smollm2.yaml", f"output_dir={tmp_path}/run", *SHORT, "--json"])
    assert exited.value.code == 0
    outcome = json.loads(capsys.readouterr().out)
    told = metrics(tmp_path / "run")
    assert [row["step"] for row in told] == [0, 1, 2]
    assert outcome["before"]["eval/score"] == told[0]["eval/score"]
    assert outcome["after"]["eval/pass@1"] == told[-1]["eval/pass@1"]
    lines = rollouts(tmp_path / "run")
    assert len(lines) == 2 * 8
    assert {line["reward_output"]["status"] for line in lines} == {"ok"}
    adapters = load_file(tmp_path / "run" / "model" / "adapter_model.safetensors")
    assert any(weight.abs().sum() > 0 for name, weight in adapters.items() if "lora_B" in name), "B begins as zeros"
