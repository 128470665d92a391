"""Settings of all tests. Helper modules are imported by their full names, as in `from tests.shared_data import rows`.

`pytester` runs pytest inside tests: the plug-in is tested as users meet it. What takes long is marked `slow`, so that
`make quick` leaves it out, and goes first in `make test`, so that at the end no worker waits for the other.
"""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from plaudit.models.cpu_precision import limit_instructions
from tests.browser import NO_CHROMIUM, find_chromium
from tests.scheduling import file_scheduling

pytest_plugins = ["pytester"]

# Tests share the cores: a small model is no faster on several threads, and Ray's workers would wait for all others.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAY_worker_niceness", "0")
# Ray Data's usage poller stays behind as a thread that logs tracebacks for ever; CPython 3.11 then fails to parse
# elsewhere ("AST constructor recursion depth mismatch"), as formatting a traceback parses too.
os.environ.setdefault("RAY_DATA_USAGE_DISABLED", "1")

limit_instructions()  # before a test file imports torch: workers and child processes inherit the limit

settings.register_profile("plaudit", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
settings.load_profile("plaudit")

# Files that share one Ray (`local_ray` of tests/engine/conftest.py). To start one costs more than most of these tests.
SHARING_RAY = (
    "tests/engine/backends/test_ray_backend.py",
    "tests/engine/test_scorer_contract.py",
    "tests/engine/test_datasets.py",
)

# What trains, starts Ray, loads a language model, runs hundreds of programs or proves by brute force. The files that
# take longest are first, those that wait between those that compute: a file is one unit of work, and a long one at the
# end would be waited for.
# Chosen by what `--durations` shows: a test of more than about two seconds belongs here, or its file.
SLOW = (
    "tests/test_docs.py::test_every_example_of_the_page_runs",
    "tests/promises/test_matrix.py",
    "tests/promises/",
    "tests/audit/test_zoo.py",
    "tests/audit/test_recall_zoo.py",
    "tests/audit/test_environment_zoo.py",
    "tests/training/test_",
    "tests/sandbox/languages/",
    "tests/training/trl/",
    "tests/sandbox/test_harms.py",
    *SHARING_RAY,
    "tests/rewards/test_attacks.py::test_a_long_response_of_anything_is_scored",
    "tests/cli/test_output.py",
    "tests/cli/test_bad_input.py",
    "tests/serving/",
    "tests/harbor/",
    "tests/cli/scoring/test_score.py::test_a_killed_run_resumes",
    "tests/cli/scoring/test_score.py::test_colour_follows",
    "tests/cli/scoring/test_score.py::test_a_reader_that_leaves_early",
    "tests/training/model/",
    "tests/models/",
    "tests/training/reward_model/test_reward_model_training.py",
    "tests/training/test_episodes.py",
    "tests/training/test_filtering.py",
    "tests/training/test_prefetching.py",
    "tests/training/test_world_episodes.py",
    "tests/training/data/test_task_specs.py",
    "tests/training/data/test_tasks.py",
    "tests/training/sampling/",
    "tests/training/learning/test_against_trl.py",
    "tests/training/learning/test_critic.py",
    "tests/training/learning/test_optimizer.py",
    "tests/training/learning/test_token_rewards.py",
    "tests/training/learning/test_updater.py",
    "tests/training/config/test_option_table.py",
    "tests/training/test_checkpoint.py",
    "tests/training/test_disk_full.py",
    "tests/training/test_logs.py",
    "tests/launching/test_launch.py",
    "tests/launching/test_ray_jobs.py",
    "tests/engine/backends/test_ray_cluster.py",
    "tests/engine/test_faults.py",
    "tests/engine/test_streams.py::test_a_scorer_works_in_both_processes",
    "tests/engine/backends/test_worker_process.py",
    "tests/engine/caching/test_cache.py",
    "tests/engine/caching/test_cached_scores.py",
    "tests/judges/test_real_endpoint.py",
    "tests/calibration/test_",
    "tests/endpoint/",
    "tests/remote/",
    "tests/exports/test_export_in_trl.py",
    "tests/dialects/test_foreign_files.py",
    "tests/systems/test_twinkle_training.py",
    "tests/systems/test_agent_tunix_training.py",
    "tests/sandbox/child/",
    "tests/sandbox/test_not_covered.py",
    "tests/sandbox/judging/test_pool.py",
    "tests/sandbox/test_sandbox.py",
    "tests/rewards/test_forgeries.py",
    "tests/rewards/test_code_data_sets.py",
    "tests/rewards/test_code_languages.py",
    "tests/rewards/test_right_programs.py",
    "tests/rewards/test_data_set_rows.py",
    "tests/rewards/test_code_reward.py::test_any_response",
    "tests/rewards/test_code_reward.py::test_credit",
    "tests/rewards/test_code_reward.py::test_the_engine_scores_it",
    "tests/systems/test_openrlhf_code.py",
    "tests/sandbox/test_doctor.py",
    "tests/sandbox/judging/test_locked_judge.py",
    "tests/ci/test_running.py",
    "tests/ci/test_action.py",
    "tests/ci/test_agent_tools.py",
    "tests/ci/test_lock",
    "tests/ci/test_mutants.py::test_a_mutant_that_hangs",
    "tests/ci/test_mutants.py::test_survivors",
    "tests/cli/training/",
    "tests/cli/rewards/test_audit.py",
    "tests/cli/rewards/test_init.py",
    "tests/cli/system/test_run_code",
    "tests/cli/scoring/test_summary.py",
    "tests/cli/rewards/test_check_and_test.py::test_a_reward_that_hangs",
    "tests/testing/checking/",
    "tests/report/page/test_page_in_browser.py",
    "tests/labels/test_labels_in_browser.py",
    "tests/rollouts/test_parquet.py",
    "tests/rollouts/test_reading.py::test_reading_a_big_file",
    "tests/rollouts/test_writing.py::test_a_killed_writer",
    "tests/contract/test_alignment.py::test_the_sum_is_kept",
    "tests/verify/math/test_accuracy.py",
    "tests/test_scheduling.py",
    "tests/test_public_line.py::test_a_users_script",
    "tests/test_public_line.py::test_a_mistake",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadfile`, the files that share one Ray are one unit of work."""
    return file_scheduling([SHARING_RAY])(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing of what is collected ever goes: a garbage collection need not look at it, now or in a test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path, config):
    """The quick loop does not even import a slow file: many of them import torch, TRL or Ray.

    Tests in a browser need one.
    """
    if find_chromium() is None and collection_path.name.endswith("_in_browser.py"):
        return True
    if config.option.markexpr != "not slow":
        return None
    place = collection_path.relative_to(config.rootpath).as_posix() + ("/" if collection_path.is_dir() else "")
    return True if place.startswith(tuple(part for part in SLOW if "::" not in part)) else None


def pytest_terminal_summary(terminalreporter):
    """Say which tests could not run here, and what to do."""
    if find_chromium() is None:
        terminalreporter.write_line(NO_CHROMIUM, yellow=True)


def pytest_collection_modifyitems(items):
    """Mark the slow tests, and put them first."""
    files = {item.nodeid.partition("::")[0] for item in items}
    parts = {
        file: [(rank, part) for rank, part in enumerate(SLOW) if file.startswith(part) or part.startswith(f"{file}::")]
        for file in files
    }
    ranks = {item: _rank(item.nodeid, parts) for item in items}
    for item in items:
        if ranks[item] < len(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=ranks.__getitem__)


def _rank(nodeid, parts):
    """The place in SLOW of the first of its file's parts that names the test."""
    return next((rank for rank, part in parts[nodeid.partition("::")[0]] if nodeid.startswith(part)), len(SLOW))
