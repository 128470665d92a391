"""Findings for other programs: SARIF for code scanning, JUnit for CI, a baseline of what is accepted."""
