"""Every form of a spec, from the text to a scored sample."""

import pytest

from plaudit import RewardFunction, Trajectory, reward, score
from plaudit.contract.scoring import score_samples
from plaudit.errors import RewardNotLoaded
from plaudit.loading import Loaded, load, resolve
from plaudit.rewards import LengthReward

REWARDS = """
    from plaudit import RewardFunction, reward

    class Constant(RewardFunction):
        def __init__(self, value: float = 0.5):
            self.value = value
        def compute_reward(self, trajectory):
            return self.value

    @reward
    def brief(response):
        return 1.0 if len(response.split()) < 5 else 0.0

    def plain(response, ground_truth=None):
        return 0.25

    def make(value):
        return Constant(value)
"""


def scored(spec):
    (output,) = score_samples(load(spec), [Trajectory("Hi", "Hello there", ground_truth="Hey")])
    assert output.ok, output.reason
    return output.reward


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("specs.py:Constant", 0.5),
        ("./specs.py:Constant", 0.5),
        ("specs.py:Constant(value=3)", 3.0),
        ("specs.py:Constant(-1.5)", -1.5),
        ("specs.py:brief", 1.0),
        ("specs.py:plain", 0.25),
        ("specs.py:make(value=2)", 2.0),
        ("specs:Constant", 0.5),
        ("specs:Constant(value=3)", 3.0),
        ("specs.Constant", 0.5),
        ("specs.Constant(value=3)", 3.0),
        ("specs.brief", 1.0),
        ("2 * specs.Constant - 'specs.py:plain'", 0.75),
        ("  specs.py:Constant  ", 0.5),
    ],
)
def test_a_spec_leads_to_the_reward_it_names(write, spec, expected):
    write("specs.py", REWARDS)
    assert scored(spec) == expected


@pytest.mark.parametrize(
    ("spec", "convention", "origin"),
    [
        ("origins.py:Constant", "plaudit", "Constant in origins.py"),
        ("origins.py:brief", "plaudit function", "brief in origins.py"),
        ("origins.py:plain", "plaudit function", "plain in origins.py"),
        ("origins.Constant", "plaudit", "Constant in origins"),
        ("length(target=3)", "plaudit", "LengthReward, built in"),
        ("2 * length", "plaudit", "the expression 2 * length"),
    ],
)
def test_a_loaded_reward_has_its_convention_and_origin(write, spec, convention, origin):
    write("origins.py", REWARDS)
    loaded = resolve(spec)
    assert isinstance(loaded, Loaded)
    assert (loaded.convention, loaded.origin) == (convention, origin)


def test_modules_in_packages_of_the_current_folder_are_found(write):
    write("lonepkg/__init__.py", "")
    write("lonepkg/inner/__init__.py", "")
    write("lonepkg/inner/quality.py", "def quality(response): return 0.75")
    for spec in ("lonepkg.inner.quality:quality", "lonepkg.inner.quality.quality", "lonepkg.inner.quality"):
        assert scored(spec) == 0.75


def test_a_path_with_a_quote_and_spaces_and_brackets_is_a_path(write):
    path = write("o'brien's (new) rewards/mine.py", "def mine(response): return 1.0")
    assert scored(str(path)) == 1.0
    assert scored(f"{path}:mine") == 1.0


