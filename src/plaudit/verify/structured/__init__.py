"""The verifier of structured data: formats (`data_formats`, `form`), field accuracy (`fields`), and the verifier (`structured`)."""
