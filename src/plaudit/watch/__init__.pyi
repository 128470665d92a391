from .following import watch_run as watch_run
from .measures import Measures as Measures
from .measures import measure as measure
from .reward_watch import Look as Look
from .reward_watch import RewardWatch as RewardWatch
from .signs import SIGNS as SIGNS
from .signs import Sign as Sign
