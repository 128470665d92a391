"""Rewards that call an endpoint: bounded, paced, tried again, and quick to give up on one that is down."""
