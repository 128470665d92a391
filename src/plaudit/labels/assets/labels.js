"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const CHOICES = [["1", "label right"], ["2", "label wrong"], ["3", "reward wrong"], ["0", "unclear"]];
const STORE = `plaudit labels ${data.title}`;
const element = (id) => document.getElementById(id);
let decisions = {};
try {
  decisions = JSON.parse(localStorage.getItem(STORE) || "{}");
} catch {
  decisions = {};
}
let index = 0;

function setText(id, text) {
  element(id).textContent = text;
}

function show() {
  const finding = data.findings[index];
  const decided = data.findings.filter((each) => each.key in decisions).length;
  setText("progress", `finding ${index + 1} of ${data.findings.length}, ${decided} decided`);
  setText("kind", finding.kind);
  const chance = finding.probability === undefined ? "" : ` (probability ${(100 * finding.probability).toFixed(0)} %)`;
  setText("evidence", finding.evidence + chance);
  setText("prompt", finding.prompt || finding.group);
  setText("label", finding.label || "of several groups");
  setText("suggestion", finding.suggestion || "none");
  const known = decisions[finding.key];
  element("corrected").value = known ? known.label : finding.suggestion || "";
  const list = element("responses");
  list.replaceChildren(...finding.answers.map((answer) => {
    const item = document.createElement("li");
    const paid = answer.paid === null ? "not scored" : answer.paid ? "paid" : "not paid";
    const head = document.createElement("p");
    head.textContent = `sample ${answer.row}: answer ${answer.answer === null ? "not read" : answer.answer}, ${paid}`;
    const text = document.createElement("pre");
    text.textContent = answer.response;
    text.tabIndex = 0;
    text.setAttribute("role", "region");
    text.setAttribute("aria-label", `Response of sample ${answer.row}`);
    item.append(head, text);
    return item;
  }));
  for (const button of element("choices").children) {
    button.setAttribute("aria-pressed", String(Boolean(known) && known.decision === button.dataset.decision));
  }
}

function move(step) {
  index = Math.min(data.findings.length - 1, Math.max(0, index + step));
  show();
}

function nextUndecided() {
  const after = [...data.findings.keys()].map((offset) => (index + 1 + offset) % data.findings.length);
  const open = after.find((each) => !(data.findings[each].key in decisions));
  if (open !== undefined) index = open;
  show();
}

function decide(decision) {
  const { key } = data.findings[index];
  decisions[key] = { key, decision, label: decision === "label wrong" ? element("corrected").value.trim() : "" };
  try {
    localStorage.setItem(STORE, JSON.stringify(decisions));
  } catch {
    setText("progress", "this browser does not keep decisions: download them before you close the page");
  }
  nextUndecided();
}

function download() {
  const text = JSON.stringify({ decisions: Object.values(decisions) }, null, 2);
  const link = document.createElement("a");
  link.href = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
  link.download = "decisions.json";
  link.click();
}

const ACTIONS = { j: () => move(1), k: () => move(-1), u: nextUndecided, d: download };
for (const [key, decision] of CHOICES) {
  ACTIONS[key] = () => decide(decision);
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.decision = decision;
  button.textContent = `${key}: ${decision}`;
  button.addEventListener("click", ACTIONS[key]);
  element("choices").append(button);
}
const BUTTONS = { previous: "k", next: "j", open: "u", download: "d" };
for (const [id, key] of Object.entries(BUTTONS)) element(id).addEventListener("click", ACTIONS[key]);
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT") {
    if (event.key === "Enter") decide("label wrong");
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "e") {
    event.preventDefault();
    element("corrected").focus();
  } else if (ACTIONS[event.key]) ACTIONS[event.key]();
});
setText("title", data.title);
const rate = (share) => `${(100 * share).toFixed(1)} %`;
const [low, high] = data.label_errors.interval.map(rate);
setText("summary", `${data.groups} groups, ${data.responses} responses (${data.unread} without a readable answer, `
  + `${data.unscored} not scored). Estimated share of wrong labels: ${rate(data.label_errors.rate)} (${low} to ${high}). `
  + "Keys: 1, 2, 3 and 0 decide, e edits the label, j and k move, u goes to the next undecided finding, d downloads.");
if (data.findings.length) show();
else setText("progress", "no findings");
