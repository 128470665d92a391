"""What a watch sees in the rollouts of a run, from training and from a file."""

import random

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.cli import main
from plaudit.errors import InvalidSettings
from plaudit.report.advice import FAULTS, remarks
from plaudit.rollouts import Rollout
from plaudit.watch import RewardWatch, watch_run

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "haven",
    "inlet",
    "jetty",
    "knoll",
    "ledge",
    "marsh",
    "north",
    "ocean",
    "plain",
]


def step_rollouts(step, write):
    """Four groups of four; `write(group, place)` gives response and reward."""
    rollouts = []
    for group in range(4):
        for place in range(4):
            response, reward = write(group, place)
            trajectory = Trajectory(
                prompt=f"prompt {step} {group}", response=response, group=f"{step}-{group}", training_step=step
            )
            rollouts.append(Rollout(trajectory, RewardOutput(reward, score=float(reward > 0.5))))
    return rollouts


def varied(step):
    def write(group, place):
        chosen = random.Random(100 * step + 10 * group + place).sample(WORDS, 8)
        return " ".join(chosen), float((step + group + place) % 2)

    return step_rollouts(step, write)


def names(look):
    return {sign.name for sign in look.signs}


def watch_steps(make, steps=range(1, 7), **settings):
    watch = RewardWatch(every=2, window=2, **settings)
    return [look for step in steps if (look := watch.observe(step, make(step))) is not None]


def test_an_ordinary_run_shows_no_sign():
    assert [names(look) for look in watch_steps(varied)] == [set()] * 3


def test_equal_rewards_in_all_groups_are_dead_groups_whatever_their_scale():
    looks = watch_steps(lambda step: step_rollouts(step, lambda group, place: (WORDS[place], group - 1000.0)))
    assert "dead groups" in names(looks[0])


def test_one_response_under_every_prompt_is_a_copy():
    same = " ".join(WORDS[:8])
    looks = watch_steps(lambda step: step_rollouts(step, lambda group, place: (same, float(place % 2))))
    assert "copies" in names(looks[-1])


def answered(step, truth_of):
    """Nearly all responses are "yes" and judged right."""
    rollouts = []
    for group in range(8):
        for place in range(4):
            right = (group, place) != (0, 0)
            trajectory = Trajectory(
                f"prompt {step} {group}",
                "yes" if right else "no",
                ground_truth=truth_of(group),
                group=f"{step}-{group}",
                training_step=step,
            )
            rollouts.append(Rollout(trajectory, RewardOutput(float(right), score=float(right))))
    return rollouts


def test_a_policy_that_has_solved_its_prompts_shows_no_sign():
    looks = watch_steps(lambda step: answered(step, lambda group: "yes"))
    assert [names(look) for look in looks] == [set()] * 3


def test_one_answer_that_is_right_for_different_truths_is_a_copy():
    looks = watch_steps(lambda step: answered(step, lambda group: f"truth {group}"))
    assert [names(look) for look in looks] == [{"copies"}] * 3


def lettered(step, reward_of):
    """Answers from a small set to prompts with four truths, without scores; half of the answers are right."""
    rollouts = []
    for group in range(8):
        truth = "ABCD"[group % 4]
        for place in range(4):
            answer = truth if place < 2 else "ABCD"[(group + place) % 4]
            trajectory = Trajectory(
                f"prompt {step} {group}", answer, ground_truth=truth, group=f"{step}-{group}", training_step=step
            )
            rollouts.append(Rollout(trajectory, RewardOutput(reward_of(answer, truth))))
    return rollouts


def test_wrong_answers_from_a_small_set_are_no_copies():
    looks = watch_steps(lambda step: lettered(step, lambda answer, truth: float(answer == truth)))
    assert [names(look) for look in looks] == [set()] * 3


def test_answers_without_scores_that_are_paid_for_different_truths_are_copies():
    looks = watch_steps(lambda step: lettered(step, lambda answer, truth: float(answer in f"AB{truth}")))
    assert "copies" in names(looks[-1])


def test_prompts_that_are_solved_are_no_sign_without_scores_either():
    def solved(step):
        return [Rollout(sample, RewardOutput(output.reward)) for sample, output in answered(step, lambda group: "yes")]

    assert [names(look) for look in watch_steps(solved)] == [set()] * 3


