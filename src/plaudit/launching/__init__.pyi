from .launch import plan_launch as plan_launch
from .sheet import Launch as Launch
from .sheet import Machines as Machines
