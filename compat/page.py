"""`docs/systems.md`: the systems that plaudit knows, and what was run in the real packages."""

from plaudit.dialects import StubFinder, known_systems
from plaudit.exports.compat import compat_rows
from plaudit.exports.exporting import EXPORTS

SHAPES = {
    "agent_tunix": "function of `(response, prompt, metadata)` or `(prompts, completions, answer, **columns)`",
    "areal": "function of `(prompt, completions, prompt_ids, completion_ids, **row)`",
    "easy_r1": "`compute_score(reward_inputs)` of dicts with `response` and `ground_truth`; the reward is `overall`",
    "flux": "class with `compute_reward(trajectory)`, function of `trajectory`",
    "inspect": "scorer of `(state, target)`, or the factory function that `@scorer` decorates",
    "nemo_gym": "– (`async verify(body)` of a resource server)",
    "openai": "JSON of type `string_check`, `text_similarity`, `python`, `score_model`, `label_model` or `multi`",
    "openrlhf": "`reward_func(queries, prompts, labels)`; in forks also with `batch`",
    "open_instruct": "`VerifierFunction` of `(tokenized_prediction, prediction, label, query)`, or its `async_call`",
    "openjudge": "grader with `_aevaluate(query, response, …)`; the reward is the score",
    "rewardkit": "`@criterion` function of `(workspace, …)`; the workspace has `files` of the row and `response.txt`",
    "predibase": "function of `(prompt, completion, example)`; `example` is the row",
    "reasoning_gym": "data set with `score_answer(answer, entry)`: `reasoning_gym:leg_counting`",
    "rllm": "function or object of `(task_info, action)`; evaluator of `(task, episode)`",
    "skyrl": "single-turn environment class with `init(prompt)` and `step(action)`",
    "slime": "`async fn(args, sample)`, or `(args, samples)` for groups",
    "swift": "ORM class with `__call__(completions, **columns)`",
    "trl": "function or object of `(prompts, completions, **columns)`; text, or messages if the prompt is a chat",
    "tunix": "function of `(prompts, completions, **columns)` in a file that imports Tunix",
    "twinkle": "class or function of `(trajectories, ground_truths)`; dicts with `messages` and `user_data`",
    "verifiers": "function of any of `prompt, completion, answer, state, info, parser`; v1: `async r(task, trace)`; "
    "rubrics",
    "verl": "`compute_score(data_source, solution_str, ground_truth, extra_info)`, or plural parameters for a batch",
}
"""How each system writes rewards, in words."""


def compat_page() -> str:
    """The tables of systems and of what ran, as a page of the documentation."""
    lines = [
        "# Systems",
        "",
        "`make compat` generates this page from the files of `plaudit.dialects` and `plaudit.exports`.",
        "[One reward, every trainer](guides/trainers.md) shows how to use them.",
        "",
        "| name | system | how it writes rewards | exports of plaudit | unscored samples | groups | stubs |",
        "|---|---|---|---|---|---|---|",
    ]
    for system in known_systems().values():
        exports = [each for each in EXPORTS.values() if each.system == system.name]
        forms = [f"`{each.name}`" for each in exports]
        policies = dict.fromkeys(each.policies[0].value for each in exports)
        groups = dict.fromkeys(each.grouping.value for each in exports)
        stubbed = [f"`{module}`" for root in system.stubs for module in StubFinder(system.stubs).table(root)]
        cells = [", ".join(each) or "–" for each in (forms, policies, groups, stubbed)]
        lines.append(f"| `{system.name}` | {system.title} | {SHAPES[system.name]} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Conformance tests",
        "",
        "One conformance suite runs in an environment with the real package, through the package's own call path:",
        "",
        "- **export**: an exported reward gives the same numbers as in plaudit",
        "- **unscored**: a reward that hangs, raises or returns None does not stop the run; the policy for unscored "
        "samples applies",
        "- **groups**: a group reward gets whole groups, or is refused before the first sample",
        "- **import**: a reward of the package gives the same numbers in plaudit as in the package",
        "",
        "*contract*: the package was not run; the tests call the reward as its documentation describes.",
        "",
        "| system | version | date | what was run | import | export | groups | unscored |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in compat_rows():
        cells = [row.version, row.date, row.ran, row.imported, row.exported, row.groups, row.unscored]
        lines.append(f"| {row.system} | {' | '.join(each or '–' for each in cells)} |")
    return "\n".join([*lines, ""])
