"""Run untrusted programs, and get plain values back.

One rule: no byte that a program writes is ever a verdict. A program's process gives values and output; the process
that holds the expected ones compares them. A judge, which runs tests on such values, is confined in the same way, in a
process of its own for each verdict.

Each server is started by exec with an empty environment, imports what programs use, and forks a child per program. What
children share is done once: namespaces where the kernel allows them, another user where there is root, no capabilities,
no new privileges. Each child then limits itself and installs Landlock and a filter that lists the system calls it may
make. What each kind of child is granted is a `Profile` (`child/confinement/profiles.py`): Python programs, judges,
compilers and commands are confined by the same code. No file can be opened at all: the standard library comes from
memory. Scratch space (`RunLimits(scratch_mb=…)`) is a file system in memory, in namespaces; elsewhere there is none.

Covered:
- reading, listing, writing, linking and deleting files
- secrets in the environment and in other processes
- the name of the machine and the version of its kernel
- connections of any kind, also to processes on this machine
- new processes, programs and daemons
- signals to others, also by way of descriptors
- looking into other processes
- system calls by hand, also of other architectures
- using up memory, threads, descriptors, time
- floods of output and of replies
- crashes, closed channels, forged replies
- state left for the next program
- scratch space: its size, how many files, links and ways out of it, what is left in it

Not covered:
- values: a program can return anything, so what it returns must be compared, never trusted
- the clock can be read
- time over many calls: each load and each call has the whole budget
- whether a file exists, and its size, can be asked by hand-made calls where there are no namespaces
- modules of the standard library for networks, terminals and displays (ssl, curses, tkinter) cannot be imported

Errors in the kernel itself, and what can be learnt from the timing of shared processors, are beyond any of this. Linux
only; elsewhere it says so and runs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
