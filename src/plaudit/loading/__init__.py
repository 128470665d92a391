"""Rewards and agents by spec: files, modules, built-ins with arguments, expressions, YAML composites and plug-ins."""

from plaudit.loading.agents import load_agent
from plaudit.loading.building import Loaded
from plaudit.loading.catalogue import Listing, available, listing_of
from plaudit.loading.expressions import spec_using
from plaudit.loading.resolving import load, resolve

__all__ = ["Listing", "Loaded", "available", "listing_of", "load", "load_agent", "resolve", "spec_using"]
