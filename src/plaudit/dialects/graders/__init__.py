"""OpenAI graders: JSON that says how to grade, made into rewards."""
