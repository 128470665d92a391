"""The page of a report, served from this machine: runs that grow, and more samples than a page can hold."""
