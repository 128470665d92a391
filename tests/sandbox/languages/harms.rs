// Each harm is a function; the names of those to run are the first line of standard input, followed by what must not be
// touched. A deed that succeeds prints HARM and its name.
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

extern "C" {
    fn kill(pid: i32, signal: i32) -> i32;
    fn fork() -> i32;
    fn setsid() -> i32;
    fn syscall(number: i64, ...) -> i64;
    fn ptrace(request: i32, pid: i32, address: u64, data: u64) -> i64;
    fn setrlimit(kind: i32, bounds: *const [u64; 2]) -> i32;
    fn pipe(both: *mut [i32; 2]) -> i32;
    fn mmap(place: u64, length: usize, protection: i32, flags: i32, file: i32, offset: i64) -> u64;
    fn write(file: i32, bytes: *const u8, count: usize) -> isize;
    fn pwrite(file: i32, bytes: *const u8, count: usize, offset: i64) -> isize;
    fn ftruncate(file: i32, length: i64) -> i32;
    fn signal(number: i32, action: usize) -> usize;
    fn getppid() -> i32;
}

struct World {
    folder: String,
    victim: i32,
    port: u16,
}

fn done(deed: &str, succeeded: bool) {
    if succeeded {
        println!("HARM {}", deed);
    }
}

fn read_files(world: &World) {
    for path in [
        format!("{}/secret.txt", world.folder),
        "/etc/passwd".into(),
        "/proc/1/environ".into(),
        format!("/proc/{}/environ", world.victim),
        "/proc/self/mem".into(),
        "/proc/self/maps".into(),
    ] {
        done(&format!("read {}", path), fs::read(&path).is_ok());
        done(&format!("open {}", path), fs::File::open(&path).is_ok());
        done(&format!("copy {}", path), fs::copy(&path, "/tmp/plaudit-harm").is_ok());
    }
}
fn list_folders(world: &World) {
    for path in [world.folder.as_str(), "/", "/tmp", "/home", "/root", "/usr"] {
        done(&format!("list {}", path), fs::read_dir(path).is_ok());
    }
}
fn write_files(world: &World) {
    let secret = format!("{}/secret.txt", world.folder);
    let other = format!("{}/other", world.folder);
    for path in [other.as_str(), "/tmp/plaudit-harm", "plaudit-harm", "/dev/shm/plaudit-harm"] {
        done(&format!("write {}", path), fs::write(path, "x").is_ok());
        done(&format!("folder {}", path), fs::create_dir_all(path).is_ok());
        done(&format!("symlink {}", path), symlink("/etc/passwd", path).is_ok());
    }
    done("append", fs::OpenOptions::new().append(true).open(&secret).is_ok());
    done("remove", fs::remove_file(&secret).is_ok());
    done("rename", fs::rename(&secret, &other).is_ok());
    done("link", fs::hard_link(&secret, &other).is_ok());
    done("read only", fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o777)).is_ok());
}
fn see_environment(_: &World) {
    done("secret", std::env::vars_os().any(|(_, value)| value.to_string_lossy().contains("hush")));
}
fn connect(world: &World) {
    done("tcp", TcpStream::connect(("127.0.0.1", world.port)).is_ok());
    done("listen", TcpListener::bind("127.0.0.1:0").is_ok());
    done("udp", UdpSocket::bind("127.0.0.1:0").is_ok());
    done("unix", UnixStream::connect(format!("{}/socket", world.folder)).is_ok());
    done("unix listener", UnixListener::bind(format!("{}/harm", world.folder)).is_ok());
    done("unix datagrams", UnixDatagram::unbound().is_ok());
}
fn start_processes(_: &World) {
    for path in ["/bin/true", "/bin/sh", "/usr/bin/env", "/proc/self/exe"] {
        done(path, Command::new(path).stdin(Stdio::null()).spawn().is_ok());
    }
    unsafe {
        done("fork", fork() >= 0);
        done("vfork", syscall(58) >= 0);
        done("clone3", syscall(435, [0u64; 8].as_ptr(), 64) >= 0);
    }
}
fn fork_bomb(_: &World) {
    for _ in 0..20_000 {
        done("fork", unsafe { fork() } >= 0);
    }
}
fn signal_others(world: &World) {
    unsafe {
        done("victim", kill(world.victim, 9) == 0);
        done("parent", kill(getppid(), 0) == 0);
        done("all", kill(-1, 0) == 0);
        done("group", kill(0, 0) == 0);
        done("thread", syscall(234, world.victim, world.victim, 9) == 0);
        done("pidfd", syscall(434, world.victim, 0) >= 0);
    }
}
fn look_into_others(world: &World) {
    unsafe {
        done("ptrace", ptrace(16, world.victim, 0, 0) == 0);
        done("traceme", ptrace(0, 0, 0, 0) == 0);
        done("read memory", syscall(310, world.victim, 0, 0, 0, 0, 0) >= 0);
    }
}
fn other_calls(_: &World) {
    for (name, number) in [
        ("mount", 165), ("chroot", 161), ("unshare", 272), ("setns", 308), ("bpf", 321), ("perf_event_open", 298),
        ("keyctl", 250), ("userfaultfd", 323), ("io_uring_setup", 425), ("memfd_create", 319), ("init_module", 175),
        ("setuid", 105), ("capset", 126), ("personality", 135), ("shmget", 29), ("msgget", 68), ("semget", 64),
    ] {
        done(name, unsafe { syscall(number, 0, 0, 0, 0, 0, 0) } >= 0);
    }
}
fn raise_limits(_: &World) {
    for kind in [0, 1, 2, 3, 6, 7] {
        done(&format!("limit {}", kind), unsafe { setrlimit(kind, &[u64::MAX, u64::MAX]) } == 0);
    }
}
fn write_input(_: &World) {
    done("stdin", unsafe { write(0, b"x".as_ptr(), 1) } >= 0);
}
fn use_memory(_: &World) {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut part = Vec::new();
        if kept.len() > 256 || part.try_reserve_exact(16 << 20).is_err() {
            break;
        }
        part.resize(16 << 20, 1u8);
        kept.push(part);
    }
    done("memory", kept.len() > 12);
}
fn share_memory(_: &World) {
    done("shared", unsafe { mmap(0, 16 << 20, 3, 0x21, -1, 0) } != u64::MAX);
}
fn many_threads(_: &World) {
    let mut count = 0;
    while count < 2000 && thread::Builder::new().spawn(|| thread::park()).is_ok() {
        count += 1;
    }
    done("threads", count >= 1000);
    std::process::exit(0);
}
fn many_descriptors(_: &World) {
    let mut count = 0;
    while count < 5000 && unsafe { pipe(&mut [0; 2]) } == 0 {
        count += 1;
    }
    done("descriptors", count >= 100);
}
fn spin(_: &World) {
    let mut step = 0u64;
    loop {
        step = std::hint::black_box(step + 1);
    }
}
fn loop_deaf(world: &World) {
    for number in 1..65 {
        unsafe { signal(number, 1) };
    }
    spin(world);
}
fn sleep_on(_: &World) {
    loop {
        thread::sleep(Duration::from_secs(100));
    }
}
fn flood(file: i32) {
    let text = vec![b'x'; 1 << 16];
    for _ in 0..1 << 20 {
        if unsafe { write(file, text.as_ptr(), text.len()) } < 0 && io::Error::last_os_error().raw_os_error() != Some(27) {
            break;
        }
    }
}
fn flood_output(_: &World) {
    flood(1);
}
fn flood_errors(_: &World) {
    flood(2);
}
fn flood_deaf(_: &World) {
    unsafe { signal(25, 1) };
    loop {
        flood(1);
    }
}
fn far_output(_: &World) {
    unsafe {
        signal(25, 1);
        done("far", pwrite(1, b"x".as_ptr(), 1, 1 << 32) >= 0);
        done("stretch", ftruncate(1, 1 << 32) == 0);
    }
}
fn crash(_: &World) {
    unsafe { std::ptr::null_mut::<u32>().write_volatile(1) };
}
fn outlive(_: &World) {
    unsafe {
        if fork() == 0 {
            done("setsid", setsid() >= 0);
        }
    }
    thread::spawn(|| loop {
        thread::sleep(Duration::from_secs(1));
    });
    std::process::exit(0);
}

