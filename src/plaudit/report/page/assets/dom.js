// Elements and numbers. Text reaches the page through text nodes only, never as markup.
const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, each] of Object.entries(value)) node.style.setProperty(name, each);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false).map(straighten));
  return node;
}

// In a foreign name, a character that turns the direction of writing would turn the words around it too.
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
function straighten(child) { return typeof child === "string" ? child.replace(TURNS, "·") : child; }

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

export function formatNumber(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return value.toLocaleString("en-US");
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  return value.toLocaleString("en-US", { maximumSignificantDigits: size >= 1000 ? 5 : 3 });
}

export function formatShare(share) {
  if (share === null || share === undefined) return "–";
  const digits = Math.abs(share) >= 0.1 || share === 0 ? 0 : 1;
  return `${(100 * share).toFixed(digits)} %`;
}

export function formatSeconds(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1e-3) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  return seconds < 1 ? `${Number((seconds * 1e3).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}

export function formatSigned(value) {
  return value === null || value === undefined ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`;
}

// A table: columns are [title, kind] with kind "n" for numbers; cells are texts or nodes.
export function makeTable(caption, columns, rows, kind = "plain") {
  if (!rows.length && kind === "plain") return null; // headers alone show nothing
  return element("table", { class: kind },
    element("caption", { class: "sr" }, caption),
    element("thead", {}, element("tr", {}, columns.map(([title, kind]) => element("th", { scope: "col", class: kind }, title)))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell, place) => element("td", { class: columns[place][1] }, cell))))),
  );
}

let tip = null;
export function showTip(event, text) {
  hideTip();
  tip = element("div", { class: "tip", role: "presentation" }, text);
  document.body.append(tip);
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - box.width - 8)}px`;
  tip.style.top = `${Math.max(8, event.clientY - box.height - 10)}px`;
}

export function hideTip() {
  tip?.remove();
  tip = null;
}

export function withTip(node, text) {
  node.addEventListener("pointermove", (event) => showTip(event, text));
  node.addEventListener("pointerleave", hideTip);
  return node;
}
