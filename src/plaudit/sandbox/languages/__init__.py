"""Programs in languages other than Python: found tool-chains, compilation and runs, each behind walls."""