def test_the_home_folder_can_be_written_as_a_tilde(write, folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    write("at_home.py", "def mine(response): return 1.0")
    monkeypatch.chdir("/")
    assert scored("~/at_home.py") == 1.0


def test_a_reward_object_is_loaded_as_itself():
    given = LengthReward(target=3)
    loaded = resolve(given)
    assert loaded.reward is given
    assert loaded.convention == "plaudit"


def test_a_function_and_a_class_are_made_rewards():
    def short(response):
        return 1.0

    class Fixed(RewardFunction):
        def compute_reward(self, trajectory):
            return 2.0

    def pairs(trajectories, ground_truths):
        return [3.0 for _ in trajectories]

    assert [resolve(given).convention for given in (short, reward(short), Fixed, pairs)] == [
        "plaudit function",
        "plaudit function",
        "plaudit",
        "Twinkle function",
    ]
    assert [scored(given) for given in (short, Fixed, pairs)] == [1.0, 2.0, 3.0]
    assert resolve(short).origin == "short, as given"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param(
            "lenght", ["no reward named 'lenght'", "did you mean 'length'?", "plaudit rewards"], id="built-in"
        ),
        pytest.param("qualty.py", ["no file", "did you mean 'quality.py'?"], id="file"),
        pytest.param("absent/quality.py", ["no file", "there is no folder"], id="folder"),
        pytest.param(
            "quality.py:quelity", ["no 'quelity' in quality.py", "did you mean 'quality'?"], id="name in file"
        ),
        pytest.param("qualty:quality", ["no module 'qualty'", "did you mean 'quality'?"], id="module"),
        pytest.param("qualty.deep.quality", ["no module 'qualty.deep.quality'"], id="dotted"),
        pytest.param("quality.deep.quality", ["no module 'quality.deep'"], id="module that is no package"),
        pytest.param("quality:quelity", ["no 'quelity' in quality", "did you mean 'quality'?"], id="name in module"),
        pytest.param("quality.quelity", ["no 'quelity' in quality", "did you mean 'quality'?"], id="dotted name"),
        pytest.param("quality.py:", ["cannot read the spec"], id="no name"),
        pytest.param("quality.py:1x", ["cannot read the spec"], id="no identifier"),
        pytest.param("quality.py:a.b", ["after the colon comes a name"], id="no single name"),
        pytest.param("quality.py:quality(limit=print())", ["not a literal"], id="no literal"),
        pytest.param("0.5 * quality.py", ["put file specs in quotes"], id="file in expression"),
        pytest.param("notes.txt", ["is not a .py, .yaml or .json file"], id="other file"),
        pytest.param("somewhere.py", ["is a folder"], id="folder named like a file"),
        pytest.param("absent.yaml", ["no file"], id="yaml"),
        pytest.param("  ", ["the spec is empty"], id="empty"),
        pytest.param("a b c", ["cannot read the spec 'a b c'", "file.py:name"], id="no spec"),
        pytest.param("len\0gth.py", ["null character"], id="null"),
        pytest.param("quality.py:quality * 0.5", ["put file specs in quotes"], id="expression behind a file"),
        pytest.param("x" * 500 + ".py", ["no file"], id="name too long for a file"),
        pytest.param("x" * 500 + ".yaml", ["no file"], id="name too long for a yaml file"),
    ],
)
def test_a_spec_that_names_nothing_gives_the_reason_and_a_remedy(write, folder, spec, told):
    write("quality.py", "def quality(response): return 1.0")
    write("notes.txt", "")
    (folder / "somewhere.py").mkdir()
    with pytest.raises(RewardNotLoaded) as caught:
        load(spec)
    assert all(part in str(caught.value) for part in told), caught.value


def test_a_bare_name_is_found_in_a_file_of_src(write):
    write("src/agent_tunix/rewards.py", "def custom(response, prompt, metadata): return 1.0")
    assert load("custom")([Trajectory("a", "b")]) == [1.0]


def test_a_bare_name_in_two_files_of_src_is_an_error_with_both_specs(write):
    for name in ("one", "two"):
        write(f"src/{name}/rewards.py", "def custom(response, prompt, metadata): return 1.0")
    with pytest.raises(RewardNotLoaded, match=r"src/one/rewards\.py:custom, src/two/rewards\.py:custom"):
        load("custom")


def test_the_error_for_an_unknown_name_shows_a_file_spec():
    with pytest.raises(RewardNotLoaded, match=r"named with its file: folder/file\.py:absent_reward"):
        load("absent_reward")


def test_match_format_exactly_is_a_reward_by_that_name():
    [output] = score(
        "match_format_exactly(expected_format='The answer is [NUM].')", [Trajectory("q", "The answer is 4.")]
    )
    assert output.reward == 1.0


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("json", "no reward named 'json'; structured may be what you look for"),
        ("structured(schema={'additionalProperties': false})", "'false' is JSON; in a spec, write False"),
        ("judge", r"it takes \(endpoint, rubric=None, "),
    ],
    ids=["a word that a reward's summary has", "a word of JSON", "a reward without a needed argument"],
)
def test_the_error_for_a_name_that_is_no_reward_shows_the_spec_to_write(spec, told):
    with pytest.raises(RewardNotLoaded, match=told):
        load(spec)
