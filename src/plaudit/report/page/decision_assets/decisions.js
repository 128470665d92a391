"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const STORE = `plaudit ${data.title} ${data.digest}`;
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

function create(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function show() {
  const item = data.items[index];
  const decided = data.items.filter((each) => each.key in decisions).length;
  setText("progress", `${data.noun} ${index + 1} of ${data.items.length}, ${decided} decided`);
  setText("heading", item.heading);
  setText("evidence", item.evidence);
  setText("prompt", item.prompt);
  element("facts").replaceChildren(...item.facts.flatMap(([name, value]) => [create("dt", name), create("dd", value)]));
  const known = decisions[item.key];
  element("corrected").value = known ? known.label : item.suggestion;
  element("responses").replaceChildren(...item.responses.map(([heading, response]) => {
    const line = document.createElement("li");
    const text = create("pre", response);
    text.tabIndex = 0;
    text.setAttribute("role", "region");
    text.setAttribute("aria-label", `Response: ${heading}`);
    line.append(create("p", heading), text);
    return line;
  }));
  for (const button of element("choices").children) {
    button.setAttribute("aria-pressed", String(Boolean(known) && known.decision === button.dataset.decision));
  }
}

function move(step) {
  index = Math.min(data.items.length - 1, Math.max(0, index + step));
  show();
}

function nextUndecided() {
  const after = [...data.items.keys()].map((offset) => (index + 1 + offset) % data.items.length);
  const open = after.find((each) => !(data.items[each].key in decisions));
  if (open !== undefined) index = open;
  show();
}

function decide(decision) {
  const { key } = data.items[index];
  decisions[key] = { key, decision, label: decision === data.edited_by ? element("corrected").value.trim() : "" };
  let kept = true;
  try {
    localStorage.setItem(STORE, JSON.stringify(decisions));
  } catch {
    kept = false;
  }
  nextUndecided();
  if (!kept) setText("progress", "this browser does not keep decisions: download them before you close the page");
}

function download() {
  const text = JSON.stringify({ decisions: Object.values(decisions) }, null, 2);
  const link = document.createElement("a");
  link.href = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
  link.download = "decisions.json";
  link.click();
}

const ACTIONS = { j: () => move(1), k: () => move(-1), u: nextUndecided, d: download };
for (const [key, decision] of data.choices) {
  ACTIONS[key] = () => decide(decision);
  const button = create("button", `${key}: ${decision}`);
  button.type = "button";
  button.dataset.decision = decision;
  button.addEventListener("click", ACTIONS[key]);
  element("choices").append(button);
}
const BUTTONS = { previous: "k", next: "j", open: "u", download: "d" };
for (const [id, key] of Object.entries(BUTTONS)) element(id).addEventListener("click", ACTIONS[key]);
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT") {
    if (event.key === "Enter") decide(data.edited_by);
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "e" && data.edited_by !== null) {
    event.preventDefault();
    element("corrected").focus();
  } else if (Object.hasOwn(ACTIONS, event.key)) ACTIONS[event.key]();
});
setText("title", data.title);
const edits = data.edited_by === null ? "" : "e edits the label, ";
const keys = data.choices.map(([key]) => key).join(", ");
setText("summary", `${data.summary} Keys: ${keys} decide, ${edits}j and k move, `
  + `u goes to the next undecided ${data.noun}, d downloads.`);
element("edit").hidden = data.edited_by === null;
if (data.items.length) show();
else setText("progress", `no ${data.noun}s`);
