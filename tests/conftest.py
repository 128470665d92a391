"""Shared by all tests; its place puts `tests/` on the import path, where `shared_data` lives."""
