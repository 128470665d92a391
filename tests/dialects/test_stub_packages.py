"""Absent packages are answered for while a file loads; installed ones never are."""

import sys
import textwrap
import threading
from importlib.util import find_spec

import pytest

from plaudit import RewardFunction, Trajectory, score
from plaudit.dialects import stub_finder
from plaudit.dialects.stub_packages import LazyStub, StubFinder
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load, resolve

STUB_PACKAGES = stub_finder().packages
ABSENT = {root for root in STUB_PACKAGES if find_spec(root) is None}
MODULES = {module: names for root in STUB_PACKAGES for module, names in stub_finder().table(root).items() if names}


@pytest.fixture
def fake_flux(tmp_path, monkeypatch):
    """An installed package called flux, with a reward base of its own."""
    package = tmp_path / "site" / "flux"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rewards.py").write_text("class RewardFunction:\n    real = True\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "flux"]:
        del sys.modules[name]


@pytest.mark.parametrize("module", MODULES)
def test_every_answered_name_can_be_imported(module):
    names = ", ".join(MODULES[module])
    scope: dict[str, object] = {}
    with stub_finder():
        exec(f"from {module} import {names}", scope)
    for name, answer in MODULES[module].items():
        assert scope[name] is (answer.get() if isinstance(answer, LazyStub) else answer)


@pytest.mark.parametrize(
    ("statement", "expression", "module"),
    [
        ("import flux.rewards", "flux.rewards", "flux.rewards"),
        ("from flux import rewards", "rewards", "flux.rewards"),
        ("import flux.core.trajectory as t", "t", "flux.core.trajectory"),
        ("import flux", "flux", "flux"),
    ],
)
def test_packages_can_be_imported_in_every_usual_way(statement, expression, module):
    scope: dict[str, object] = {}
    with stub_finder():
        exec(statement, scope)
        assert eval(expression, scope) is sys.modules[module]


def test_nothing_is_left_in_sys_modules_afterwards():
    with stub_finder() as finder:
        exec("import flux.rewards, twinkle.reward, agent_tunix.rewards", {})
        assert "flux.rewards" in sys.modules
    assert not [name for name in sys.modules if name.partition(".")[0] in ABSENT]
    assert finder not in sys.meta_path
    with pytest.raises(ModuleNotFoundError):
        exec("import flux", {})


def test_the_finder_is_removed_when_the_file_raises(tmp_path):
    (tmp_path / "broken.py").write_text("import flux.rewards\nraise RuntimeError('no')\n")
    before = list(sys.meta_path)
    with pytest.raises(RewardNotLoaded, match="RuntimeError: no"):
        load(str(tmp_path / "broken.py"))
    assert sys.meta_path == before
    assert "flux" not in sys.modules


def test_an_installed_package_is_never_shadowed(tmp_path, fake_flux):
    path = tmp_path / "mine.py"
    path.write_text(
        "from flux.rewards import RewardFunction\n"
        "class Mine(RewardFunction):\n"
        "    def compute_reward(self, trajectory): return 1.0 if self.real else 0.0\n"
    )
    result = resolve(str(path))
    assert result.convention == "Flux class"
    assert result.reward([Trajectory("Hi", "Ho")]) == [1.0]
    assert not issubclass(sys.modules["flux.rewards"].RewardFunction, RewardFunction)


def test_an_installed_package_is_not_completed_by_ours(tmp_path, fake_flux):
    path = tmp_path / "mine.py"
    path.write_text("from flux.core.trajectory import Trajectory\n")
    with pytest.raises(RewardNotLoaded, match=r"No module named 'flux\.core'"):
        load(str(path))


def test_a_mere_folder_of_the_same_name_does_not_count_as_installed(tmp_path, monkeypatch):
    (tmp_path / "flux").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine.py").write_text("from flux.rewards import LengthReward\nreward = LengthReward(target=3)\n")
    assert load(str(tmp_path / "mine.py"))([Trajectory("Hi", "three words here")]) == [1.0]
    assert not hasattr(sys.modules.pop("flux", None), "rewards")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param(
            "from flux.rewards import LenghtReward\nreward = LenghtReward()",
            ["'LenghtReward' of flux.rewards is needed", "did you mean 'LengthReward'?", "install flux"],
            id="call",
        ),
        pytest.param(
            "from flux import Trainer\nclass Mine(Trainer): pass\nx = Mine()", ["'Trainer' of flux"], id="base"
        ),
        pytest.param("from flux import Trainer\nfit = Trainer.fit", ["'Trainer' of flux"], id="attribute"),
        pytest.param("from flux.models import Judge\nx = isinstance(3, Judge)", ["'Judge' of flux.models"], id="check"),
        pytest.param("from flux import DEVICE\nif DEVICE: pass", ["'DEVICE' of flux"], id="truth"),
        pytest.param("from flux import MODES\nfor mode in MODES: pass", ["'MODES' of flux"], id="loop"),
        pytest.param(
            "from flux import register\n@register\ndef f(response): pass", ["'register' of flux"], id="decorator"
        ),
    ],
)
def test_the_error_names_a_package_member_that_plaudit_does_not_provide(tmp_path, source, words):
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(RewardNotLoaded) as caught:
        load(str(path))
    assert isinstance(caught.value.__cause__, ImportError)
    assert all(word in str(caught.value) for word in words), caught.value


