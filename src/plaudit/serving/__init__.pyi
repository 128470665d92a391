from .app.access import read_tokens as read_tokens
from .ray_serve import RayDeployment as RayDeployment
from .ray_serve import serve_on_ray as serve_on_ray
from .server import RewardServer as RewardServer
from .server import ServerThread as ServerThread
from .server import serve_until_signalled as serve_until_signalled
from .settings import ReplicaScale as ReplicaScale
from .settings import ServerSettings as ServerSettings
