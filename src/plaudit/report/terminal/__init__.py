"""The report on a terminal: tables, histograms and single samples, in as many columns as there are."""