def test_members_that_plaudit_does_not_provide_may_be_imported_and_annotated(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from typing import Optional\n"
        "from flux import FluxConfig, FluxTrainer\n"
        "def mine(response: str, config: Optional[FluxConfig] = None, other: FluxConfig | None = None): return 1.0\n"
        "def main(): FluxTrainer(FluxConfig()).fit()\n"
        "if __name__ == '__main__': main()\n"
    )
    assert load(f"{tmp_path / 'mine.py'}:mine")([Trajectory("Hi", "Ho")]) == [1.0]


@pytest.mark.parametrize("spec", ["flux.rewards:LengthReward", "agent_tunix.rewards:check_answer", "twinkle.reward"])
def test_a_spec_never_leads_to_a_stub(spec):
    with pytest.raises(RewardNotLoaded, match="which is not installed; plaudit has a stub for it inside reward files"):
        load(spec)


def test_a_module_is_added_by_one_table_entry():
    class Judge: ...

    scope: dict[str, object] = {}
    with StubFinder({**STUB_PACKAGES, "flux": {"flux.judges": {"Judge": Judge}}}):
        exec("from flux.judges import Judge", scope)
    assert scope["Judge"] is Judge


def test_many_threads_can_load_foreign_files_at_once(tmp_path):
    paths = [tmp_path / f"file_{number}.py" for number in range(8)]
    for number, path in enumerate(paths):
        path.write_text(
            "from flux.rewards import RewardFunction\n"
            "class Mine(RewardFunction):\n"
            f"    def compute_reward(self, trajectory): return {number}.0\n"
        )
    results: dict[int, list[float | None]] = {}

    def score(number: int) -> None:
        results[number] = load(str(paths[number]))([Trajectory("Hi", "Ho")])

    threads = [threading.Thread(target=score, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [float(number)] for number in range(8)}


SCRIPT = """
    from __future__ import annotations
    import re
    import twinkle
    from twinkle.cli import CLI
    from twinkle.reward import GSM8KFormatReward

    args = CLI.from_args()
    MODEL = args.model.model_id or "a/model"
    GPUS, STEPS = args.infra.gpus + 4, 1000
    MODE: str = f"mode {MODEL}"
    twinkle.initialize(mode="ray", nproc_per_node=GPUS)
    WORD = "boxed"

    def compute_rewards(trajectories: list[dict]) -> list[float]:
        return GSM8KFormatReward()(trajectories)

    def by_mode(trajectories):
        return [float(MODE == "mode strict") for _ in trajectories]

    @args.register("mine")
    def decorated(trajectories):
        return [1.0 for _ in trajectories]
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "grpo.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return path


def test_a_reward_in_a_training_script_loads_though_the_script_uses_an_absent_package(script):
    with pytest.warns(UserWarning, match=r"line 8 could not run here.*'CLI' of twinkle.cli is needed"):
        reward = load(f"{script}:compute_rewards")
    assert score(reward, [Trajectory("q", r"\boxed{4}"), Trajectory("q", "4")])[0].reward == 1.0
    assert sys.modules[reward.foreign.__module__].WORD == "boxed"


def test_a_reward_that_needs_what_the_script_could_not_compute_is_refused(script):
    with pytest.raises(RewardNotLoaded, match=r"'CLI' of twinkle.cli is needed.*by_mode uses MODE"):
        load(f"{script}:by_mode")


def test_a_reward_whose_decorator_is_absent_is_refused_by_name(script):
    with pytest.raises(RewardNotLoaded, match=r"grpo.py:decorated failed: 'CLI' of twinkle.cli is needed"):
        load(f"{script}:decorated")


def test_an_absent_package_that_is_imported_inside_the_function_is_answered_for(tmp_path):
    path = tmp_path / "lazy.py"
    path.write_text(
        "def compute_rewards(trajectories, ground_truths):\n"
        "    from twinkle.reward import FormatReward\n"
        "    return FormatReward()(trajectories, ground_truths)\n"
        "def other(trajectories, ground_truths):\n"
        "    import no_such_package\n"
    )
    batch = [Trajectory("q", "<think>a</think><answer>4</answer>"), Trajectory("q", "4")]
    assert [output.reward for output in score(load(f"{path}:compute_rewards"), batch)] == [1.0, 0.0]
    assert "twinkle" not in sys.modules
    assert "no_such_package" in score(load(f"{path}:other"), batch)[0].reason


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_that_imports_a_stub_while_it_runs_is_called_once_per_sample(tmp_path, is_async):
    path = tmp_path / "counting.py"
    path.write_text(
        "CALLS = []\n"
        f"{'async ' if is_async else ''}def compute_score(data_source, solution_str, ground_truth, extra_info):\n"
        "    CALLS.append(solution_str)\n"
        "    from flux.rewards import RewardOutput\n"
        "    return RewardOutput(float(len(CALLS))).reward\n"
    )
    batch = [Trajectory("q", "a", ground_truth="1"), Trajectory("q", "b", ground_truth="1")]
    outputs = score(load(str(path)), batch)
    assert sorted(output.reward for output in outputs) == [1.0, 2.0], [output.reason for output in outputs]
    assert "flux" not in sys.modules
