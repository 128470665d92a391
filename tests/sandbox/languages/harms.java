// Each harm is a function; the names of those to run are the first line of standard input, followed by what must not be
// touched. A deed that succeeds prints HARM and its name.
import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;

public class Harms {
    static String folder;
    static long victim;
    static int port;

    interface Deed { Object run() throws Throwable; }

    static void attempt(String deed, Deed act) {
        try {
            Object value = act.run();
            if (Boolean.FALSE.equals(value) || value == null) return;
        } catch (Throwable refused) {
            return;
        }
        System.out.println("HARM " + deed);
    }

    static void readFiles() {
        for (String path : List.of(folder + "/secret.txt", "/etc/passwd", "/proc/1/environ", "/proc/" + victim + "/environ", "/proc/self/mem")) {
            attempt("read " + path, () -> Files.readAllBytes(Path.of(path)));
            attempt("stream " + path, () -> new FileInputStream(path));
            attempt("channel " + path, () -> FileChannel.open(Path.of(path)));
            attempt("url " + path, () -> new URL("file://" + path).openStream());
            attempt("copy " + path, () -> Files.copy(Path.of(path), Path.of("/tmp/plaudit-harm")));
        }
    }
    static void listFolders() {
        for (String path : List.of(folder, "/", "/tmp", "/home", "/root"))
            attempt("list " + path, () -> new File(path).list());
    }
    static void writeFiles() {
        Path secret = Path.of(folder, "secret.txt"), other = Path.of(folder, "other");
        for (String path : List.of(folder + "/new.txt", "/tmp/plaudit-harm", "plaudit-harm", "/dev/shm/plaudit-harm")) {
            attempt("write " + path, () -> Files.writeString(Path.of(path), "x"));
            attempt("folder " + path, () -> new File(path).mkdirs());
            attempt("symlink " + path, () -> Files.createSymbolicLink(Path.of(path), secret));
        }
        attempt("append", () -> new FileOutputStream(secret.toFile(), true));
        attempt("random access", () -> new RandomAccessFile(secret.toFile(), "rw"));
        attempt("delete", () -> secret.toFile().delete());
        attempt("rename", () -> secret.toFile().renameTo(other.toFile()));
        attempt("link", () -> Files.createLink(other, secret));
        attempt("mode", () -> secret.toFile().setExecutable(true, false));
        attempt("temporary", () -> File.createTempFile("plaudit", "harm"));
    }
    static void seeEnvironment() {
        attempt("environment", () -> System.getenv().toString().contains("hush"));
        attempt("properties", () -> System.getProperties().toString().contains("hush"));
        attempt("others", () -> ProcessHandle.of(victim).map(other -> other.info().commandLine().orElse("")).orElse("").contains("sleep"));
    }
    static void connect() {
        attempt("tcp", () -> new Socket("127.0.0.1", port));
        attempt("channel", () -> SocketChannel.open(new InetSocketAddress("127.0.0.1", port)));
        attempt("listen", () -> new ServerSocket(0));
        attempt("udp", () -> new DatagramSocket());
        attempt("unix", () -> SocketChannel.open(UnixDomainSocketAddress.of(folder + "/socket")));
        attempt("http", () -> new URL("http://127.0.0.1:" + port + "/").openStream());
    }
    static void startProcesses() {
        for (String path : List.of("/bin/true", "/bin/sh", System.getProperty("java.home") + "/bin/java")) {
            attempt("builder " + path, () -> new ProcessBuilder(path).start());
            attempt("exec " + path, () -> Runtime.getRuntime().exec(new String[] {path}));
        }
    }
    static void forkBomb() {
        for (int round = 0; round < 100; round++) attempt("start", () -> new ProcessBuilder("/bin/true").start());
    }
    static void signalOthers() {
        attempt("victim", () -> ProcessHandle.of(victim).map(ProcessHandle::destroyForcibly).orElse(false));
        attempt("first", () -> ProcessHandle.of(1).map(ProcessHandle::destroyForcibly).orElse(false));
        attempt("parent", () -> ProcessHandle.current().parent().map(ProcessHandle::destroyForcibly).orElse(false));
    }
    static void loadLibraries() {
        attempt("load", () -> { System.load(folder + "/secret.txt"); return true; });
        attempt("classes", () -> new URLClassLoader(new URL[] {new URL("http://127.0.0.1:" + port + "/")}).loadClass("Evil"));
    }
    static void writeInput() {
        attempt("stdin", () -> { FileOutputStream out = new FileOutputStream(FileDescriptor.in); out.write(120); return true; });
        attempt("stdin again", () -> new FileOutputStream("/dev/stdin"));
    }
    static void useMemory() {
        List<ByteBuffer> kept = new ArrayList<>();
        attempt("memory", () -> { for (int round = 0; round < 400; round++) kept.add(ByteBuffer.allocateDirect(16 << 20)); return true; });
    }
    static void useTheHeap() {
        List<long[]> kept = new ArrayList<>();
        attempt("heap", () -> { for (int round = 0; round < 400; round++) kept.add(new long[2 << 20]); return true; });
    }
    static void manyThreads() {
        int count = 0;
        try {
            for (; count < 2000; count++) {
                Thread thread = new Thread(null, () -> { try { Thread.sleep(100000); } catch (InterruptedException end) {} }, "x", 1 << 16);
                thread.setDaemon(true);
                thread.start();
            }
        } catch (Throwable refused) {
        }
        if (count >= 1000) System.out.println("HARM threads");
        Runtime.getRuntime().halt(0);
    }
    static void loop() { for (long step = 0;; step++) if (step < 0) System.out.println(step); }
    static void sleepOn() { for (;;) try { Thread.sleep(100000); } catch (InterruptedException end) {} }
    static void flood(PrintStream out) {
        String text = "x".repeat(1 << 16);
        for (;;) out.print(text);
    }
    static void crash() throws Throwable {
        var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        ((sun.misc.Unsafe) field.get(null)).putAddress(0, 0);
    }
    static void outlive() {
        new Thread(() -> { for (;;) try { Thread.sleep(1000); } catch (InterruptedException end) {} }).start();
        attempt("start", () -> new ProcessBuilder("/bin/sleep", "100").start());
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] none) throws Throwable {
        Map<String, Deed> harms = new LinkedHashMap<>();
        harms.put("read files", () -> { readFiles(); return 0; });
        harms.put("list folders", () -> { listFolders(); return 0; });
        harms.put("write files", () -> { writeFiles(); return 0; });
        harms.put("see the environment", () -> { seeEnvironment(); return 0; });
        harms.put("connect", () -> { connect(); return 0; });
        harms.put("start processes", () -> { startProcesses(); return 0; });
        harms.put("fork bomb", () -> { forkBomb(); return 0; });
        harms.put("signal others", () -> { signalOthers(); return 0; });
        harms.put("load libraries", () -> { loadLibraries(); return 0; });
        harms.put("write to its input", () -> { writeInput(); return 0; });
        harms.put("use memory", () -> { useMemory(); return 0; });
        harms.put("use the heap", () -> { useTheHeap(); return 0; });
        harms.put("many threads", () -> { manyThreads(); return 0; });
        harms.put("loop", () -> { loop(); return 0; });
        harms.put("sleep", () -> { sleepOn(); return 0; });
        harms.put("flood output", () -> { flood(System.out); return 0; });
        harms.put("flood errors", () -> { flood(System.err); return 0; });
        harms.put("crash", () -> { crash(); return 0; });
        harms.put("outlive", () -> { outlive(); return 0; });
        BufferedReader given = new BufferedReader(new InputStreamReader(System.in));
        String names = given.readLine();
        folder = given.readLine();
        victim = Long.parseLong(given.readLine());
        port = Integer.parseInt(given.readLine());
        if (names.equals("names")) {
            for (String name : harms.keySet()) System.out.println(name);
            return;
        }
        for (String name : names.split(",")) {
            System.out.println("## " + name);
            harms.get(name).run();
        }
    }
}
