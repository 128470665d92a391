import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from plaudit import RewardFunction, RewardOutput, Status, Tokens, Trajectory, score
from plaudit.contract.alignment import token_rewards_of, word_spans, words_to_tokens
from plaudit.errors import InvalidOutput

CORPUS = ["the quick brown fox", "jumps over the lazy dog", "because therefore example", "naïve café 数学"] * 5


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    made = Tokenizer(models.BPE(unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    )
    return made


class GoodWords(RewardFunction):
    def __init__(self, good: list[str], amount: float = 0.1) -> None:
        self.good, self.amount = good, amount

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        token_rewards = [self.amount if word in self.good else 0.0 for word in trajectory.response.split()]
        return RewardOutput(sum(token_rewards), token_rewards)


def tokenized(tokenizer: Tokenizer, response: str) -> Trajectory:
    encoded = tokenizer.encode(response)
    return Trajectory(prompt="p", response=response, tokens=Tokens(ids=encoded.ids, offsets=encoded.offsets))


def test_a_words_reward_lands_on_the_token_that_completes_it(tokenizer):
    trajectory = tokenized(tokenizer, "the zebra jumps because")
    [output] = score(GoodWords(["zebra", "because"]), [trajectory])
    rewards = token_rewards_of(output, trajectory)
    pieces = [trajectory.response[start:end] for start, end in trajectory.tokens.offsets]
    assert len(rewards) == len(trajectory.tokens)
    assert sum(rewards) == pytest.approx(0.2)
    paid = [i for i, value in enumerate(rewards) if value]
    assert "".join(pieces[: paid[0] + 1]) == "the zebra"
    assert "".join(pieces[: paid[1] + 1]) == "the zebra jumps because"


@given(st.text(max_size=60))
def test_the_sum_is_kept_for_any_text_and_any_cut_into_tokens(text):
    values = [float(i + 1) for i in range(len(text.split()))]
    for size in (1, 3, 7):
        offsets = [(start, min(start + size, len(text))) for start in range(0, len(text), size)]
        assert sum(words_to_tokens(text, values, offsets)) == pytest.approx(sum(values))


@given(st.text(max_size=60))
def test_word_spans_are_the_words_of_split(text):
    assert [text[start:end] for start, end in word_spans(text)] == text.split()


@pytest.mark.parametrize(
    ("offsets", "word_values", "message"),
    [
        ([(0, 2)], [1.0, 1.0], "no token covers character 3"),
        ([(0, 2), (2, 4)], [1.0], "1 word rewards for a response of 2 words"),
    ],
)
def test_offsets_that_miss_a_word_are_an_error(offsets, word_values, message):
    with pytest.raises(InvalidOutput, match=message):
        words_to_tokens("ab c", word_values, offsets)


def test_token_rewards_of_wrong_length_are_an_error_that_names_reward_and_sample():
    class Off(RewardFunction):
        def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
            return RewardOutput(0.0, [0.0], token_unit=trajectory.metadata["unit"])

    samples = [
        Trajectory(prompt="p", response="two words", id="a", metadata={"unit": "word"}),
        Trajectory(prompt="p", response="two words", metadata={"unit": "token"}),
        Trajectory(prompt="p", response="two words", metadata={"unit": "token"}, tokens=Tokens(ids=[1, 2, 3])),
    ]
    outputs = score(Off(), samples)
    assert [output.status for output in outputs] == [Status.ERROR] * 3
    assert "Off: 1 token rewards for a response of 2 words" in outputs[0].reason
    assert "carries no tokens" in outputs[1].reason
    assert "1 token rewards for a response of 3 tokens" in outputs[2].reason


def test_composites_add_token_rewards_and_mix_words_with_tokens(tokenizer):
    class PerToken(RewardFunction):
        def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
            count = len(trajectory.tokens)
            return RewardOutput(1.0, [1.0 / count] * count, token_unit="token")

    trajectory = tokenized(tokenizer, "the fox because")
    [words] = score(2 * GoodWords(["fox"]) + GoodWords(["because"]), [trajectory])
    assert words.token_rewards == pytest.approx([0.0, 0.2, 0.1])
    [mixed] = score(GoodWords(["fox"]) + 3 * PerToken(), [trajectory])
    assert mixed.token_unit == "token"
    assert sum(mixed.token_rewards) == pytest.approx(3.1)


def test_mixing_words_with_tokens_without_offsets_says_what_is_missing():
    class PerToken(RewardFunction):
        def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
            return RewardOutput(1.0, [1.0], token_unit="token")

    [output] = score(GoodWords(["fox"]) + PerToken(), [Trajectory(prompt="p", response="fox", tokens=Tokens(ids=[1]))])
    assert output.status is Status.ERROR
    assert "offsets" in output.reason
