// Each harm is a function; the names of those to run are the first line of standard input, followed by what must not be
// touched. A deed that succeeds prints HARM and its name.
const fs = require("fs"), processes = require("child_process"), net = require("net"), os = require("os");
const [names, folder, victim, port] = fs.readFileSync(0, "utf8").split("\n");

function attempt(deed, act) {
    let value;
    try { value = act(); } catch (error) { return; }
    if (value && value.error) return;
    console.log("HARM", deed);
}
function later(deed, emitter, event) {
    emitter.on("error", () => {});
    emitter.on(event, () => console.log("HARM", deed));
}

const harms = {
    "read files": () => {
        for (const path of [`${folder}/secret.txt`, "/etc/passwd", `/proc/${victim}/environ`, "/proc/1/environ", "/proc/self/mem"]) {
            attempt(`read ${path}`, () => fs.readFileSync(path));
            attempt(`open ${path}`, () => fs.openSync(path));
            attempt(`require ${path}`, () => require(path));
            attempt(`copy ${path}`, () => fs.copyFileSync(path, "/tmp/plaudit-harm"));
        }
        fs.promises.readFile(`${folder}/secret.txt`).then(() => console.log("HARM promise"), () => {});
    },
    "list folders": () => {
        for (const path of [folder, "/", "/tmp", "/home", "/root", "/usr"]) attempt(`list ${path}`, () => fs.readdirSync(path));
    },
    "write files": () => {
        for (const path of [`${folder}/new.txt`, "/tmp/plaudit-harm", "plaudit-harm", "/dev/shm/plaudit-harm", __filename]) {
            attempt(`write ${path}`, () => fs.writeFileSync(path, "x"));
            attempt(`append ${path}`, () => fs.appendFileSync(path, "x"));
        }
        attempt("unlink", () => fs.unlinkSync(`${folder}/secret.txt`));
        attempt("unlink itself", () => fs.unlinkSync(__filename));
        attempt("rename", () => fs.renameSync(`${folder}/secret.txt`, `${folder}/other`));
        attempt("link", () => fs.linkSync(`${folder}/secret.txt`, `${folder}/other`));
        attempt("symlink", () => fs.symlinkSync("/etc/passwd", `${folder}/other`));
        attempt("chmod", () => fs.chmodSync(`${folder}/secret.txt`, 0o777));
        attempt("truncate", () => fs.truncateSync(`${folder}/secret.txt`));
        attempt("folder", () => fs.mkdtempSync(`${os.tmpdir()}/x`));
        attempt("heap", () => require("v8").writeHeapSnapshot("/tmp/plaudit-harm"));
        process.report.writeReport("/tmp/plaudit-harm");
        attempt("report", () => fs.statSync("/tmp/plaudit-harm"));
    },
    "see the environment": () => {
        if (JSON.stringify(process.env).includes("hush")) console.log("HARM environment");
    },
    "connect": () => {
        later("tcp", net.connect(Number(port), "127.0.0.1"), "connect");
        later("unix", net.connect(`${folder}/socket`), "connect");
        later("abstract", net.connect("\0plaudit"), "connect");
        later("listen", net.createServer().listen(0), "listening");
        later("http", require("http").get(`http://127.0.0.1:${port}/`), "response");
        require("dns").lookup("localhost", () => {});
        try {
            const socket = require("dgram").createSocket("udp4");
            later("udp", socket, "listening");
            socket.bind(0);
        } catch (error) {}
        attempt("inspector", () => { require("inspector").open(0); if (!require("inspector").url()) throw 1; });
    },
    "start processes": () => {
        attempt("spawn", () => processes.spawnSync("/bin/true"));
        attempt("node", () => processes.spawnSync(process.execPath, ["-e", "1"]));
        attempt("exec", () => processes.execSync("true"));
        attempt("fork", () => { const child = processes.fork(__filename); child.on("error", () => {}); if (!child.pid) throw 1; });
        attempt("cluster", () => { const child = require("cluster").fork().process; child.on("error", () => {}); if (!child.pid) throw 1; });
    },
    "fork bomb": () => { for (let round = 0; round < 200; round++) attempt("spawn", () => processes.spawnSync(process.execPath, [__filename])); },
    "signal others": () => {
        attempt("victim", () => process.kill(Number(victim), "SIGKILL"));
        attempt("parent", () => process.kill(process.ppid, 0));
        attempt("first", () => process.kill(1, "SIGKILL"));
        attempt("all", () => process.kill(-1, 0));
        attempt("debug", () => process._debugProcess(Number(victim)));
    },
    "change user": () => {
        attempt("setuid", () => { process.setuid(0); });
        attempt("chdir", () => fs.readdirSync((process.chdir(folder), ".")));
        attempt("load", () => process.dlopen({ exports: {} }, `${folder}/secret.txt`));
    },
    "use memory": () => {
        const kept = [];
        for (let round = 0; round < 400; round++) kept.push(Buffer.alloc(16 << 20, 1));
        console.log("HARM memory");
    },
    "use the heap": () => {
        const kept = [];
        for (;;) kept.push(new Array(1000).fill(kept.length + 0.5));
    },
    "share memory": () => {
        const kept = [];
        for (let round = 0; round < 400; round++) kept.push(new Uint8Array(new SharedArrayBuffer(16 << 20)).fill(1));
        console.log("HARM shared memory");
    },
    "many threads": () => {
        const { Worker } = require("worker_threads");
        for (let round = 0; round < 1000; round++) {
            const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
            worker.on("error", () => {});
        }
    },
    "loop": () => { for (;;) {} },
    "loop deaf": () => { for (const each of ["SIGTERM", "SIGINT", "SIGXCPU"]) process.on(each, () => {}); for (;;) {} },
    "sleep": () => { setInterval(() => {}, 1000); },
    "flood output": () => { const text = "x".repeat(1 << 16); for (;;) fs.writeSync(1, text); },
    "flood errors": () => { const text = "x".repeat(1 << 16); for (;;) fs.writeSync(2, text); },
    "flood deaf": () => { process.on("SIGXFSZ", () => {}); for (;;) try { fs.writeSync(1, "x".repeat(1 << 16)); } catch (error) {} },
    "write to its input": () => { attempt("stdin", () => fs.writeSync(0, "x")); },
    "crash": () => { process.abort(); },
};
if (names === "names") console.log(Object.keys(harms).join("\n"));
else for (const name of names.split(",")) { console.log("##", name); harms[name](); }
