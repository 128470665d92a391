// Each harm is a function; the names of those to run are the first line of standard input, followed by what must not be
// touched. A deed that succeeds prints HARM and its name.
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace std;

string folder, victim_text;
int victim, port_number;
extern char **environ;

void done(const string &deed, bool succeeded) {
    if (succeeded) cout << "HARM " << deed << endl;
}
void done_call(const string &deed, long result) { done(deed, result >= 0); }

void read_files() {
    for (string path : {folder + "/secret.txt", string("/etc/passwd"), string("/proc/1/environ"),
                        "/proc/" + victim_text + "/environ", "/proc/" + victim_text + "/mem", string("/proc/self/mem"),
                        string("/proc/self/maps"), string("/etc/hostname")}) {
        done("ifstream " + path, (bool)ifstream(path));
        done_call("open " + path, open(path.c_str(), O_RDONLY));
        done_call("openat2 " + path, syscall(437, AT_FDCWD, path.c_str(), "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24));
    }
    int place = open(folder.c_str(), O_PATH);
    if (place >= 0) done_call("open beneath", openat(place, "secret.txt", O_RDONLY));
    done_call("by handle", syscall(SYS_open_by_handle_at, 0, nullptr, 0));
}
void list_folders() {
    for (string path : {folder, string("/"), string("/tmp"), string("/home"), string("/root")})
        done("list " + path, opendir(path.c_str()) != nullptr);
}
void write_files() {
    for (string path : {folder + "/new.txt", string("/tmp/plaudit-harm"), string("plaudit-harm"), string("/dev/shm/plaudit-harm"),
                        string("/work/plaudit-harm"), string("/plaudit-harm")}) {
        done("ofstream " + path, (bool)ofstream(path));
        done_call("mkdir " + path, mkdir(path.c_str(), 0777));
        done_call("mknod " + path, mknod(path.c_str(), S_IFIFO | 0666, 0));
        done_call("symlink " + path, symlink("/etc/passwd", path.c_str()));
    }
    string secret = folder + "/secret.txt";
    done_call("append", open(secret.c_str(), O_WRONLY | O_APPEND));
    done_call("truncate", truncate(secret.c_str(), 0));
    done_call("unlink", unlink(secret.c_str()));
    done_call("rename", rename(secret.c_str(), (folder + "/other").c_str()));
    done_call("link", link(secret.c_str(), (folder + "/other").c_str()));
    done_call("chmod", chmod(secret.c_str(), 0777));
    done_call("chown", chown(secret.c_str(), 0, 0));
}
void see_environment() {
    done("secret", getenv("PLAUDIT_SECRET") != nullptr);
    for (char **entry = environ; *entry; entry++) done(*entry, string(*entry).find("hush") != string::npos);
}
void connect_anywhere() {
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_port = htons(port_number), to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    done_call("tcp", tcp);
    if (tcp >= 0) done_call("connect", connect(tcp, (sockaddr *)&to, sizeof to));
    for (auto [family, kind] : {pair{AF_INET, SOCK_DGRAM}, {AF_UNIX, SOCK_STREAM}, {AF_UNIX, SOCK_DGRAM}, {AF_NETLINK, SOCK_RAW},
                                {AF_PACKET, SOCK_RAW}, {AF_INET6, SOCK_STREAM}, {40, SOCK_STREAM}})
        done_call("socket " + to_string(family), socket(family, kind, 0));
    int both[2];
    done_call("datagram pair", socketpair(AF_UNIX, SOCK_DGRAM, 0, both));
}
void start_processes() {
    char *const nothing[] = {nullptr};
    pid_t pid;
    done_call("fork", syscall(SYS_fork));
    done_call("vfork", syscall(SYS_vfork));
    done_call("clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    done_call("clone3", syscall(435, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 64));
    done("spawn", posix_spawn(&pid, "/bin/true", nullptr, nullptr, nothing, nothing) == 0);
    done("system", system("true") == 0);
    for (const char *path : {"/bin/sh", "/usr/bin/env", "/bin/true"}) done_call(path, execve(path, nothing, nothing));
}
void fork_bomb() {
    for (int round = 0; round < 100000; round++) done_call("fork", fork());
}
void signal_others() {
    done_call("parent", kill(getppid(), 0));
    done_call("victim", kill(victim, SIGKILL));
    done_call("all", kill(-1, 0));
    done_call("group", kill(0, 0));
    done_call("first", kill(1, SIGKILL));
    done_call("thread", syscall(SYS_tgkill, victim, victim, SIGKILL));
    done_call("tkill", syscall(SYS_tkill, victim, SIGKILL));
    done_call("queue", syscall(SYS_rt_sigqueueinfo, victim, SIGKILL, nullptr));
    done_call("pidfd", syscall(434, victim, 0));
    done_call("owner", fcntl(0, F_SETOWN, victim));
}
void look_into_others() {
    char bytes[8];
    iovec here{bytes, 8}, there{(void *)0x400000, 8};
    done_call("ptrace", ptrace(PTRACE_ATTACH, victim, 0, 0));
    done_call("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
    done_call("read memory", process_vm_readv(victim, &here, 1, &there, 1, 0));
    done_call("write memory", process_vm_writev(victim, &here, 1, &there, 1, 0));
    rlimit bounds;
    done_call("limits", prlimit(victim, RLIMIT_NOFILE, nullptr, &bounds));
}
void other_calls() {
    vector<pair<string, int>> calls = {{"mount", 165}, {"umount2", 166}, {"chroot", 161}, {"pivot_root", 155}, {"unshare", 272},
        {"setns", 308}, {"bpf", 321}, {"perf_event_open", 298}, {"keyctl", 250}, {"add_key", 248}, {"userfaultfd", 323},
        {"io_uring_setup", 425}, {"memfd_create", 319}, {"memfd_secret", 447}, {"init_module", 175}, {"kexec_load", 246},
        {"reboot", 169}, {"sethostname", 170}, {"setuid", 105}, {"setresuid", 117}, {"capset", 126}, {"setpriority", 141},
        {"sched_setscheduler", 144}, {"inotify_init", 253}, {"fanotify_init", 300}, {"timer_create", 222}, {"quotactl", 179},
        {"swapon", 167}, {"acct", 163}, {"personality", 135}, {"mlockall", 151}, {"msgget", 68}, {"semget", 64}, {"shmget", 29},
        {"mq_open", 240}, {"ioperm", 173}, {"iopl", 172}, {"clock_settime", 227}, {"settimeofday", 164}, {"seccomp", 317}};
    for (auto &[name, number] : calls) done_call(name, syscall(number, 0, 0, 0, 0, 0, 0));
    done_call("unshare descriptors", syscall(436, 100, 200, 2));
}
void use_memory() {
    vector<char *> kept;
    size_t total = 0;
    while (total < (size_t(4) << 30)) {
        char *part = (char *)malloc(16 << 20);
        if (!part) break;
        memset(part, 1, 16 << 20);
        kept.push_back(part), total += 16 << 20;
    }
    done("memory", total > (size_t(200) << 20));
}
void share_memory() {
    size_t total = 0;
    while (total < (size_t(4) << 30)) {
        void *part = mmap(nullptr, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (part == MAP_FAILED) break;
        memset(part, 1, 16 << 20), total += 16 << 20;
    }
    done("shared memory", total > 0);
    done_call("shmget", shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600));
    void *late = mmap(nullptr, size_t(4) << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (late != MAP_FAILED) done("late memory", mprotect(late, size_t(4) << 30, PROT_READ | PROT_WRITE) == 0);
}
void raise_limits() {
    for (int kind : {RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_STACK}) {
        rlimit most{RLIM_INFINITY, RLIM_INFINITY};
        done("limit " + to_string(kind), setrlimit(__rlimit_resource(kind), &most) == 0);
    }
}
void many_threads() {
    int count = 0;
    try {
        for (; count < 5000; count++) thread([] { pause(); }).detach();
    } catch (...) {
    }
    done("threads", count >= 1000);
    _exit(0);
}
void many_descriptors() {
    int count = 0, both[2];
    while (count < 5000 && pipe(both) == 0) count++;
    done("descriptors", count >= 100);
}
void loop() { for (volatile long step = 0;; step = step + 1) {} }
void loop_deaf() {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    loop();
}
void sleep_on() { for (;;) sleep(100); }
void flood(int descriptor) {
    string text(1 << 16, 'x');
    for (long round = 0; round < 1 << 20; round++) if (write(descriptor, text.data(), text.size()) < 0 && errno != EFBIG) break;
}
void flood_output() { flood(1); }
void flood_errors() { flood(2); }
void flood_deaf() {
    signal(SIGXFSZ, SIG_IGN);
    for (int round = 0; round < 1000; round++) flood(1);
}
void far_output() {
    signal(SIGXFSZ, SIG_IGN);
    done_call("far", pwrite(1, "x", 1, off_t(1) << 32));
    done_call("stretch", ftruncate(1, off_t(1) << 32));
    done_call("fallocate", fallocate(1, 0, 0, off_t(1) << 30));
}
void write_input() {
    done_call("stdin", write(0, "x", 1));
    int again = open("/dev/stdin", O_WRONLY);
    if (again >= 0) done_call("stdin again", write(again, "x", 1));
}
void see_descriptors() {
    struct stat seen;
    for (int number = 3; number < 1100; number++) done("descriptor " + to_string(number), fstat(number, &seen) == 0);
}
void crash() { *(volatile int *)0 = 1; }
void old_calls() {
#if defined(__x86_64__)
    long result = 20;  // getpid of 32-bit programs
    asm volatile("int $0x80" : "+a"(result)::"memory");
    done("old call", result > 0);
#endif
}
void x32_calls() { done_call("x32", syscall(0x40000000 + 39)); }
void execute_memory() {
    char *const nothing[] = {nullptr};
    done_call("execveat", syscall(322, 1, "", nothing, nothing, 0x1000));
    done_call("stdin", syscall(322, 0, "", nothing, nothing, 0x1000));
}
void outlive() {
    done_call("setsid", fork() == 0 ? setsid() : -1);
    thread([] { for (;;) sleep(1); }).detach();
    _exit(0);
}

int main() {
    string name;
    getline(cin, name), getline(cin, folder), getline(cin, victim_text);
    cin >> port_number;
    victim = stoi(victim_text);
    map<string, void (*)()> harms = {
        {"read files", read_files}, {"list folders", list_folders}, {"write files", write_files},
        {"see the environment", see_environment}, {"connect", connect_anywhere}, {"start processes", start_processes},
        {"fork bomb", fork_bomb}, {"signal others", signal_others}, {"look into others", look_into_others},
        {"other calls", other_calls}, {"use memory", use_memory}, {"share memory", share_memory}, {"raise limits", raise_limits},
        {"many threads", many_threads}, {"many descriptors", many_descriptors}, {"loop", loop}, {"loop deaf", loop_deaf},
        {"sleep", sleep_on}, {"flood output", flood_output}, {"flood errors", flood_errors}, {"flood deaf", flood_deaf},
        {"far output", far_output}, {"write to its input", write_input}, {"crash", crash}, {"old calls", old_calls},
        {"x32 calls", x32_calls}, {"execute memory", execute_memory}, {"outlive", outlive},
        {"see descriptors", see_descriptors}};
    if (name == "names") {
        for (auto &[each, _] : harms) cout << each << "\n";
        return 0;
    }
    istringstream names(name);
    while (getline(names, name, ',')) {
        cout << "## " << name << endl;
        harms.at(name)();
    }
}
