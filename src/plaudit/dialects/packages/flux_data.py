"""Trajectories with the attributes that Flux's rewards read."""

from plaudit.trajectory import Trajectory


class FluxTrajectory(Trajectory, frozen=True):
    """A trajectory with what Flux's rewards read besides prompt and response; lengths count tokens, 0 without any."""

    @property
    def response_tokens(self) -> list[int]:
        """The ids of the response's tokens."""
        return [] if self.tokens is None else self.tokens.ids

    @property
    def response_length(self) -> int:
        """The number of tokens of the response; 0 where it is not known."""
        return len(self.response_tokens)

    @property
    def prompt_length(self) -> int:
        """0: the prompt's tokens are not known here."""
        return 0

    @property
    def group_id(self) -> str | None:
        """The group, as text."""
        return None if self.group is None else str(self.group)
