"""The verifier of SQL queries: statements (`statements`), databases, results, and the process that runs queries."""
