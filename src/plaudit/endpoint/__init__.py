"""Rewards that call an endpoint: with limits on calls and rates, retries, and a circuit breaker."""
