from .reward_watch import SIGNS as SIGNS
from .reward_watch import Look as Look
from .reward_watch import RewardWatch as RewardWatch
from .reward_watch import Sign as Sign
from .reward_watch import watch_run as watch_run
