"""The report as one page: what it shows is plain data, how it shows it lies in `assets/`."""
