"""The verifier of structured data: readers of formats, checks of form, schemas, fields, and the verifier."""
