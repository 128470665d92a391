"""What is public: the names that `plaudit` and its first-level packages list, and no others."""

import importlib
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import plaudit

ROOT = Path(__file__).parent.parent

PUBLIC: dict[str, set[str]] = {
    "plaudit": {
        "CompositeReward", "FunctionReward", "RewardFunction", "RewardOutput", "Scorer", "Status", "Step", "Tokens",
        "Trajectory", "__version__", "agents", "audit", "calibration", "checks", "ci", "compose", "diff", "engine",
        "errors", "examples", "export", "exports", "hacks", "harbor", "install_stubs", "judges", "labels", "launching",
        "load", "loading", "models", "normalize", "remote", "report", "reward", "rewards",
        "rollouts", "sandbox", "schedules", "score", "serving", "shaping", "testing", "token_rewards_of", "training",
        "verify", "watch", "worlds",
    },
    "plaudit.agents": {
        "Action", "ActionRequest", "ActionSampler", "ActionStates", "Agent", "AgentExecutor", "AgentInstance",
        "Calculator", "CharacterTokenizer", "CodeFeedback", "ContinuousSampler", "ENVIRONMENTS", "Environment",
        "EnvironmentHost", "Episode", "EpisodeLimits", "EpisodeStart", "Example", "HostedEnvironment", "LocalHost",
        "MalformedCall", "MathRetries", "Player", "ProcessHost", "SamplingParams",
        "Segment", "StepResult", "ToolCall", "ToolEnvironment", "TreasureHunt",
        "build_environment", "get_param", "parse_tool_calls", "play_episode",
    },
    "plaudit.audit": {
        "AttackFinding", "Attacker", "AuditReport", "Budget", "Level", "Transcript", "Witness", "audit_environment",
        "audit_reward", "examples_of", "play_actions",
    },
    "plaudit.calibration": {
        "Agreement", "Calibration", "CorrectedMean", "JudgeIdentity", "Label", "Labels", "Measure", "PairedTest",
        "Transcript", "calibrate", "correct_mean", "identify", "labels_of_column", "measure_agreement",
        "read_certificate", "read_labels", "require_certificates", "sample_key", "write_certificate",
        "write_labelling_page",
    },
    "plaudit.checks": {
        "NumberCheck", "check_answer", "check_correctness", "check_format", "check_numbers", "close_match",
        "evaluate_clarity", "evaluate_completeness", "evaluate_conciseness", "evaluate_correctness",
        "evaluate_format", "evaluate_relevance", "exact_match", "extract_number", "has_hallucination",
        "has_reasoning_steps", "is_correct", "is_partially_correct", "match_format_exactly",
    },
    "plaudit.ci": {
        "CiReport", "MutationScore", "Project", "STEPS", "StepResult", "measure_mutations", "read_project",
        "require_lock", "run_ci", "write_comment", "write_lock",
    },
    "plaudit.compose": {
        "TaskReward", "bonus", "cautious", "gdpo", "lexicographic", "maximum", "median", "minimum", "product",
    },
    "plaudit.diff": {
        "Difference", "Disagreement", "GroupDifference", "Sides", "compare_files",
        "compare_pairs", "compare_rewards", "pair_files", "pair_rewards",
    },
    "plaudit.engine": {
        "Cache", "DatasetSummary", "EndpointPolicy", "Scorer", "ScorerStats", "Usage", "guarded",
        "reward_key", "score", "score_dataset",
    },
    "plaudit.errors": {
        "AgentError", "CacheError", "CasesError", "DataError", "InvalidAdvantage", "InvalidOutput",
        "InvalidSettings", "InvalidTrajectory", "MissingGroundTruth", "MissingPackage", "PlauditError", "PolicyError",
        "RewardNotLoaded", "RolloutsError", "SamplingFailed", "SandboxError", "ScoringFailed", "TrainingError",
        "TransientError", "did_you_mean", "require",
    },
    "plaudit.examples": {
        "gsm8k_rollouts",
    },
    "plaudit.exports": {"Shim", "export", "write_shim"},
    "plaudit.hacks": {
        "Exercise", "Hack", "HackRun", "audit_hack", "build_config", "find_hack", "find_onset", "list_hacks",
        "measure_run", "train_hack",
    },
    "plaudit.harbor": {
        "CannotRun", "HostImage", "Runtime", "Solution", "Task", "TaskFinding", "TaskReport", "TaskRunner", "Trial",
        "Workspace", "audit_task", "check_task", "export_tests", "find_tasks", "read_task", "read_trials", "run_task",
        "verify_job",
    },
    "plaudit.judges": {
        "ChatEndpoint", "Criterion", "Example", "JudgePanel", "LLMJudge", "Rubric", "RubricReward",
    },
    "plaudit.loading": {
        "Listing", "Loaded", "available", "find_agent", "listing_of", "load", "load_agent", "resolve", "spec_using",
    },
    "plaudit.models": {
        "LikelihoodReward", "PipelineReward", "ProcessRewardModel", "RewardModel", "SimilarityReward",
    },
    "plaudit.normalize": {
        "GroupNormalizer", "MinMaxNormalizer", "Moments", "Normalizer", "QuantileNormalizer", "RankNormalizer",
        "RunningNormalizer", "Scaled", "Scope", "ZScoreNormalizer", "normalizer",
    },
    "plaudit.report": {
        "Agreement", "AgreementBuilder", "Bin", "Breakdown", "BreakdownBuilder", "Condition", "Distribution",
        "Failure", "Figures", "GroupSummary", "Latency", "Level", "MAX_BYTES", "Pick", "PickedSample", "Remark",
        "ReportedRun", "SampleTable", "Selection", "Slice", "Summary", "ViewServer", "build_report", "collect_figures",
        "describe_batch", "pick_samples", "remarks", "render_analysis", "summarize", "summary_of", "write_page",
    },
    "plaudit.rewards": {
        "BoxesReward", "CitationsReward", "QuotesReward", "CountReward", "IfBenchReward", "PointsReward",
        "AutoReward", "BUILT_INS", "CheckNumbersReward", "ChoiceReward", "CodeReward", "ContainsReward",
        "ContinuousReward", "CountdownReward", "FormatReward", "GraduatedReward", "IfEvalReward", "IfTrainReward",
        "KeywordReward", "KnightsKnavesReward", "LanguageReward", "LengthReward", "LengthTargetReward", "MathReward",
        "McqReward", "MultiAspectReward", "QaReward", "QuantityReward", "RegexReward", "RepetitionPenalty",
        "SqlReward", "StructuredOutputReward", "SudokuReward", "TableF1Reward", "TemplateReward",
        "TextSimilarityReward", "ToolCallReward",
        "VerifierReward", "WerReward", "WordReward",
    },
    "plaudit.remote": {
        "RemoteReward", "open_remote",
    },
    "plaudit.rollouts": {
        "BadLine", "Completed", "Mode", "Rollout", "RolloutsReader", "RolloutsWriter", "RunRecord",
        "ScoredRollout", "read_completed", "read_rollouts", "record_path", "rest_of", "to_arrow",
        "to_pandas",
    },
    "plaudit.sandbox": {
        "AssertSuite", "CallSuite", "RunStatus", "Diagnosis", "CallStatus", "FLAVOURS",
        "FileSuite", "Job", "JudgePool", "NotPlain", "Opaque", "Outcome", "Program", "Protection",
        "Protections", "Raised", "RunLimits", "Sandbox", "StreamSuite", "Suite", "TestResult", "Tier",
        "Verdict", "diagnose", "read_suite", "shared_pool",
    },
    "plaudit.serving": {
        "RayDeployment", "ReplicaScale", "RewardServer", "ServerSettings", "ServerThread", "read_tokens",
        "serve_on_ray", "serve_until_signalled",
    },
    "plaudit.schedules": {
        "CosineSchedule", "LinearSchedule", "PiecewiseSchedule", "Schedule",
    },
    "plaudit.shaping": {
        "CosineLength", "GroupLength", "HallucinationPenalty", "LengthPenalty", "PotentialShaping",
        "ReasoningBonus", "SoftOverlong",
    },
    "plaudit.testing": {
        "Case", "CaseResult", "CaseTable", "Finding", "Rule", "Severity", "assert_cases", "check_env", "check_reward",
        "load_cases", "run_cases",
    },
    "plaudit.labels": {
        "AnswerGroup", "Decision", "FindingKind", "GivenAnswer", "LabelFinding", "LabelReport", "MASK_COLUMN",
        "build_cases", "build_patch", "examine", "group_answers", "masked_rollouts", "read_decisions", "write_page",
    },
    "plaudit.launching": {"Launch", "Machines", "plan_launch"},
    "plaudit.training": {
        "ADVANTAGES", "Advantage", "OtherLogprobs", "BatchCredit", "Credit", "DrGRPOAdvantage", "EndpointSampler",
        "EpisodeSampler", "EpisodeScorer", "EvalConfig", "EvaluatedTask", "GAEAdvantage",
        "GDPOAdvantage", "FilterConfig", "GRPOAdvantage", "LOSSES", "Levels", "LossSettings",
        "MaxRLAdvantage", "OPOAdvantage", "Outcome", "PassAtKAdvantage", "Policy", "Progress", "PromptTemplate",
        "Prompts", "RLOOAdvantage", "ReinforceAdvantage", "ReinforceBaselineAdvantage", "RunConfig", "Sampler",
        "Samples", "SamplingSettings", "TASKS", "Task", "TextPolicySampler", "TrainedModel",
        "TransformersSampler", "VLLMSampler",
        "ModelConfig", "add_lora", "episode_reward",
        "evaluate", "evaluate_model", "filter_groups",
        "find_task", "load_config",
        "load_policy", "load_run_task", "load_task", "merge_model", "open_model", "pad_advantages", "pass_at_k",
        "BuiltPairs", "Estimate", "LengthReport", "LengthVerdict", "PairCounts", "PairSet",
        "PairSettings", "PreferencePair", "RatedPair", "RewardModelConfig", "RewardModelReport",
        "TrainedRewardModel", "build_pairs", "load_reward_model_config", "policy_loss", "read_pairs",
        "read_prompts", "reasoning_task_names", "tiny_policy", "token_weights", "train",
        "train_reward_model", "trl_rollout_func", "warm_start",
    },
    "plaudit.verify": {
        "Boxes", "Citations", "Quotes", "Count", "IfBench", "Points",
        "Answer", "Card", "Choice", "Contains", "Countdown", "Extraction", "IfEval", "IfTrain", "KnightsKnaves",
        "Language", "LengthTarget", "MathPolicy", "MathVerdict", "Mcq", "Measurement", "Method", "Names", "Percent",
        "Qa", "Quantity", "Regex", "Rejection", "Source", "Sql", "Structured", "Sudoku", "TableF1", "ToolCalls",
        "Units", "Verdict", "VerdictStatus", "Verifier", "Wer", "decide", "extract", "load_card", "verify_math",
    },
    "plaudit.watch": {
        "Look", "RewardWatch", "SIGNS", "Sign", "watch_run",
    },
    "plaudit.worlds": {
        "Change", "Database", "EndedBy", "McpEnvironment", "McpEpisode", "ModelUser", "OrsEnvironment",
        "ScriptedUser", "StoredState", "Task", "ToolEvent", "Turn", "User", "WORLDS", "World", "build_bfcl_world",
        "build_mcp_environment", "build_ors_app", "build_ors_environment", "build_openenv_app", "call",
        "find_world", "states_value",
    },
}  # fmt: skip


