from .launch import Launch as Launch
from .launch import plan_launch as plan_launch
from .launch_files import Machines as Machines
