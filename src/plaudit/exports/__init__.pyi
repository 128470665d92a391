from .exporting import Shim as Shim
from .exporting import export as export
from .exporting import write_shim as write_shim
