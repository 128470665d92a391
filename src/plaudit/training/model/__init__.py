"""The policy and what it computes with: loading, encoding, the decoder, the critic."""
