"""Judge programs: tests in a process of their own, programs in theirs, plain values between."""

from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.pool import JudgePool, shared_pool
from plaudit.sandbox.judging.suites import AssertSuite, CallSuite, FileSuite, StreamSuite, Suite, read_suite
from plaudit.sandbox.judging.verdict import Conclusion, TestResult, Verdict

__all__ = [
    "AssertSuite",
    "CallSuite",
    "Conclusion",
    "FileSuite",
    "Job",
    "JudgePool",
    "StreamSuite",
    "Suite",
    "TestResult",
    "Verdict",
    "read_suite",
    "shared_pool",
]
