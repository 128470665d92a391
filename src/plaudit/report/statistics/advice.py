"""What to do about what a report shows, by the state of each of its parts."""

__all__ = ["ADVICE"]

_NOTHING = "Nothing to do."

ADVICE = {
    "rewards.none": "Read the reasons under “Not scored”, and mend the reward or the data.",
    "rewards.constant": "Nothing can be learnt from it: check that the reward reads the column you mean.",
    "rewards.saturated": "Raise the difficulty, or add partial credit: at its end, a reward tells responses apart no "
    "longer.",
    "rewards.good": "Compare the zeros with the samples that were not scored: a zero is a judgement, a failure is not.",
    "statuses.some": "Open the first sample of each kind. What is not scored is left out of training, so mend what is "
    "common.",
    "statuses.good": _NOTHING,
    "components.one": "The other components teach nothing now: drop them, or look why they are constant.",
    "components.rough": "The shares of gates, products and changing weights are rough: read them beside the means.",
    "components.dominant": "The policy learns little else. If that is not meant, put the components on one scale "
    "before they are weighted (normalisers), or lower its weight.",
    "components.opposed": "A negative share means that earning it costs more elsewhere: decide which of the two you "
    "want.",
    "components.good": "Weights say what was meant, shares what the policy feels: change the weights until both agree.",
    "groups.none": "Sample several responses per prompt: without a group there is nothing to compare.",
    "groups.phantom": "These groups teach form, not correctness: gate the other components on the score, or filter "
    "groups by their scores (filter.by=mean).",
    "groups.dead": "Change the mix of prompts, or filter groups (filter.by=spread), so that others are sampled in "
    "their place.",
    "groups.good": "Dead groups cost sampling and teach nothing; filter.by=spread samples others in their place.",
    "pass_rates.alike": "More samples per prompt help little, so the responses to a prompt are much alike: raise the "
    "temperature, or take easier prompts.",
    "pass_rates.hard": "Add easier prompts, demonstrations or partial credit: a prompt that is never solved teaches "
    "nothing.",
    "pass_rates.easy": "Add harder prompts: most of these are solved already.",
    "pass_rates.good": "Most is learnt from prompts that are solved about half of the time.",
    "length.wrong": "A wrong answer must not gain by its length: gate or clip what pays for it.",
    "length.biased": "If that is not meant, add a length term (plaudit.shaping), or take the length out of the "
    "component that pays for it.",
    "length.good": _NOTHING,
    "curves.apart": "Something else than correctness is being learnt: read late samples of high reward, and run "
    "plaudit audit on the reward.",
    "curves.changed": "Rising reward is what training is for; make sure that the score and a held-out evaluation rise "
    "with it.",
    "curves.moved": "Read early and late samples: what changes while the reward stays is not what is trained for.",
    "curves.good": "If the reward should rise by now, look at dead groups and at the learning rate.",
    "phrases.some": "Read responses with and without it: a phrase that means nothing for the task is paid by accident.",
    "phrases.good": _NOTHING,
    "patterns.some": "Start with the most common pattern: it is either what the policy cannot do yet, or what the "
    "reward misreads.",
    "patterns.good": _NOTHING,
    "duplicates.across": "Different prompts get the same answer: check that the reward reads the prompt and the ground "
    "truth.",
    "duplicates.within": "Little variety is left within groups: raise the temperature, or stop here.",
    "duplicates.good": _NOTHING,
    "latency.uneven": "A few slow samples hold up whole batches: set a deadline, and look at the slowest ones.",
    "latency.good": "If training waits for rewards: more workers, a cache, or a shorter deadline.",
}
