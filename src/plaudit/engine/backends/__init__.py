"""Where samples are scored: in this process, on worker processes, on a Ray cluster."""
