"""A config is read from YAML and overrides, checked, and written back with its meanings."""

import pytest

from plaudit.errors import InvalidSettings
from plaudit.training.advantages.estimators import GAEAdvantage, GDPOAdvantage, GRPOAdvantage, PassAtKAdvantage
from plaudit.training.config.keys import flatten
from plaudit.training.config.learning_keys import LossSettings, OptimizerConfig
from plaudit.training.config.reading import KEYS, build_config, document_config, load_config
from plaudit.training.config.schema import RunConfig, SamplingConfig, SamplingSettings
from plaudit.training.inputs import build_advantage, check_learning


def test_an_empty_config_is_the_default_run():
    config = load_config()
    assert config == RunConfig()
    assert (config.task, config.model.path, config.steps, config.batch_size) == ("sort_digits", None, 300, 256)


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("steps=20", "steps", 20),
        ("+optimizer.lr=1e-4", "optimizer.lr", 1e-4),
        ("optimizer.betas=[0.8, 0.95]", "optimizer.betas", [0.8, 0.95]),
        ("training.log_rewards=true", "training.log_rewards", True),
        ("training.reward_function=0.7 * check_answer + 0.3 * format", "training.reward_function",
         "0.7 * check_answer + 0.3 * format"),
        ("+training.reward_function=my.py:fn", "training.reward_function", "my.py:fn"),
        ("training.reward_function=null", "training.reward_function", None),
        ("data.prompt_template=Q: {question} = ?", "data.prompt_template", "Q: {question} = ?"),
        ("data.ground_truth_key=123", "data.ground_truth_key", "123"),
        ("sampling.max_new_tokens=null", "sampling.max_new_tokens", None),
        ("advantage=rloo", "advantage", "rloo"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_an_override_sets_its_key(override, key, value):
    assert flatten(load_config(None, [override]).to_dict())[key] == value


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("lr=1", r"no key 'lr'; did you mean 'optimizer.lr'\?"),
        ("optimizer.lrr=1", r"did you mean 'optimizer.lr'\?"),
        ("training.log_reward=true", r"did you mean 'training.log_rewards'\?"),
        ("optimizer=adam", "optimizer is a section; set its keys: optimizer.lr"),
        ("optimizer.lr=-1", "optimizer.lr: expected `float` > 0.0, got -1"),
        ("optimizer.lr=.nan", "optimizer.lr: expected"),
        ("optimizer.lr=.inf", "optimizer.lr: expected"),
        ("engine=trll", r"expected one of local, trl, got 'trll'; did you mean 'trl'\?"),
        ("training.log_rewards=maybe", "expected `bool`, got 'maybe'"),
        ("steps=1.5", "steps: expected `int`, got 1.5"),
        ("seed=[", "not a YAML value"),
        ("steps", "expected key=value"),
        ("=3", "expected key=value"),
        ("eval.pass_at=[8]", "pass@8 needs at least 8 samples per prompt, got 4"),
        ("filter.low=1", "need low < high"),
        ("output_dir=", "output_dir is empty"),
    ],
)
def test_a_wrong_override_is_refused_with_the_reason(override, message):
    with pytest.raises(InvalidSettings, match=message):
        load_config(None, [override])


def test_overrides_take_the_place_of_the_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("steps: 5\noptimizer:\n  lr: 1e-2\n  schedule: constant\n")
    config = load_config(path, ["optimizer.lr=0.5"])
    assert (config.steps, config.optimizer.lr, config.optimizer.schedule) == (5, 0.5, "constant")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("optimiser:\n  lr: 1\n", "no key 'optimiser.lr'; did you mean 'optimizer.lr'"),
        ("- 1\n", "holds list"),
        ("a: [", "is not YAML"),
        ("optimizer: 3\n", "optimizer is a section"),
    ],
    ids=["typo", "list", "no yaml", "section"],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path, text, message):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InvalidSettings, match=message):
        load_config(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidSettings, match=r"no config .*missing.yaml"):
        load_config(tmp_path / "missing.yaml")


