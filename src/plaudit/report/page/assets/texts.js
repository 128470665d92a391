// Foreign text on the page: always text nodes, characters without ink made visible, long texts cut until asked for.
import { element, formatNumber } from "./dom.js";

const FIRST = 20_000;
const MOST_MARKS = 2_000;
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff]/;
// A joiner within an emoji is part of it.
const LONE_JOINER = "\\u200d(?<![\\p{Extended_Pictographic}\\ufe0f\\u{1f3fb}-\\u{1f3ff}]\\u200d)";
const HIDDEN_RUNS = new RegExp(`(${HIDDEN.source}|${LONE_JOINER})`, "u");
// Where Python's str.split() cuts, so that word rewards meet their words.
const SPACE = /([\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+)/;

export function plainPreview(text) {
  return text.slice(0, 200).replace(/\s+/g, " ").split(HIDDEN_RUNS).map((part) => HIDDEN_RUNS.test(part) && part.length <= 2 ? "·" : part).join("");
}

function visible(text) {
  const parts = text.split(HIDDEN_RUNS);
  if (parts.length > 2 * MOST_MARKS) return [text];
  return parts.map((part, place) => place % 2
    ? element("span", { class: "hidden-char", title: "a character that prints nothing" }, `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`)
    : part);
}

// A box with a text; `pieces` are the parts it is made of, coloured ones among them, as {text, color, title}.
export function textBox(label, text, pieces = null) {
  const box = element("div", { class: "text", tabindex: "0", role: "region", "aria-label": label, dir: "auto" });
  if (pieces) {
    box.append(...pieces.flatMap(({ text: part, color, title }) => color ? [element("span", { style: { background: color }, title }, visible(part))] : visible(part)));
    return box;
  }
  box.append(...visible(text.slice(0, FIRST)));
  if (!text) box.append(element("i", { class: "hint" }, "(empty)"));
  if (text.length <= FIRST) return box;
  const more = element("button", { onclick: () => { box.append(...visible(text.slice(FIRST))); more.remove(); } }, `Show all ${formatNumber(text.length)} characters`);
  return element("div", {}, box, element("p", { class: "hint" }, `The first ${formatNumber(FIRST)} characters. `, more));
}

// From red (low) over pale to green (high); the scheme follows light and dark.
export function rewardColor(value, low, high) {
  const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
  return `color-mix(in oklab, var(--fill-green) ${Math.round(100 * share)}%, var(--fill-red))`;
}

function signedColor(value, size) {
  if (!value) return "transparent";
  return `color-mix(in oklab, var(--fill-${value > 0 ? "green" : "red"}) ${Math.round(12 + 48 * Math.min(1, Math.abs(value) / size))}%, transparent)`;
}

// Rewards of words or tokens: a strip over the whole response, and the response with its parts coloured.
export function heatedResponse(response, values, spans) {
  const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const cells = Math.min(values.length, 240);
  const strip = element("div", { class: "heat", role: "img", "aria-label": `Rewards of ${values.length} parts of the response, from its beginning to its end` });
  for (let cell = 0; cell < cells; cell++) {
    const part = values.slice(Math.floor(cell * values.length / cells), Math.floor((cell + 1) * values.length / cells));
    const mean = part.reduce((a, b) => a + b, 0) / part.length;
    strip.append(element("i", { style: { background: signedColor(mean, size) }, title: formatNumber(mean) }));
  }
  if (values.length > 5_000 || !spans) return [strip, textBox("Response", response)];
  const pieces = [];
  let end = 0;
  spans.forEach(([from, to], place) => {
    if (from > end) pieces.push({ text: response.slice(end, from) });
    pieces.push({ text: response.slice(from, to), color: signedColor(values[place], size), title: `reward ${formatNumber(values[place])}` });
    end = to;
  });
  pieces.push({ text: response.slice(end) });
  return [strip, textBox("Response", response, pieces)];
}

// Where the words of a text lie, as Python's split() finds them.
export function wordSpans(text) {
  const spans = [];
  let place = 0;
  for (const [index, part] of text.split(SPACE).entries()) {
    if (index % 2 === 0 && part) spans.push([place, place + part.length]);
    place += part.length;
  }
  return spans;
}

// Offsets that count characters as Python does, as offsets of this language, where some take two places.
export function tokenSpans(text, offsets) {
  if (!offsets) return null;
  const places = [0];
  for (const character of text) places.push(places.at(-1) + character.length);
  return offsets.map(([from, to]) => [places[Math.min(from, places.length - 1)], places[Math.min(to, places.length - 1)]]);
}
