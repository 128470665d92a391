"""Absent packages are answered for while a file loads; installed ones never are."""

import sys
import threading

import pytest

from plaudit import RewardFunction, Trajectory
from plaudit.dialects import STAND_INS, stand_ins
from plaudit.dialects.standins import StandIns
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load, resolve
from plaudit.rewards import LengthReward

FOREIGN = sorted({name.partition(".")[0] for name in STAND_INS})


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


@pytest.mark.parametrize("module", STAND_INS)
def test_every_answered_name_can_be_imported(module):
    names = ", ".join(STAND_INS[module])
    scope: dict[str, object] = {}
    with stand_ins():
        exec(f"from {module} import {names}", scope)
    assert {name: scope[name] for name in STAND_INS[module]} == STAND_INS[module]


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
    with stand_ins():
        exec(statement, scope)
        assert eval(expression, scope) is sys.modules[module]


def test_nothing_is_left_in_sys_modules_afterwards():
    with stand_ins() as finder:
        exec("import flux.rewards, twinkle.reward, agent_tunix.rewards", {})
        assert "flux.rewards" in sys.modules
    assert not [name for name in sys.modules if name.partition(".")[0] in FOREIGN]
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
    assert isinstance(load(str(tmp_path / "mine.py")), LengthReward)
    assert not hasattr(sys.modules.pop("flux", None), "rewards")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        pytest.param(
            "from flux.rewards import LenghtReward",
            ["no 'LenghtReward' in flux.rewards", "did you mean 'LengthReward'?", "RewardOutput", "install flux"],
            id="name",
        ),
        pytest.param("from flux import Trainer", ["no 'Trainer' in flux", "flux.core.trajectory"], id="package"),
        pytest.param(
            "import flux.reward",
            ["no 'flux.reward' in flux", "did you mean 'flux.rewards'?", "install flux"],
            id="module",
        ),
        pytest.param("from twinkle.reward import Rewrd", ["did you mean 'Reward'?", "install twinkle"], id="twinkle"),
    ],
)
def test_what_is_not_answered_for_is_an_import_error_that_lists_what_is(tmp_path, statement, told):
    path = tmp_path / "mine.py"
    path.write_text(statement)
    with pytest.raises(RewardNotLoaded) as caught:
        load(str(path))
    assert isinstance(caught.value.__cause__, ImportError)
    assert all(part in str(caught.value) for part in told), caught.value


def test_a_module_is_added_by_one_table_entry():
    class Judge: ...

    scope: dict[str, object] = {}
    with StandIns({**STAND_INS, "flux.judges": {"Judge": Judge}}):
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
