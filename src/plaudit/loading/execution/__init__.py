"""Execute a file of the user, and refuse rewards that need what could not be executed."""
