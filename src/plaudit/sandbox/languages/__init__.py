"""Programs in languages other than Python: tool-chains, compilation and runs, each confined.

A compiled program is linked statically and executed from memory; it can open no file. A script or a Java program can
open its runtime, the libraries of that and random numbers. A compiler can open its installation, the system's headers
and libraries, and a work folder that goes with it. All run as another user where there is root, without capabilities,
network or other processes, in a root that holds nothing else where namespaces can be had, behind Landlock and a list of
system calls.

Covered:
- reading, listing, writing, linking and deleting files of others
- secrets in the environment and in other processes
- connections of any kind
- new processes and programs
- signals to others
- looking into other processes
- system calls by hand, also of other architectures
- using up memory, threads, descriptors, time
- raising the limits
- floods of output
- crashes, and processes that outlive the program
- reading files while a program is compiled
- using up time, memory or disk while a program is compiled

Not covered:
- the runtime's own files can be read by its programs (node, the JDK), and a program can be executed again by itself
- whether a file exists, and its size, can be asked where there are no namespaces
- the name of the machine can be read where there are no namespaces, since static programs ask for it as they start
- memory is what a program can write to (`RLIMIT_DATA`), plus a stack and what the runtime itself takes
- Landlock is needed to compile and to run a script; without it only an error says so
"""
