"""Plain data becomes settings, or an error that names the setting, what was expected and what was there."""

from dataclasses import dataclass
from typing import Literal

import msgspec
import pytest

from plaudit.errors import InvalidSettings
from plaudit.settings import (
    Count,
    NonNegative,
    Positive,
    as_text_tuple,
    check_fields,
    check_keys,
    read_settings,
    read_yaml,
)


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    tries: Count = 4
    wait_s: NonNegative = 0.5
    form: Literal["auto", "text"] = "auto"
    per_second: Positive | None = None
    quiet: bool = False
    anything: object = None

    def __post_init__(self) -> None:
        check_fields(self)


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    weight: Positive = 1.0


def test_a_mapping_becomes_an_instance_and_an_instance_stays_unchanged():
    policy = read_settings(Policy, {"name": "a", "tries": 2, "wait_s": 1, "per_second": None}, "policy")
    assert policy == Policy("a", tries=2, wait_s=1, per_second=None)
    assert read_settings(Policy, policy, "policy") is policy
    assert read_settings(Part, {"task": "sums", "weight": "2"}, "tasks.sums") == Part("sums", 2.0)


@pytest.mark.parametrize(
    ("kind", "plain", "message"),
    [
        (Policy, 3, "policy is a Policy or a mapping with name, got 3"),
        (Policy, {}, "policy needs name"),
        (Policy, {"name": "a", "tires": 3}, "policy has no setting 'tires'; did you mean 'tries'? (known: name, tries"),
        (Policy, {"name": "a", "tries": 0}, "policy: tries: expected int >= 1, got 0"),
        (Policy, {"name": "a", "tries": True}, "policy: tries: expected int, got True"),
        (Policy, {"name": "a", "tries": "2"}, "policy: tries: expected int, got '2'"),
        (Policy, {"name": "a", "wait_s": float("nan")}, "policy: wait_s: expected float >= 0.0, got nan"),
        (Policy, {"name": "a", "wait_s": float("inf")}, "policy: wait_s: expected float <= 1e+30, got inf"),
        (Policy, {"name": "a", "per_second": 0}, "policy: per_second: expected float > 0.0, got 0"),
        (Policy, {"name": "a", "form": "txt"}, "policy: form is one of auto, text, got 'txt'; did you mean 'text'?"),
        (Policy, {"name": "a", "quiet": 1}, "policy: quiet: expected bool, got 1"),
        (Part, {"task": "sums", "wieght": 1}, "has no setting 'wieght'; did you mean 'weight'?"),
        (Part, {"task": "sums", "weight": -1}, "policy.weight: expected `float` > 0.0"),
    ],
)
def test_an_error_names_the_setting_and_what_was_expected(kind, plain, message):
    with pytest.raises(InvalidSettings) as raised:
        read_settings(kind, plain, "policy")
    assert message in str(raised.value)


def test_a_yaml_file_is_read_or_the_error_names_it(tmp_path):
    (tmp_path / "rubric.yaml").write_text("a: [1, 2]\n")
    assert read_yaml(tmp_path / "rubric.yaml", "rubric") == {"a": [1, 2]}
    with pytest.raises(InvalidSettings, match=r"no rubric .*; did you mean 'rubric\.yaml'"):
        read_yaml(tmp_path / "rubrik.yaml", "rubric")
    (tmp_path / "broken.yaml").write_text("a: [1,")
    with pytest.raises(InvalidSettings, match="is not YAML"):
        read_yaml(tmp_path / "broken.yaml", "rubric")


def test_unknown_keys_and_bare_texts_are_refused():
    with pytest.raises(InvalidSettings, match=r"the task sums has no option 'sise'; did you mean 'size'\?"):
        check_keys(["sise"], ["size", "seed"], "the task sums", "option")
    with pytest.raises(InvalidSettings, match=r"write \['abc'\]"):
        as_text_tuple("words", "abc")
