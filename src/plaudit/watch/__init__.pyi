from .reward_watch import Look as Look
from .reward_watch import RewardWatch as RewardWatch
from .reward_watch import watch_run as watch_run
from .signs import SIGNS as SIGNS
from .signs import Sign as Sign
