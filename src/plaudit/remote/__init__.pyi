from .reward import RemoteReward as RemoteReward
from .reward import open_remote as open_remote
