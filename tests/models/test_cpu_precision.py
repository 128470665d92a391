"""bfloat16 on CPUs that report instructions which they do not allow; each case is a process of its own.

A probe that kills itself stands for torch on such a CPU. The last tests compute for real: they fail by an illegal
instruction where the machine refuses AMX and nothing is done about it.
"""

import functools
import os
import signal
import subprocess
import sys

import pytest
import torch
import transformers

from plaudit.models import RewardModel, cpu_precision
from plaudit.training import load_config, load_policy, train
from tests.models.small_models import save_reward_model

SETTING = """
import os, sys
from pathlib import Path
from plaudit.models import cpu_precision
cpu_precision.CPU_INFO = Path({cpu_info!r})
cpu_precision.PROBE = (sys.executable, "-c", {probe!r})
"""
DIE = "import os, signal; open({count!r}, 'a').write('.'); {condition} os.kill(os.getpid(), signal.SIGILL)"
UNLESS_LIMITED = "'ONEDNN_MAX_CPU_ISA' in os.environ or"
LIMIT = "AVX512_CORE_BF16"
NOTICE = "torch cannot compute in bfloat16 on this CPU: float32 is used instead"


class Machine:
    """A machine whose torch dies unless the condition holds, with an empty cache folder."""

    def __init__(self, folder, *, condition, flags):
        self.folder, self.count = folder, folder / "probes"
        (folder / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: fpu {flags}\n")
        self.probe = DIE.format(count=str(self.count), condition=condition)
        self.setting = SETTING.format(cpu_info=str(folder / "cpuinfo"), probe=self.probe)

    def run(self, program, **variables):
        """Run a program that prints; what it printed, and what it said on stderr."""
        environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
        environment |= {"XDG_CACHE_HOME": str(self.folder / "cache"), **variables}
        command = [sys.executable, "-c", self.setting + program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return done.stdout.split(), done.stderr

    def become_this_one(self, monkeypatch):
        """Until the end of the test, this process runs on the machine."""
        monkeypatch.setattr(cpu_precision, "CPU_INFO", self.folder / "cpuinfo")
        monkeypatch.setattr(cpu_precision, "PROBE", (sys.executable, "-c", self.probe))
        monkeypatch.setenv("XDG_CACHE_HOME", str(self.folder / "cache"))
        monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
        for name in ("_find_limit", "_notify"):  # what they know of the real machine is kept for later tests
            monkeypatch.setattr(cpu_precision, name, functools.cache(getattr(cpu_precision, name).__wrapped__))

    def count_probes(self):
        return len(self.count.read_text()) if self.count.exists() else 0


@pytest.fixture
def machine(tmp_path):
    def build(condition="", flags="amx_bf16 amx_tile"):
        return Machine(tmp_path, condition=condition, flags=flags)

    return build


LIMITED = 'cpu_precision.limit_instructions(); print(os.environ.get("ONEDNN_MAX_CPU_ISA"))\n'
DTYPE = 'print(cpu_precision.usable_dtype("bfloat16", "cpu"))\n'


def test_a_machine_that_refuses_amx_is_limited_and_computes_in_bfloat16(machine):
    refusing = machine(UNLESS_LIMITED)
    assert refusing.run(LIMITED + DTYPE) == ([LIMIT, "bfloat16"], "")
    assert refusing.count_probes() == 2


def test_the_measured_precision_is_cached_on_disk(machine):
    refusing = machine(UNLESS_LIMITED)
    for _ in range(3):
        assert refusing.run(LIMITED + DTYPE) == ([LIMIT, "bfloat16"], "")
    assert refusing.count_probes() == 2
    [*kept] = (refusing.folder / "cache" / "plaudit").iterdir()
    for file in kept:
        file.write_text("nonsense")
    assert refusing.run(LIMITED) == ([LIMIT], "")


def test_a_cache_folder_that_cannot_be_written_costs_a_probe_only(machine):
    refusing = machine(UNLESS_LIMITED)
    (refusing.folder / "cache").write_text("a file")
    assert refusing.run(LIMITED + DTYPE) == ([LIMIT, "bfloat16"], "")


def test_child_processes_inherit_the_limit(machine):
    child = 'import subprocess; subprocess.run([sys.executable, "-c", "import os; print(os.environ[\'%s\'])"])'
    printed, _ = machine(UNLESS_LIMITED).run(f"cpu_precision.limit_instructions()\n{child % 'ONEDNN_MAX_CPU_ISA'}")
    assert printed == [LIMIT]


def test_a_machine_without_working_bfloat16_uses_float32_with_one_warning(machine):
    printed, said = machine().run(LIMITED + DTYPE + DTYPE)
    assert printed == ["None", "float32", "float32"]
    assert said == f"{NOTICE}\n"


def test_a_limit_of_the_user_is_kept_and_probed(machine):
    refusing = machine("os.environ.get('ONEDNN_MAX_CPU_ISA') == 'AVX2' or")
    assert refusing.run(LIMITED + DTYPE, ONEDNN_MAX_CPU_ISA="AVX2") == (["AVX2", "bfloat16"], "")
    assert refusing.count_probes() == 1
    printed, said = refusing.run(LIMITED + DTYPE, ONEDNN_MAX_CPU_ISA="DEFAULT")
    assert (printed, said) == (["DEFAULT", "float32"], f"{NOTICE}\n")


def test_the_limit_is_not_set_once_torch_is_imported(machine):
    printed, said = machine(UNLESS_LIMITED).run("import torch\n" + LIMITED + DTYPE)
    assert printed == ["None", "float32"]
    assert said == f"{NOTICE}; to compute in bfloat16, set ONEDNN_MAX_CPU_ISA={LIMIT} before Python starts\n"


def test_only_a_cpu_with_amx_is_probed_before_bfloat16_is_asked_for(machine):
    plain = machine("True or", flags="avx512f")
    others = 'print(cpu_precision.usable_dtype("float32", "cpu"), cpu_precision.usable_dtype("bfloat16", "cuda:0"))\n'
    assert plain.run(LIMITED + others) == (["None", "float32", "bfloat16"], "")
    assert plain.count_probes() == 0
    assert plain.run(DTYPE + DTYPE) == (["bfloat16", "bfloat16"], "")
    assert plain.count_probes() == 1


def test_nothing_is_probed_by_importing_plaudit(machine):
    refusing = machine(UNLESS_LIMITED)
    refusing.run("import plaudit, plaudit.models, plaudit.training; plaudit.training.GRPOAdvantage")
    assert refusing.count_probes() == 0


def test_policies_reward_models_and_the_trl_engine_use_float32_where_bfloat16_cannot_work(
    machine, tmp_path, monkeypatch, caplog
):
    """In this process: to import TRL in another one takes most of the time."""
    machine().become_this_one(monkeypatch)
    stored = save_reward_model(tmp_path / "stored")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(stored, dtype=torch.bfloat16)
    model.save_pretrained(stored)
    assert load_policy("tiny", dtype="bfloat16").model.dtype == torch.float32
    for dtype in ("auto", "bfloat16"):
        assert RewardModel(str(stored), dtype=dtype).load().model.dtype == torch.float32
    changes = ["engine=trl", "task=addition", "steps=1", "model.dtype=bfloat16", "model.warm_start_steps=0"]
    train(load_config(None, [*changes, "eval.prompts=2", f"output_dir={tmp_path}/run"]))
    assert [record.getMessage() for record in caplog.records if record.name == "plaudit.models"] == [NOTICE]


REAL = """
import signal
from plaudit.training import load_policy
load_policy("tiny")
import torch
layer = torch.nn.Linear(64, 64)
layer(torch.ones(64, 64))
model = load_policy("tiny", dtype="bfloat16").model
print(model.dtype, model(torch.ones(4, 16, dtype=torch.long)).logits.isfinite().all().item())
"""


def test_bfloat16_computes_on_this_machine(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    environment["XDG_CACHE_HOME"] = str(tmp_path)
    done = subprocess.run([sys.executable, "-c", REAL], env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode != -signal.SIGILL
    assert done.stdout.split() == ["torch.bfloat16", "True"], done.stderr
