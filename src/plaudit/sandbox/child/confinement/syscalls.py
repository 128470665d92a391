"""Names and numbers of system calls, and the groups of calls that profiles grant.

Every call that no group names is refused. Calls that take a path answer "no such file" unless a profile grants paths,
so that programs which look for a file before they read standard input continue.
"""

import errno


def _words(text: str) -> list[str]:
    return text.split()


AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

ALLOWED = _words("""
    read write readv writev pread64 pwrite64 lseek close fstat fsync dup dup2 dup3 pipe pipe2
    poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait
    recvfrom shutdown getsockname getsockopt mmap munmap mremap mprotect madvise brk
    futex set_robust_list rseq sched_yield sched_getaffinity getcpu
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend
    sigaltstack pause alarm setitimer getitimer restart_syscall
    nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times getrusage
    getpid gettid getppid getpgrp getuid geteuid getgid getegid getresuid getresgid
    getrlimit setrlimit getcwd getrandom exit exit_group
""")
HIDDEN = dict.fromkeys(
    _words("open openat openat2 creat stat lstat access faccessat faccessat2 readlink readlinkat"), errno.ENOENT
)
ABSENT = dict.fromkeys(["clone3", "statx"], errno.ENOSYS)  # the C library then makes the older call

# A program with scratch space. Links, devices, sockets and pipes are not among them; Landlock decides which paths.
FOLDER = _words("""
    open openat stat lstat newfstatat access faccessat faccessat2 readlink readlinkat getdents64 rmdir unlink unlinkat
    rename renameat ftruncate fdatasync chdir fchdir
""")
# So that copying a file by `shutil` works: changes of modes and times succeed without effect.
PRETENDED = dict.fromkeys(["chmod", "fchmod", "fchmodat", "utimensat"], 0)
PRETENDED |= dict.fromkeys(["listxattr", "llistxattr", "flistxattr"], errno.EOPNOTSUPP)

# A command, by which a process is replaced; what it looks at where Landlock decides which paths; and a compiler.
EXECUTING = _words("""
    execve execveat arch_prctl set_tid_address sysinfo sched_getparam sched_getscheduler epoll_create eventfd2
    membarrier uname
""")
LOOKING = _words("""
    open openat stat lstat newfstatat access faccessat faccessat2 readlink readlinkat getdents64 statfs fstatfs
    fadvise64
""")
CHANGING = _words("""
    rmdir unlink unlinkat rename renameat ftruncate fdatasync chdir fchdir mkdir mkdirat chmod fchmod fchmodat umask
    utimensat flock fallocate creat copy_file_range
""")
PROCESSES = _words("fork vfork wait4 waitid getpgid")

# Name, number on x86_64, number on aarch64; -1 where the architecture does not have the call.
_TABLE = """
    read 0 63, write 1 64, open 2 -1, close 3 57, stat 4 -1, fstat 5 80, lstat 6 -1, poll 7 -1, lseek 8 62, mmap 9 222,
    mprotect 10 226, munmap 11 215, brk 12 214, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139,
    ioctl 16 29, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, access 21 -1, pipe 22 -1, select 23 -1,
    sched_yield 24 124, mremap 25 216, madvise 28 233, dup 32 23, dup2 33 -1, pause 34 -1, nanosleep 35 101,
    getitimer 36 102, alarm 37 -1, setitimer 38 103, getpid 39 172, sendto 44 206, recvfrom 45 207, recvmsg 47 212,
    shutdown 48 210, getsockname 51 204, socketpair 53 199, getsockopt 55 209, clone 56 220, fork 57 -1, vfork 58 -1,
    execve 59 221, exit 60 93, wait4 61 260, kill 62 129, uname 63 160, fcntl 72 25, flock 73 32, fsync 74 82,
    fdatasync 75 83, truncate 76 45, ftruncate 77 46, getcwd 79 17, chdir 80 49, fchdir 81 50, rename 82 -1,
    mkdir 83 -1, rmdir 84 -1, creat 85 -1, unlink 87 -1, readlink 89 -1, chmod 90 -1, fchmod 91 52, umask 95 166,
    gettimeofday 96 169, getrlimit 97 163, getrusage 98 165, sysinfo 99 179, times 100 153, getuid 102 174,
    getgid 104 176, geteuid 107 175, getegid 108 177, getppid 110 173, getpgrp 111 -1, getresuid 118 148,
    getresgid 120 150, getpgid 121 155, rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigqueueinfo 129 138,
    rt_sigsuspend 130 133, sigaltstack 131 132, statfs 137 43, fstatfs 138 44, sched_getparam 143 121,
    sched_getscheduler 145 120, prctl 157 167, arch_prctl 158 -1, setrlimit 160 164, gettid 186 178, listxattr 194 11,
    llistxattr 195 12, flistxattr 196 13, time 201 -1, futex 202 98, sched_getaffinity 204 123, epoll_create 213 -1,
    getdents64 217 61, set_tid_address 218 96, restart_syscall 219 128, fadvise64 221 223, clock_gettime 228 113,
    clock_getres 229 114, clock_nanosleep 230 115, exit_group 231 94, epoll_wait 232 -1, epoll_ctl 233 21,
    tgkill 234 131, waitid 247 95, openat 257 56, mkdirat 258 34, newfstatat 262 79, unlinkat 263 35, renameat 264 38,
    readlinkat 267 78, fchmodat 268 53, faccessat 269 48, pselect6 270 72, ppoll 271 73, set_robust_list 273 99,
    utimensat 280 88, epoll_pwait 281 22, fallocate 285 47, eventfd2 290 19, epoll_create1 291 20, dup3 292 24,
    pipe2 293 59, prlimit64 302 261, getcpu 309 168, getrandom 318 278, execveat 322 281, membarrier 324 283,
    copy_file_range 326 285, pkey_alloc 330 289, statx 332 291, rseq 334 293, io_uring_setup 425 425, clone3 435 435,
    close_range 436 436, openat2 437 437, faccessat2 439 439
"""
NUMBERS: dict[str, tuple[int, int]] = {
    name: (int(x86_64), int(aarch64)) for name, x86_64, aarch64 in (row.split() for row in _TABLE.split(","))
}
