"""Find a digit from 1 to 9 in four guesses: "<" says that it is smaller than the guess, ">" that it is larger."""

from typing import Any

from plaudit.agents import AgentInstance as Environment

GUESSES = 4


class AgentInstance(Environment):
    """One game. A hit earns 1, less a tenth for every guess before it; a miss at the end earns nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.guesses = 0

    async def reset(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {"observation": states["observation"]}

    async def step(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        self.guesses += 1
        guess, wanted = states["action_text"], states["label"]
        hit = guess == wanted
        return {
            "rewards": 1.1 - self.guesses / 10 if hit else 0.0,
            "scores": float(hit),
            "environment_feedback": "" if hit else "<" if guess > wanted else ">",
            "done": hit or self.guesses == GUESSES,
            "extra_logs": {"guesses": self.guesses},
        }
