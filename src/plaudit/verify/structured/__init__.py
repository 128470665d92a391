"""The verifier of structured data: formats (`parsing`), field accuracy (`fields`), and the verifier (`structured`)."""
