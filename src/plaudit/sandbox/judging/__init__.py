"""Judge programs: tests in a process of their own, programs in theirs, plain values between."""