def test_an_empty_file_is_the_default(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("")
    assert load_config(path) == RunConfig()


def test_a_printed_config_can_be_read_back(tmp_path):
    config = load_config(None, ["optimizer.lr=3e-5", "data.prompt_template=a: {b}\n#c", "sampling.stop=['\\n', '#']"])
    path = tmp_path / "printed.yaml"
    path.write_text(document_config(config))
    assert load_config(path) == config


def test_every_key_has_a_meaning_and_stands_in_what_is_printed():
    printed = document_config(RunConfig())
    for key in KEYS.values():
        assert len(key.meaning) > 5
        assert f"# {key.meaning}" in printed


def test_a_config_is_built_from_nested_and_from_dotted_values():
    assert build_config({"optimizer": {"lr": 0.1}}) == build_config({"optimizer.lr": 0.1})


def test_anything_of_trl_passes_through_and_is_read_as_yaml(tmp_path):
    config = load_config(
        None, ["engine=trl", "trl.loss_type=sapo", "trl.sapo_temperature_neg=1.5", "trl.log_completions=true"]
    )
    assert config.trl == {"loss_type": "sapo", "sapo_temperature_neg": 1.5, "log_completions": True}
    (tmp_path / "run.yaml").write_text(document_config(config))
    assert load_config(tmp_path / "run.yaml") == config
    assert load_config(tmp_path / "run.yaml", ["trl.loss_type=grpo"]).trl["loss_type"] == "grpo"
    assert load_config(None).trl == {}
    with pytest.raises(InvalidSettings, match=r"trl.loss_type is for engine=trl, and the engine is local"):
        load_config(None, ["trl.loss_type=sapo"])


def test_the_printed_config_lists_the_choices_of_every_key():
    printed = document_config(RunConfig())
    assert "[linear | cosine | constant]" in printed
    assert "[token | sequence | constant]" in printed  # also where null is a value
    for key in KEYS.values():
        assert all(choice in printed for choice in key.choices)


def test_config_settings_reach_the_estimator_and_the_loss():
    config = load_config(
        None,
        ["advantage=gae", "training.gae_lambda=0.5", "training.gamma=0.9", "loss.name=dapo", "loss.dual_clip=5",
         "loss.ratio=sequence", "loss.surrogate=clipped", "loss.entropy_bonus=0.01"],
    )  # fmt: skip
    assert build_advantage(config) == GAEAdvantage(gamma=0.9, lam=0.5)
    loss = config.loss
    assert (loss.dual_clip, loss.ratio, loss.surrogate, loss.average) == (5, "sequence", "clipped", "token")
    assert loss.entropy_bonus == 0.01
    scaled = load_config(None, ["advantage=grpo", "training.advantage_scale=batch"])
    assert build_advantage(scaled) == GRPOAdvantage(scale="batch")
    weighed = load_config(None, ["advantage=gdpo", "training.component_weights={a: 2, b: 1}"])
    assert build_advantage(weighed) == GDPOAdvantage({"a": 2.0, "b": 1.0})
    assert build_advantage(load_config(None, ["advantage=pass_at_k", "training.pass_k=2"])) == PassAtKAdvantage(k=2)


def test_null_in_the_loss_is_the_value_of_its_preset_and_another_name_takes_its_own(tmp_path):
    path = tmp_path / "printed.yaml"
    path.write_text(document_config(load_config(None, ["loss.name=gspo", "loss.clip_high=0.1"])))
    gspo, cispo = load_config(path).loss, load_config(path, ["loss.name=cispo"]).loss
    assert (gspo.ratio, gspo.clip_low, gspo.clip_high) == ("sequence", 3e-4, 0.1)
    assert (cispo.ratio, cispo.clip_low, cispo.clip_high) == ("token", 1.0, 0.1)
    assert gspo == LossSettings(name="gspo", clip_high=0.1, clip_low=None)


@pytest.mark.parametrize("section", [RunConfig, LossSettings, OptimizerConfig, SamplingConfig, SamplingSettings])
def test_a_section_that_exists_is_valid(section):
    """Sections are the settings that code works with, so a wrong value fails wherever one is built."""
    for name, default in section().to_dict().items():
        if isinstance(default, int | float) and not isinstance(default, bool):
            with pytest.raises(InvalidSettings, match=name):
                section(**{name: -1.0})


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["training.pass_k=3"], "training.pass_k is not for advantage=grpo"),
        (["training.gae_lambda=0.9", "advantage=rloo"], "training.gae_lambda is not for advantage=rloo"),
        (["training.component_weights={a: 1}"], "training.component_weights is not for"),
        (["advantage=pass_at_k", "training.pass_k=9"], "sampling.samples_per_prompt is 8"),
        (["sampling.samples_per_prompt=1", "eval.pass_at=[1]"], "compares responses to one prompt"),
        (["loss.name=reinforce", "loss.clip_high=0.3"], "loss: clip_high is not for name=reinforce"),
        (["loss.name=cispo", "loss.dual_clip=9"], "loss: dual_clip is not for name=cispo"),
        (["loss.importance_mode=reject"], "without training.async_train there are none"),
        (["loss.kl_beta=0.1", "loss.kl_estimator=k1"], "no useful gradient"),
    ],
)
def test_contradictory_settings_are_refused_before_loading(overrides, words):
    with pytest.raises(InvalidSettings, match=words):
        check_learning(load_config(None, overrides))


def test_a_reward_beside_the_config_is_found_by_its_bare_name_and_by_its_file(tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "mine.py").write_text("def custom_reward_function(response):\n    return 1.0\n")
    monkeypatch.chdir(tmp_path)
    for named, spec in {
        "custom_reward_function": f"{tmp_path}/conf/mine.py:custom_reward_function",
        "mine.py:custom_reward_function": f"{tmp_path}/conf/mine.py:custom_reward_function",
        "length": "length",
        "elsewhere.py:name": "elsewhere.py:name",
    }.items():
        file = tmp_path / "conf" / "run.yaml"
        file.write_text(f"training:\n  reward_function: {named}\n")
        assert load_config(file).training.reward_function == spec