@pytest.mark.parametrize("package", PUBLIC)
def test_a_package_lists_exactly_what_is_promised(package):
    listed = importlib.import_module(package).__all__
    assert set(listed) == PUBLIC[package]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("package", PUBLIC)
def test_every_name_that_is_listed_is_there(package):
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_every_first_level_package_is_pinned():
    packages = {name for name in plaudit.__all__ if isinstance(getattr(plaudit, name), ModuleType)}
    assert {f"plaudit.{name}" for name in packages} == set(PUBLIC) - {"plaudit"}


def test_a_misspelt_name_is_an_error():
    with pytest.raises(AttributeError, match="lod"):
        plaudit.lod  # noqa: B018
    with pytest.raises(ImportError, match="lod"):
        exec("from plaudit import lod")


@pytest.fixture(scope="module")
def user(tmp_path_factory) -> Path:
    """A user's folder with an environment that has the built wheel and the one package that its types rest on."""
    folder = tmp_path_factory.mktemp("user")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    venv.create(folder / "venv", with_pip=False)
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    [wheel] = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    (packages / "msgspec").symlink_to(Path(msgspec.__file__).parent)
    return folder


USERS_SCRIPT = """
import plaudit
from plaudit import RewardOutput, Trajectory, load, reward, score
from plaudit.rewards import LengthReward, MathReward


@reward
def brief(response: str) -> float:
    return 1.0 if len(response.split()) < 50 else 0.0


combined = 0.8 * MathReward() + 0.2 * LengthReward(target=60)
samples = [Trajectory(prompt="What is 2 + 2?", response="4", ground_truth="4")]
outputs: list[RewardOutput] = score(combined, samples)
value: float | None = outputs[0].reward
also: list[RewardOutput] = plaudit.score(load("math"), samples)
"""