fn main() {
    let harms: BTreeMap<&str, fn(&World)> = BTreeMap::from([
        ("read files", read_files as fn(&World)), ("list folders", list_folders), ("write files", write_files),
        ("see the environment", see_environment), ("connect", connect), ("start processes", start_processes),
        ("fork bomb", fork_bomb), ("signal others", signal_others), ("look into others", look_into_others),
        ("other calls", other_calls), ("raise limits", raise_limits), ("write to its input", write_input),
        ("use memory", use_memory), ("share memory", share_memory), ("many threads", many_threads),
        ("many descriptors", many_descriptors), ("loop", spin), ("loop deaf", loop_deaf), ("sleep", sleep_on),
        ("flood output", flood_output), ("flood errors", flood_errors), ("flood deaf", flood_deaf),
        ("far output", far_output), ("crash", crash), ("outlive", outlive),
    ]);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).unwrap();
    let mut rest = String::new();
    io::stdin().read_to_string(&mut rest).unwrap();
    let given: Vec<&str> = rest.lines().collect();
    let world = World { folder: given[0].into(), victim: given[1].parse().unwrap(), port: given[2].parse().unwrap() };
    if line.trim() == "names" {
        harms.keys().for_each(|name| println!("{}", name));
        return;
    }
    for name in line.trim().split(',') {
        println!("## {}", name);
        io::stdout().flush().unwrap();
        harms[name](&world);
    }
}
