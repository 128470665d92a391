"""The ways to write a reward, each as the text of a reward file; all of them give `misbehaviour.number(response)`.

`{a}` is `async ` or nothing, `{one}` and `{many}` are the calls that score one response or a list of them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MISBEHAVIOUR = Path(__file__).with_name("misbehaviour.py")

LEVEL = '''
def level(level, notes):
    """A second part for combinations: fails where another part has changed the sample."""
    assert notes == ["kept"], f"the sample was changed: {notes}"
    return level / 2
'''


_MARKS = (
    ("{a}", "", "async "),
    ("{one}", "score_one", "await score_one_async"),
    ("{many}", "score_many", "await score_many_async"),
)


@dataclass(frozen=True)
class Style:
    name: str
    target: str
    """What the spec names in the file."""
    text: str
    kind: Literal["sample", "group", "batch"]
    """What one call is given."""
    dialect: str | None = None

    def write(self, folder: Path, *, is_async: bool) -> str:
        """Write the reward file, and return its spec."""
        file = folder / f"{self.name}_{'async' if is_async else 'sync'}.py"
        if not file.exists():
            calls = {
                True: ("async ", "await score_one_async", "await score_many_async"),
                False: ("", "score_one", "score_many"),
            }
            a, one, many = calls[is_async]
            style = self.text.replace("{a}", a).replace("{one}", one).replace("{many}", many)
            file.write_text("\n\n".join([MISBEHAVIOUR.read_text(), LEVEL, style]))
        return f"{file}:{self.target}"

    def quoted(self, spec: str) -> str:
        """The spec as an operand of an expression, with the dialect where one is to be named."""
        return repr(spec) if self.dialect is None else f"using({spec!r}, dialect={self.dialect!r})"

    def plain(self, spec: str) -> str:
        return spec if self.dialect is None else self.quoted(spec)


def level_spec(spec: str) -> str:
    return spec.rpartition(":")[0] + ":level"


_ALL = (
    Style(
        "function",
        "styled",
        """
{a}def styled(response, columns, metadata, messages):
    return {one}(response, columns, metadata, messages)
""",
        "sample",
    ),
    Style(
        "plural_function",
        "styled",
        """
{a}def styled(responses, columns, metadata, messages):
    return {many}(responses, responses, columns, metadata, messages)
""",
        "batch",
    ),
    Style(
        "group_function",
        "styled",
        """
from plaudit import reward


@reward(scope="group")
{a}def styled(trajectories):
    return {many}([each.response for each in trajectories], trajectories)
""",
        "group",
    ),
    Style(
        "compute_reward",
        "Styled",
        """
from plaudit import RewardFunction


class Styled(RewardFunction):
    {a}def compute_reward(self, trajectory):
        return {one}(trajectory.response, trajectory)
""",
        "sample",
    ),
    Style(
        "compute_rewards",
        "Styled",
        """
from plaudit import RewardFunction


class Styled(RewardFunction):
    {a}def compute_rewards(self, trajectories):
        return {many}([each.response for each in trajectories], trajectories)
""",
        "batch",
    ),
    Style(
        "paired",
        "Styled",
        """
from plaudit import RewardFunction


class Styled(RewardFunction):
    {a}def __call__(self, trajectories, ground_truths):
        return {many}([each.response for each in trajectories], trajectories, ground_truths)
""",
        "batch",
    ),
    Style(
        "openrlhf",
        "reward_func",
        """
{a}def reward_func(queries, prompts, labels):
    responses = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts)]
    return {"rewards": {many}(responses, queries, prompts, labels)}
""",
        "batch",
        "openrlhf",
    ),
    Style(
        "trl",
        "trl_reward",
        """
{a}def trl_reward(prompts, completions, **columns):
    lists = [column for column in columns.values() if isinstance(column, list)]
    return {many}(completions, prompts, completions, lists)
""",
        "batch",
        "trl",
    ),
    Style(
        "verl",
        "compute_score",
        """
{a}def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return {one}(solution_str, ground_truth, extra_info)
""",
        "sample",
        "verl",
    ),
    Style(
        "agent_tunix",
        "tunix_reward",
        """
{a}def tunix_reward(response, prompt, metadata):
    return {one}(response, metadata)
""",
        "sample",
        "agent_tunix",
    ),
)
STYLES = {style.name: style for style in _ALL}
