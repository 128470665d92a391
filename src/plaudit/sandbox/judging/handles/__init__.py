"""Proxies of the program for the tests: handles of its functions and objects, its exceptions, its numbers."""
