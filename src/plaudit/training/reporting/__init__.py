"""What a run reports: metrics, evaluation, logs, curves, the analysis of its rewards."""
