"""Programs that try to do harm. `<victim>` and the like are filled in with things that must not be touched.

Each is run after PRELUDE; `attempt` notes a deed that succeeded, and `report()` must give an empty list, unless the
program is killed first.
"""

PRELUDE = """
import os, sys
done = []
def attempt(name, deed):
    try:
        value = deed()
    except BaseException:
        return None
    done.append(name)
    return value
def syscall(number, *arguments):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def report():
    return done
"""

HARMS = {
    "read a file": "attempt('read', lambda: open('<folder>/secret.txt').read())",
    "read the password file": "attempt('read', lambda: open('/etc/passwd').read())",
    "read by descriptor": "attempt('read', lambda: os.open('<folder>/secret.txt', os.O_RDONLY))",
    "read without following": "attempt('read', lambda: os.open('<folder>', os.O_PATH))",
    "list a folder": "attempt('list', lambda: os.listdir('<folder>')); attempt('scan', lambda: list(os.scandir('/')))",
    "look at a file": "attempt('stat', lambda: os.stat('<folder>/secret.txt')); attempt('x', lambda: os.access('/', 0) or 1/0)",
    "write a file": "attempt('write', lambda: open('<folder>/new.txt', 'w').write('x'))",
    "append to a file": "attempt('append', lambda: open('<folder>/secret.txt', 'a').write('x'))",
    "write to /tmp": "import tempfile; attempt('temp', lambda: tempfile.NamedTemporaryFile())",
    "write to /dev/shm": "attempt('shm', lambda: open('/dev/shm/plaudit-harm', 'w').write('x'))",
    "delete a file": "attempt('unlink', lambda: os.unlink('<folder>/secret.txt'))",
    "delete a tree": "import shutil; attempt('rmtree', lambda: shutil.rmtree('<folder>'))",
    "rename a file": "attempt('rename', lambda: os.rename('<folder>/secret.txt', '<folder>/other.txt'))",
    "link a file": "attempt('link', lambda: os.link('<folder>/secret.txt', '<folder>/hard'))",
    "symlink": "attempt('symlink', lambda: os.symlink('/etc/passwd', '<folder>/soft'))",
    "make folders": "attempt('mkdir', lambda: os.mkdir('<folder>/made')); attempt('mkfifo', lambda: os.mkfifo('<folder>/fifo'))",
    "truncate": "attempt('truncate', lambda: os.truncate('<folder>/secret.txt', 0))",
    "change modes": "attempt('chmod', lambda: os.chmod('<folder>/secret.txt', 0)); attempt('chown', lambda: os.chown('<folder>', 0, 0))",
    "change times": "attempt('utime', lambda: os.utime('<folder>/secret.txt', (0, 0)))",
    "extended attributes": "attempt('xattr', lambda: os.setxattr('<folder>/secret.txt', 'user.x', b'1'))",
    "change directory": "attempt('chdir', lambda: os.chdir('<folder>')); attempt('chroot', lambda: os.chroot('<folder>'))",
    "mount": "import ctypes; attempt('mount', lambda: ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, b'') and 1/0)",
    "read its own memory file": "attempt('mem', lambda: open('/proc/self/mem', 'rb').read(1)); attempt('maps', lambda: open('/proc/self/maps').read())",
    "read the environment of others": """
for pid in ['self', '1', '<parent>', '<victim>']:
    for name in ['environ', 'cmdline', 'mem', 'status', 'fd']:
        attempt(pid + name, lambda: os.open(f'/proc/{pid}/{name}', os.O_RDONLY))
""",
    "reopen its own descriptors": "attempt('fd', lambda: os.open('/proc/self/fd/1', os.O_RDWR)); attempt('dev', lambda: os.open('/dev/fd/0', os.O_RDONLY))",
    "environment": "attempt('secret', lambda: os.environ['PLAUDIT_SECRET']); attempt('any', lambda: list(os.environ)[0])",
    "environment in memory": """
import ctypes
def from_memory():
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_char_p
    return libc.getenv(b'PLAUDIT_SECRET').decode()
attempt('getenv', from_memory)
""",
    "TCP": "import socket; attempt('connect', lambda: socket.create_connection(('127.0.0.1', <port>), 1))",
    "UDP": "import socket; attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', <port>)))",
    "unix socket": "import socket; attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect('<folder>/socket'))",
    "abstract socket": "import socket; attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0<abstract>'))",
    "datagrams from a pair": """
import socket
attempt('pair', lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
def addressed():
    first, second = socket.socketpair()
    first.sendto(b'x', '<folder>/datagrams')
attempt('sendto', addressed)
""",
    "passing descriptors": """
import socket, array
def passing():
    first, second = socket.socketpair()
    first.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))])
attempt('rights', passing)
""",
    "netlink, raw, vsock": """
import socket
for family, kind in [(16, 3), (2, 3), (17, 3), (40, 1), (38, 5), (10, 1)]:
    attempt((family, kind), lambda: socket.socket(family, kind))
""",
    "names": "import socket; attempt('dns', lambda: socket.getaddrinfo('localhost', 80, proto=6) and socket.gethostbyname('example.com'))",
    "server": "import socket; attempt('listen', lambda: socket.create_server(('127.0.0.1', 0)))",
    "fork": "attempt('fork', os.fork)",
    "fork bomb": "while True:\n    attempt('fork', os.fork)\n    if done or len(sys.argv) > 50: break\n    sys.argv.append('')",
    "daemon": """
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import time; time.sleep(1000)
attempt('daemon', daemon)
""",
    "start a program": "import subprocess; attempt('run', lambda: subprocess.run(['/bin/true'])); attempt('system', lambda: os.system('true') and 1/0)",
    "become a program": "attempt('exec', lambda: os.execv('/bin/sh', ['sh', '-c', 'sleep 100']))",
    "spawn": "attempt('spawn', lambda: os.posix_spawn('/bin/true', ['true'], {}))",
    "multiprocessing": "import multiprocessing; attempt('pool', lambda: multiprocessing.Process(target=print).start())",
    "kill others": """
import signal
for pid in [0, -1, 1, os.getppid(), <parent>, <victim>, -<victim>]:
    for number in (0, signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        attempt((pid, number), lambda: os.kill(pid, number))
attempt('killpg', lambda: os.killpg(os.getpgid(0), 9))
""",
    "signal by other calls": """
import signal
numbers = {'x86_64': (200, 129, 297, 424, 434), 'aarch64': (130, 138, 240, 424, 434)}[os.uname().machine]
for number in numbers:
    attempt(number, lambda: syscall(number, <victim>, 9, 0, 0))
""",
    "signal by descriptor owner": """
import fcntl, socket
def own():
    first, second = socket.socketpair()
    fcntl.fcntl(first, 8, <victim>)   # F_SETOWN
    fcntl.fcntl(first, 10, 9)         # F_SETSIG
    fcntl.fcntl(first, fcntl.F_SETFL, os.O_ASYNC)
    second.send(b'x')
attempt('setown', own)
import struct
attempt('ioctl', lambda: fcntl.ioctl(3, 0x8901, struct.pack('i', <victim>)))
""",
    "ptrace": """
number = {'x86_64': 101, 'aarch64': 117}[os.uname().machine]
for request in (16, 0x4206):
    for pid in (<victim>, <parent>, os.getppid()):
        attempt(('ptrace', request, pid), lambda: syscall(number, request, pid, 0, 0))
""",
    "memory of others": """
import ctypes
numbers = {'x86_64': (310, 311), 'aarch64': (270, 271)}[os.uname().machine]
for number in numbers:
    for pid in (<victim>, <parent>, os.getppid()):
        attempt((number, pid), lambda: syscall(number, pid, 0, 0, 0, 0, 0))
""",
    "limits of others": "import resource; attempt('prlimit', lambda: resource.prlimit(<victim>, resource.RLIMIT_CPU)); attempt('own', lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU))",
    "priorities": """
attempt('nice', lambda: os.setpriority(os.PRIO_PROCESS, <victim>, 19))
attempt('affinity', lambda: os.sched_setaffinity(<victim>, [0]))
attempt('scheduler', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
""",
    "raise its own limits": """
import resource
for name in ('RLIMIT_AS', 'RLIMIT_CPU', 'RLIMIT_FSIZE', 'RLIMIT_NOFILE', 'RLIMIT_CORE'):
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    attempt(name, lambda: resource.setrlimit(kind, (hard + 1, hard + 1)))
""",
    "become somebody else": "attempt('setuid', lambda: os.setuid(0)) if os.getuid() else None; attempt('other', lambda: os.setresuid(1, 1, 1)); attempt('groups', lambda: os.setgroups([0]))",
    "namespaces": "import ctypes; attempt('unshare', lambda: ctypes.CDLL(None).unshare(0x10000000) and 1/0); attempt('setns', lambda: ctypes.CDLL(None).setns(3, 0) and 1/0)",
    "dangerous calls": """
names = {'x86_64': dict(io_uring_setup=425, bpf=321, perf_event_open=298, userfaultfd=323, keyctl=250, add_key=248,
    memfd_create=319, shmget=29, msgget=68, semget=64, mq_open=240, inotify_init1=294, fanotify_init=300, timerfd_create=283,
    eventfd2=290, signalfd4=289, process_madvise=440, kcmp=312, personality=135, swapon=167, reboot=169, syslog=103,
    acct=163, sethostname=170, init_module=175, kexec_load=246, settimeofday=164, clock_settime=227, adjtimex=159,
    quotactl=179, ioperm=173, iopl=172, lookup_dcookie=212, name_to_handle_at=303, open_by_handle_at=304, vmsplice=278,
    splice=275, tee=276, sendfile=40, mlockall=151, setsid=112, prctl=157, ptrace=101, seccomp=317, memfd_secret=447,
    pidfd_getfd=438, fsopen=430, open_tree=428, landlock_create_ruleset=444, setpgid=109, umask=95, sysinfo=99,
    copy_file_range=326, fallocate=285, ftruncate=77, flock=73, wait4=61, tkill=200, modify_ldt=154, arch_prctl=158),
    'aarch64': dict(io_uring_setup=425, bpf=280, perf_event_open=241, userfaultfd=282, keyctl=219, memfd_create=279,
    shmget=194, inotify_init1=26, prctl=167, ptrace=117, setsid=157, pidfd_getfd=438)}[os.uname().machine]
for name, number in names.items():
    attempt(name, lambda: syscall(number, 0, 0, 0, 0))
""",
    "another architecture": """
import ctypes, mmap
code = bytes.fromhex('b814000000cd80c3')  # mov eax, 20; int 0x80; ret: getpid of the 32-bit table
page = mmap.mmap(-1, 4096, prot=7)
page.write(code)
if os.uname().machine == 'x86_64':
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    attempt('int 0x80', lambda: ctypes.CFUNCTYPE(ctypes.c_int)(address)())
""",
    "x32 calls": "attempt('x32', lambda: syscall(0x40000000 + 39)) if os.uname().machine == 'x86_64' else None",
    "processes by clone": """
flags = [17, 0x00000100 | 0x00004000 | 17, 0x10000000 | 17, 0x00010000]
number = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
for flag in flags:
    attempt(flag, lambda: syscall(number, flag, 0, 0, 0, 0))
attempt('clone3', lambda: syscall(435, 0, 0))
attempt('vfork', lambda: syscall(58)) if os.uname().machine == 'x86_64' else None
""",
    "memory": "data = []\nwhile True:\n    data.append(bytearray(1 << 24))",
    "memory at once": "try:\n    x = bytearray(1 << 40)\nexcept MemoryError:\n    pass\nelse:\n    done.append('got it')",
    "memory by huge numbers": "x = 10 ** (10 ** 9)",
    "memory by nested lists": "x = []\nwhile True:\n    x = [x, x] * 1000",
    "shared memory": """
import mmap
maps = []
def flood():
    while True:
        m = mmap.mmap(-1, 1 << 26)
        m[::4096] = b'x' * len(m[::4096])
        maps.append(m)
        if len(maps) > 40: return
attempt('shared', flood)
""",
    "POSIX shared memory": "from multiprocessing import shared_memory; attempt('shm', lambda: shared_memory.SharedMemory(create=True, size=100))",
    "memory through standard input's file": """
def grow():
    for place in range(0, 1 << 32, 1 << 20):
        os.pwrite(0, b'x' * (1 << 20), place)
attempt('grow', grow)
""",
    "sparse output": "attempt('sparse', lambda: os.pwrite(1, b'x', 1 << 40))",
    "pipes full of bytes": """
def pipes():
    while True:
        r, w = os.pipe()
        os.set_blocking(w, False)
        import fcntl
        fcntl.fcntl(w, 1031, 1 << 20)
attempt('pipes', pipes)
""",
    "descriptors": "import socket\npairs = []\ndef many():\n    while len(pairs) < 5000: pairs.append(socket.socketpair())\nattempt('many', many)",
    "threads": """
import threading, time
threading.stack_size(1 << 15)
def many():
    for _ in range(3000):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
attempt('threads', many)
""",
    "threads that spin": "import threading\ndef spin():\n    while True: pass\nfor _ in range(4): threading.Thread(target=spin, daemon=True).start()",
    "a thread that forges replies": """
import threading, time
def forge():
    while True:
        os.write(3, b'\\x12\\x00\\x00\\x00["returned",[["x"]]]')
        time.sleep(0.0005)
threading.Thread(target=forge, daemon=True).start()
""",
    "recursion": "sys.setrecursionlimit(10 ** 9)\ndef f(n): return f(n + 1) + 1\nf(0)",
    "deep recursion in C": "sys.setrecursionlimit(10 ** 9)\nx = []\nfor _ in range(10 ** 6): x = [x]\nrepr(x)",
    "deep source": "eval('(' * 100000 + ')' * 100000)",
    "endless loop": "while True: pass",
    "endless loop in C": "sum(range(10 ** 18))",
    "regular expression": "import re; re.match('(a+)+$', 'a' * 50 + 'b')",
    "sleep": "import time; time.sleep(1000)",
    "ignored signals": "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: pass",
    "stop itself": "import signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "kill itself": "import signal; os.kill(os.getpid(), signal.SIGKILL)",
    "exit": "os._exit(0)",
    "exit by system call": "syscall({'x86_64': 231, 'aarch64': 94}[os.uname().machine], 0)",
    "abort": "os.abort()",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "illegal instruction": """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(b'\\x0f\\x0b')
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
""",
    "output flood": "while True: print('x' * 10000)",
    "output flood by descriptor": "while True: os.write(1, b'x' * 100000)",
    "error flood": "while True: sys.stderr.write('x' * 10000)",
    "flood past the limit's signal": """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
while True:
    try: os.write(1, b'x' * 100000)
    except OSError: break
attempt('more', lambda: os.write(1, b'x'))
""",
    "channel flood": "while True: os.write(3, b'\\xff' * 100000)",
    "channel drip": "import time\nos.write(3, b'\\x10\\x00\\x00\\x00')\nwhile True: os.write(3, b' '); time.sleep(0.01); os.lseek(0, 0, 0)\n".replace(
        "b' '", "b'' or b' '"
    ),
    "deep reply": "text = b'[' * 200000; os.write(3, len(text).to_bytes(4, 'little') + text)",
    "forged reply": 'text = b\'["returned",{"@":{"t":[]}}]\'; os.write(3, len(text).to_bytes(4, \'little\') + text)',
    "closed descriptors": "os.closerange(0, 100)",
    "closed channel, then spinning": "os.close(3)\nwhile True: pass",
    "channel on another number": "os.dup2(1, 3)",
    "poisoned builtins": "import builtins\nfor name in ('len', 'print', 'open', 'isinstance', 'type', 'int', 'str'): setattr(builtins, name, lambda *a, **k: 1)",
    "poisoned modules": "import json, os.path\nfor m in list(sys.modules.values()):\n    for k in list(vars(m)):\n        if callable(getattr(m, k, None)) and m.__name__ != '__main__' and k[0] != '_':\n            try: setattr(m, k, None)\n            except Exception: pass",
    "emptied sys.modules": "sys.modules.clear()",
    "trace and profile hooks": "sys.settrace(lambda *a: sys.exit(0)); sys.setprofile(lambda *a: sys.exit(0)); sys.addaudithook(lambda *a: None)",
    "exit handlers": "import atexit; atexit.register(lambda: open('<folder>/atexit', 'w'))",
    "code in site folders": "import site; attempt('pth', lambda: open(os.path.join(os.path.dirname(os.__file__), 'sitecustomize.py'), 'w'))",
    "cached modules": "import py_compile; attempt('pyc', lambda: py_compile.compile(os.__file__, doraise=True))",
    "the archive's memory": """
import ctypes
for finder in sys.meta_path:
    memory = getattr(finder, '_memory', None)
    if memory is not None:
        start = ctypes.addressof((ctypes.c_char * 1).from_buffer_copy(b'x'))
        attempt('resize', lambda: memory.resize(1 << 30))
""",
    "the clock": "import time; attempt('clock', lambda: time.clock_settime(time.CLOCK_REALTIME, 0))",
    "host name": "import socket; attempt('name', lambda: socket.sethostname('x'))",
    "garbage at exit": "class A:\n    def __del__(self):\n        while True: pass\na = A()\ndel a",
    "the server's control": """
import socket
for number in range(4, 300):
    attempt(number, lambda: os.fstat(number))
""",
}