MISTAKES = {
    "no_such_name": ("from plaudit import lod", 'Module "plaudit" has no attribute "lod"'),
    "no_such_attribute": ("import plaudit\nplaudit.scor", 'Module has no attribute "scor"'),
    "no_such_advantage": ("from plaudit.training import GRPOAdvantag", "GRPOAdvantag"),
    "no_such_field": ("from plaudit import Trajectory\nTrajectory(prompt='', response='').respons", '"respons"'),
    "wrong_type": ("from plaudit import RewardOutput\nRewardOutput('a lot')", "incompatible type"),
}


@pytest.fixture(scope="module")
def complaints(user) -> dict[str, str]:
    """What one run of mypy says of each script."""
    scripts = {"right": USERS_SCRIPT, **{name: line for name, (line, _) in MISTAKES.items()}}
    for name, script in scripts.items():
        (user / f"{name}.py").write_text(script)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", "venv/bin/python"]
    files = [f"{name}.py" for name in scripts]
    said = subprocess.run([*command, *files], cwd=user, capture_output=True, text=True).stdout
    assert f"(checked {len(scripts)} source files)" in said
    return {name: "\n".join(re.findall(rf"^{name}\.py:.*", said, re.MULTILINE)) for name in scripts}


def test_a_users_script_passes_strict_type_checks_against_the_wheel(complaints):
    assert complaints["right"] == ""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_users_script_is_a_type_error(complaints, name):
    assert MISTAKES[name][1] in complaints[name]
