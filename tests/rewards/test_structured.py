import pickle

import pytest

from plaudit import Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import StructuredOutputReward

SCHEMA = {"type": "object", "required": ["answer"]}


@pytest.mark.parametrize(
    ("response", "settings", "value"),
    [
        ('{"answer": 4}', {"schema": SCHEMA}, 1.0),
        ('{"result": 4}', {"schema": SCHEMA}, 0.0),
        ("<r><answer>4</answer></r>", {"format": "xml", "required_tags": ["answer"]}, 1.0),
        ("## Answer\n4", {"format": "markdown", "required_headings": ["Answer"]}, 1.0),
        ("```python\nx\n```", {"format": "code", "language": "python"}, 1.0),
        ("```js\nx\n```", {"format": "code", "language": "python"}, 0.0),
    ],
)
def test_each_format_is_checked_with_its_own_options(response, settings, value):
    output = StructuredOutputReward(**settings).compute_reward(Trajectory(prompt="", response=response))
    assert (output.reward, output.score, bool(output.reason)) == (value, None, True)


def test_a_reward_with_a_schema_can_be_sent_to_another_process():
    reward = StructuredOutputReward(schema=SCHEMA)
    assert pickle.loads(pickle.dumps(reward)) == reward


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "jsn"}, "did you mean 'json'"),
        ({"format": "code", "schema": SCHEMA}, "schema belongs to format='json'"),
        ({"language": "python"}, "language belongs to format='code'"),
        ({"schema": {"type": "objekt"}}, "JSON Schema"),
    ],
)
def test_settings_that_make_no_sense_are_refused_when_built(settings, message):
    with pytest.raises(InvalidSettings, match=message):
        StructuredOutputReward(**settings)
