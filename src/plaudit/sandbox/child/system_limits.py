"""Limits of the system (`ulimit`) that are too small: an error that names the limit and the remedy."""

import errno
import resource

# The kind of limit: what it counts, the option of `ulimit`, and its unit in bytes where it is not a number of things.
_KINDS = {
    resource.RLIMIT_NOFILE: ("open files", "-n", 1),
    resource.RLIMIT_NPROC: ("processes of this user", "-u", 1),
    resource.RLIMIT_AS: ("address space", "-v", 1024),
    resource.RLIMIT_FSIZE: ("the size of a file", "-f", 1024),
    resource.RLIMIT_CPU: ("processor seconds", "-t", 1),
}
_BY_ERROR = {
    errno.EMFILE: (resource.RLIMIT_NOFILE, 256),
    errno.EAGAIN: (resource.RLIMIT_NPROC, 4096),
    errno.ENOMEM: (resource.RLIMIT_AS, 4 << 30),
}


def find_small_limit(needed: dict[int, int]) -> str:
    """The first limit of this process below what is needed, in words with the remedy; empty if there is none."""
    for kind, least in needed.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY and hard < least:
            return _describe(kind, hard, least)
    return ""


def explain_error(error: BaseException) -> str:
    """An error in words; where a limit of the system causes such errors, with that limit and the remedy."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None)
    text = str(error) or type(error).__name__
    if number not in _BY_ERROR:
        return text
    kind, least = _BY_ERROR[number]
    soft, _ = resource.getrlimit(kind)
    return f"{text}; {_describe(kind, soft, least)}" if soft != resource.RLIM_INFINITY else text


def _describe(kind: int, value: int, least: int) -> str:
    what, option, unit = _KINDS[kind]
    return (
        f"the system limits {what} to {value // unit} (ulimit {option}), which is too small; "
        f"raise it to at least {-(-least // unit)} (ulimit {option} {-(-least // unit)})"
    )
