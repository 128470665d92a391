"""Handling of requests by the server: access, limits, order and metrics."""
