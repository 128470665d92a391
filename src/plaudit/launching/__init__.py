"""Take a run elsewhere and commands of elsewhere here: `plaudit launch`, OpenRLHF's flags, jobs on Ray."""
