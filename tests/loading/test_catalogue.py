"""Built-ins and plug-ins by name; plug-ins are real distributions on the import path."""

import pytest

from plaudit import Trajectory
from plaudit.errors import RewardNotLoaded
from plaudit.loading import available, load, resolve
from plaudit.rewards import BUILT_INS

SAMPLE = [Trajectory("Hi", "Hello")]


@pytest.fixture
def install(write, folder, monkeypatch):
    """`install(dist, entry_points, module, source)` puts a distribution with plug-ins on the import path."""
    monkeypatch.syspath_prepend(str(folder / "site"))

    def installed(dist, entry_points, module, source):
        write(f"site/{dist}-1.2.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.2\n")
        lines = "\n".join(f"{name} = {target}" for name, target in entry_points.items())
        write(f"site/{dist}-1.2.dist-info/entry_points.txt", f"[plaudit.rewards]\n{lines}\n")
        write(f"site/{module}.py", source)

    return installed


ZEBRA = '''
    """Stripes."""
    from plaudit import RewardFunction, reward

    class Stripes(RewardFunction):
        """Pays a fixed sum.

        Nothing else.
        """
        def __init__(self, count: int = 2):
            self.count = count
        def compute_reward(self, trajectory):
            return float(self.count)

    @reward
    def hoof(response):
        """Always half."""
        return 0.5

    def tail(trajectories, ground_truths):
        return [0.25 for _ in trajectories]
'''


def test_plug_ins_load_by_name_with_arguments_and_in_expressions(install):
    install("zebra", {"stripes": "zebra_a:Stripes", "hoof": "zebra_a:hoof", "tail": "zebra_a:tail"}, "zebra_a", ZEBRA)
    assert load("stripes")(SAMPLE) == [2.0]
    assert load("stripes(count=5)")(SAMPLE) == [5.0]
    assert load("stripes - 2 * hoof + tail")(SAMPLE) == [1.25]
    assert resolve("stripes").origin == "stripes, a plug-in of zebra 1.2"
    assert resolve("tail").convention == "Twinkle function"


def test_every_built_in_is_listed_with_its_first_line_and_signature():
    listings = available()
    assert set(BUILT_INS) <= set(listings)
    assert all(listings[name].origin == "built in" and listings[name].summary for name in BUILT_INS)
    assert listings["length"].signature.startswith("(")
    assert "target" in listings["length"].signature


def test_plug_ins_are_listed_beside_the_built_ins(install):
    install("zebra", {"stripes": "zebra_b:Stripes", "hoof": "zebra_b:hoof"}, "zebra_b", ZEBRA)
    listings = available()
    assert listings["stripes"].summary == "Pays a fixed sum."
    assert listings["stripes"].signature == "(count: int = 2)"
    assert listings["stripes"].origin == "a plug-in of zebra 1.2"
    assert listings["hoof"].summary == "Always half."


def test_a_broken_plug_in_breaks_only_itself(install):
    install("broken", {"cracked": "cracked_module:reward"}, "cracked_module", "raise RuntimeError('cracked')")
    install("zebra", {"stripes": "zebra_c:Stripes"}, "zebra_c", ZEBRA)
    assert load("stripes")(SAMPLE) == [2.0]
    with pytest.raises(RewardNotLoaded, match=r"plug-in 'cracked' of broken 1\.2 failed: RuntimeError: cracked"):
        load("cracked")
    assert "cannot be loaded" in available()["cracked"].summary
    assert available()["stripes"].summary == "Pays a fixed sum."


def test_a_plug_in_is_not_imported_before_it_is_asked_for(install):
    install("broken", {"cracked": "cracked_again:reward"}, "cracked_again", "raise RuntimeError('cracked')")
    assert isinstance(load("length(target=3)"), BUILT_INS["length"])


def test_a_plug_in_cannot_take_the_name_of_a_built_in(install):
    install("thief", {"length": "thief_module:Stripes"}, "thief_module", ZEBRA)
    assert isinstance(load("length"), BUILT_INS["length"])
    with pytest.warns(UserWarning, match=r"plug-in 'length' of thief 1\.2 is left out"):
        assert available()["length"].origin == "built in"


def test_two_plug_ins_of_one_name_are_ambiguous(install):
    install("zebra", {"stripes": "zebra_d:Stripes"}, "zebra_d", ZEBRA)
    install("tiger", {"stripes": "tiger_d:Stripes"}, "tiger_d", ZEBRA)
    with pytest.raises(RewardNotLoaded, match="several packages offer") as caught:
        load("stripes")
    assert "zebra 1.2 (zebra_d:Stripes)" in str(caught.value)
    assert "tiger 1.2 (tiger_d:Stripes)" in str(caught.value)


def test_plug_ins_are_suggested_for_a_misspelt_name(install):
    install("zebra", {"stripes": "zebra_e:Stripes"}, "zebra_e", ZEBRA)
    with pytest.raises(RewardNotLoaded, match="did you mean 'stripes'"):
        load("strips")