def test_length_counts_only_where_it_pays_and_grows():
    def growing(step):
        def write(group, place):
            return " ".join([WORDS[place]] * (place + 1) * step * step), 0.1 * place

        return step_rollouts(step, write)

    looks = watch_steps(growing)
    assert "length" not in names(looks[0])
    assert "length" in names(looks[-1])


def test_a_sign_is_new_once_and_stops_a_run_when_it_lasts():
    looks = watch_steps(
        lambda step: step_rollouts(step, lambda group, place: (WORDS[place], 0.0)), stop_on=["dead groups"]
    )
    assert [bool(look.new) for look in looks] == [True, False, False]
    assert [look.stop is not None for look in looks] == [False, False, True]


def test_an_unknown_sign_is_refused_with_a_hint():
    with pytest.raises(InvalidSettings, match="did you mean 'length'"):
        RewardWatch(stop_on=["lenght"])


def test_a_file_gives_the_same_looks_as_training(tmp_path, capfd):
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(b"".join(rollout.to_line() for step in range(1, 7) for rollout in varied(step)))
    read = list(watch_run(tmp_path, RewardWatch(every=2, window=2)))
    assert read == watch_steps(varied)
    with pytest.raises(SystemExit) as exited:
        main(["watch", str(tmp_path), "--every", "2"])
    assert exited.value.code == 0
    assert "no sign" in capfd.readouterr().out


def lines(rollouts):
    return b"".join(rollout.to_line() for rollout in rollouts)


def test_a_run_that_was_cut_back_by_a_resume_is_read_from_its_start(tmp_path, monkeypatch):
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(lines(rollout for step in range(1, 7) for rollout in varied(step)))
    waits = []

    def resume_training(_):
        waits.append(None)
        if len(waits) == 1:  # cut back to step 4, then steps with equal rewards
            equal = [step_rollouts(step, lambda group, place: (WORDS[place], 0.0)) for step in (5, 6, 7, 8)]
            path.write_bytes(lines(rollout for step in range(1, 5) for rollout in varied(step)))
            path.write_bytes(path.read_bytes() + lines(rollout for listed in equal for rollout in listed))

    monkeypatch.setattr("plaudit.watch.reward_watch.time.sleep", resume_training)
    looks = list(watch_run(path, RewardWatch(every=2, window=2), follow=True, is_over=lambda: len(waits) == 2))
    assert [look.step for look in looks] == [2, 4, 2, 4, 6, 8]
    assert "dead groups" in names(looks[-1])


def test_a_last_line_without_newline_counts_when_the_file_is_complete(tmp_path):
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(lines(varied(2)).rstrip(b"\n"))
    (look,) = watch_run(path, RewardWatch(every=2))
    assert look.figures.summary.count == len(varied(2))


def test_a_sign_has_the_limit_of_the_report():
    (look, *_) = watch_steps(lambda step: step_rollouts(step, lambda group, place: (WORDS[place], 0.0)))
    (sign,) = (sign for sign in look.signs if sign.name == "dead groups")
    remark = next(remark for remark in remarks(look.figures) if remark.topic == "groups")
    assert (sign.limit, sign.remedy) == (FAULTS["dead groups"].limit, remark.advice)
    assert remark.text.startswith(sign.message)


def failing_from(first_step):
    """Rollouts of which, from a step on, three of four raise an error."""

    def make(step):
        failed = RewardOutput.unscored(Status.ERROR, "ValueError: too long")
        return [
            Rollout(each.trajectory, failed if step >= first_step and index % 4 else each.output)
            for index, each in enumerate(varied(step))
        ]

    return make


def test_a_policy_that_moves_to_where_it_cannot_be_scored_is_named_with_the_reason():
    looks = watch_steps(failing_from(5))
    assert [names(look) & {"unscored"} for look in looks] == [set(), set(), {"unscored"}]
    (sign,) = (sign for sign in looks[-1].signs if sign.name == "unscored")
    assert "the policy moves to where it cannot be scored: 75% of the latest samples" in sign.message
    assert "error: ValueError: too long" in sign.message


def test_a_constant_share_of_unscored_samples_is_no_drift():
    assert not any("unscored" in names(look) for look in watch_steps(failing_from(0)))


def test_copies_are_not_called_paid_where_every_reward_is_the_same():
    same = " ".join(WORDS[:8])
    looks = watch_steps(lambda step: step_rollouts(step, lambda group, place: (same, 0.0)))
    (sign,) = (sign for sign in looks[-1].signs if sign.name == "copies")
    assert "paid" not in sign.remedy
    assert "check that the reward reads the prompt" in sign.remedy
