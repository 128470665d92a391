const fs = require("fs");
const [a, b] = fs.readFileSync(0, "utf8").split(" ").map(Number);
let reached = "refused";
try { fs.readFileSync("/etc/passwd"); reached = "possible"; } catch (error) {}
console.log(a + b, reached);
