from .agents import load_agent as load_agent
from .building import Loaded as Loaded
from .catalog import Listing as Listing
from .catalog import available as available
from .catalog import listing_of as listing_of
from .expressions import spec_using as spec_using
from .resolving import load as load
from .resolving import resolve as resolve
