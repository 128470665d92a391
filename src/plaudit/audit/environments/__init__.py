"""Attacks on environments: policies that do not reach the goal, and what every environment must hold."""
