from .app.access import read_tokens as read_tokens
from .server import RewardServer as RewardServer
from .server import ServerThread as ServerThread
from .server import serve_until_signalled as serve_until_signalled
from .settings import HttpLimits as HttpLimits
from .settings import ReplicaScale as ReplicaScale
from .settings import ServerSettings as ServerSettings
