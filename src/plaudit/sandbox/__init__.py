"""Run programs that nobody trusts, and get plain values back.

One rule holds it together: no byte that a program writes is ever a verdict. A program's process gives values and
output; whoever holds the expected ones compares them elsewhere. A judge, who runs tests on such values, is behind the
same walls, in a process of its own for each verdict.

Each server is started by exec with an empty environment, imports what programs use, and forks a child per program. What
children share is done once: namespaces where the kernel gives them, another user where there is root, no capabilities,
no new privileges. Each child then limits itself, takes on Landlock and a filter that names the system calls it may
make. No file can be opened at all: the standard library comes from memory. Where a program is to have scratch space
(`RunLimits(scratch_mb=…)`), Landlock keeps it to one folder; so there is none without Landlock.

Covered:
- reading, listing, writing, linking and deleting files
- secrets in the environment and in other processes
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
- values: a program can return anything, so what it returns must be compared, never believed
- the clock, the kernel's version and the machine's name can be read
- time over many calls: each load and each call has the whole budget
- whether a file exists, and its size, can be asked where there are no namespaces: by hand-made calls, and by any
  program with scratch space
- more than scratch space has can be written for a moment where there are no namespaces: it is looked at, 50 times a
  second, and the program is then ended (in namespaces it gets an error, as of a full disk)
- modules with large shared libraries (sqlite3, ssl, tkinter) cannot be imported

Errors in the kernel itself, and what can be learnt from the timing of shared processors, are beyond any of this. Linux
only; elsewhere it says so and runs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
