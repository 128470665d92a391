"""HumanEval and MBPP in split mode: right solutions pass, wrong ones do not."""

import ast

import pytest

from plaudit import Trajectory
from plaudit.rewards import CodeReward
from plaudit.sandbox import CallStatus, Job, RunLimits, Sandbox, read_suite, shared_pool
from tests.parts import part
from tests.shared_data import humaneval, mbpp

TOO_SLOW = 1  # one problem of MBPP computes for longer than any sensible limit


def truth(problem):
    return {"tests": problem["test"], "entry_point": problem["entry_point"], "prompt": problem["prompt"]}


@pytest.fixture(scope="module")
def problems():
    return humaneval()


def test_every_canonical_solution_of_humaneval_passes(problems):
    samples = [
        Trajectory(prompt=problem["prompt"], response=problem["canonical_solution"], ground_truth=truth(problem))
        for problem in problems
    ]
    outputs = CodeReward().compute_rewards(samples)
    failed = {p["task_id"]: o.reason for p, o in zip(problems, outputs, strict=True) if o.reward != 1.0}
    assert failed == {}


def test_solutions_of_mbpp_pass_but_for_one_that_is_too_slow():
    problems = [problem for problem in mbpp() if part([str(problem["task_id"])], 4)]
    samples = [
        Trajectory(
            prompt="?",
            response=f"```python\n{problem['code']}\n```",
            ground_truth={"tests": problem["test_list"], "test_imports": problem["test_imports"]},
        )
        for problem in problems
    ]
    outputs = CodeReward(cpu_s=1.0).compute_rewards(samples)
    failed = {p["task_id"]: o.reason for p, o in zip(problems, outputs, strict=True) if o.reward != 1.0}
    assert len(failed) <= TOO_SLOW, failed


SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
         ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And}  # fmt: skip


def mutants(source, at_most):
    """The source with one operator or constant changed, at places spread over it."""
    places = [
        index
        for index, node in enumerate(ast.walk(ast.parse(source)))
        if type(node) in SWAPS or (isinstance(node, ast.Constant) and type(node.value) is int)
    ]
    for index in places[:: max(1, len(places) // at_most)][:at_most]:
        tree = ast.parse(source)
        yield ast.unparse(ast.fix_missing_locations(Change(list(ast.walk(tree))[index]).visit(tree)))


class Change(ast.NodeTransformer):
    """Changes one node, an operator or a constant."""

    def __init__(self, target):
        self.target = target

    def visit(self, node):
        if node is not self.target:
            return self.generic_visit(node)
        return SWAPS[type(node)]() if type(node) in SWAPS else ast.Constant(node.value + 1)


def test_mutated_solutions_get_the_verdict_they_would_get_in_one_process(problems):
    """Honest wrong programs are judged alike by tests beside them and by tests apart from them."""
    limits = RunLimits(cpu_s=0.5)
    jobs = [
        (
            Job(source, [read_suite(truth(problem))], limits),
            f"{source}\n{problem['test']}\ncheck({problem['entry_point']})\n",
        )
        for problem in problems[::5]
        if problem["prompt"].count("def ") == 1  # a mutated helper of the prompt would change the tests beside it
        for source in mutants(problem["prompt"] + problem["canonical_solution"], at_most=3)
    ]
    apart = [verdict.passed for verdict in shared_pool().judge_all([job for job, _ in jobs])]
    with Sandbox(limits=limits) as sandbox:
        beside = [passes_in_one_process(sandbox, text) for _, text in jobs]
    differing = [job[0].source for job, one, other in zip(jobs, apart, beside, strict=True) if one != other]
    assert differing == []
    assert sum(apart) < 0.25 * len(jobs), "nearly all mutants are caught"


def passes_in_one_process(sandbox, text):
    with sandbox.open() as program:
        return program.load(text).status is CallStatus.RETURNED
