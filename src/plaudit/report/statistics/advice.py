"""What to do about what a report shows, by the state of each of its parts; a state that is not here needs nothing."""

__all__ = ["ADVICE"]

ADVICE = {
    "rewards.none": "Read the reasons under “Not scored”, and fix the reward or the data.",
    "rewards.constant": "Nothing can be learnt from it: check that the reward reads the column you mean.",
    "rewards.saturated": "Raise the difficulty, or add partial credit: once most rewards are equal, the reward no "
    "longer separates responses.",
    "statuses.some": "Open the first sample of each kind. Unscored samples are excluded from training: fix the most "
    "common causes.",
    "components.one": "The other components teach nothing now: drop them, or look why they are constant.",
    "components.rough": "The shares of gates, products and changing weights are rough: read them beside the means.",
    "components.dominant": "The policy learns little else. If that is not meant, put the components on one scale "
    "before they are weighted (normalisers), or lower its weight.",
    "components.opposed": "A negative share means that earning it costs more elsewhere: decide which of the two you "
    "want.",
    "groups.phantom": "These groups teach form, not correctness: gate the other components on the score, or filter "
    "groups by their scores (filter.by=mean).",
    "groups.dead": "Change the mix of prompts, or filter groups (filter.by=spread), so that others are sampled in "
    "their place.",
    "pass_rates.alike": "More samples per prompt help little, so the responses to a prompt are much alike: raise the "
    "temperature, or take easier prompts.",
    "pass_rates.hard": "Add easier prompts, demonstrations or partial credit: a prompt that is never solved teaches "
    "nothing.",
    "pass_rates.easy": "Add harder prompts: most of these are solved already.",
    "length.wrong": "A wrong answer must not gain by its length: gate or clip what pays for it.",
    "length.biased": "If that is not meant, add a length term (plaudit.shaping), or take the length out of the "
    "component that pays for it.",
    "curves.apart": "Something else than correctness is being learnt: read late samples of high reward, and run "
    "plaudit audit on the reward.",
    "curves.changed": "Make sure that a held-out evaluation changes in the same way.",
    "curves.moved": "Read early and late samples: what changes while the reward stays is not what is trained for.",
    "phrases.some": "Read responses with and without it: a phrase that means nothing for the task is paid by accident.",
    "patterns.some": "Start with the most common pattern: it is either what the policy cannot do yet, or what the "
    "reward misreads.",
    "duplicates.across": "Different prompts get the same answer: check that the reward reads the prompt and the ground "
    "truth.",
    "duplicates.within": "Little variety is left within groups: raise the temperature, or stop here.",
    "latency.uneven": "A few slow samples hold up whole batches: set a deadline, and look at the slowest ones.",
}
