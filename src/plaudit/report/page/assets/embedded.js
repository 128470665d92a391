// The samples of a run: columns of numbers at once, texts block by block as they are looked at. The blocks are in the
// page itself, or `plaudit view` serves them.
import { compare, holds, searchText } from "./query.js";

const KEPT_BLOCKS = 40;
const SLICE_MS = 50;
const BLOCKS_AT_ONCE = 8;
const GROUP_KEYS = new Map(Object.entries({ sample: "group", reward: "mean", score: "score", training_step: "step" }));

// The script runs before the blocks behind it are read, so that the overview is there at once.
const read = new Promise((resume) => { document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", resume) : resume(); });

function decodeBase64(packed) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(packed);
  const text = atob(packed), bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  return bytes;
}

async function decompress(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

export class EmbeddedRun {
  constructor(run, number) {
    Object.assign(this, run);
    this.number = number;
    this.opened = new Map();
    this.searched = new Map(); // block → the texts of its samples in lower case, kept once a search has read them
  }

  async unpack(name) {
    await read;
    return decompress(decodeBase64(document.getElementById(`run-${this.number}-${name}`).textContent));
  }

  async load() {}

  async open() {
    this.table ??= this.unpack("columns").then((packed) => {
      packed.blocks = Object.entries(packed.blocks).map(([name, rows]) => ({ name, rows }));
      this.places = new Map(packed.blocks.flatMap(({ name, rows }) => rows.map((row, index) => [row, [name, index]])));
      this.values = new Map(packed.columns.map((column) => [column.name, column.texts ? column.values.map((code) => code === null ? null : column.texts[code]) : column.values]));
      return packed;
    });
    await this.table;
  }

  value(row, column) { return column === "sample" ? row : this.values.get(column)?.[row] ?? null; }

  // The rows that hold a text. Blocks are read one after the other, each once: rows of a block lie far apart in the
  // run, so that going by rows would unpack nearly every block for every row.
  async mentioning(needle, progress, signal) {
    const { blocks } = await this.table, rows = new Set();
    let seen = performance.now();
    for (let first = 0; first < blocks.length; first += BLOCKS_AT_ONCE) {
      const part = blocks.slice(first, first + BLOCKS_AT_ONCE);
      const texts = await Promise.all(part.map(({ name }) => this.textsOf(name)));
      part.forEach((block, place) => block.rows.forEach((row, at) => { if (texts[place][at].includes(needle)) rows.add(row); }));
      if (performance.now() - seen < SLICE_MS) continue;
      progress?.(rows.size, (first + part.length) / blocks.length);
      await new Promise((resume) => setTimeout(resume));
      if (signal?.aborted) return null;
      seen = performance.now();
    }
    return rows;
  }

  textsOf(block) {
    if (!this.searched.has(block)) this.searched.set(block, this.unpack(block).then((samples) => samples.map(searchText)));
    return this.searched.get(block);
  }

  // Read all texts while somebody is about to type.
  async prepareSearch() {
    await this.open();
    const { blocks } = await this.table;
    for (const { name } of blocks) await this.textsOf(name);
  }

  async find(query, progress, signal) {
    await this.open();
    const mentioned = query.search ? await this.mentioning(query.search.toLowerCase(), progress, signal) : null;
    if (signal?.aborted) return null;
    const rows = [];
    for (let row = 0; row < this.rows; row++) {
      if (mentioned && !mentioned.has(row)) continue;
      if (query.where.every((condition) => holds(this.value(row, condition[0]), condition))) rows.push(row);
    }
    const [column, down] = query.sort;
    if (column !== "sample" || down) rows.sort((one, other) => compare(this.value(one, column), this.value(other, column), down) || one - other);
    return rows;
  }

  async samples(query, offset, limit, progress, signal) {
    const key = JSON.stringify(query);
    if (this.lastKey !== key) {
      const rows = await this.find(query, progress, signal);
      if (rows === null) return null;
      [this.last, this.lastKey] = [rows, key];
    }
    const page = this.last.slice(offset, offset + limit);
    return { total: this.last.length, rows: await Promise.all(page.map((row) => this.summary(row, query))) };
  }

  async summary(row, query) {
    const names = new Set(["training_step", "status", "reward", "score", "length", query.sort[0], ...query.where.map(([name]) => name)]);
    const values = Object.fromEntries([...names].map((name) => [name, this.value(row, name)]));
    const detail = await this.detail(row);
    return { sample: row, values, preview: detail ? preview(detail) : null };
  }

  async groups(query, offset, limit, progress, signal) {
    const rows = await this.find({ ...query, sort: ["sample", false] }, progress, signal);
    if (rows === null) return null;
    const found = new Map();
    for (const row of rows) {
      const number = this.value(row, "group_number");
      if (!found.has(number)) found.set(number, []);
      found.get(number).push(row);
    }
    const groups = [...found].map(([number, members]) => this.describeGroup(number, members));
    const [column, down] = query.sort;
    const key = GROUP_KEYS.get(column);
    if (key) groups.sort((one, other) => compare(one[key], other[key], down) || one.group - other.group);
    return { total: groups.length, rows: groups.slice(offset, offset + limit) };
  }

  describeGroup(number, members) {
    const cells = members.map((row) => [row, this.value(row, "reward"), this.value(row, "status")]);
    const rewards = cells.map(([, reward]) => reward).filter((reward) => reward !== null);
    const scores = members.map((row) => this.value(row, "score")).filter((score) => score !== null);
    return {
      group: number, count: members.length, cells,
      mean: rewards.length ? rewards.reduce((a, b) => a + b, 0) / rewards.length : null,
      spread: rewards.length ? rewards.reduce((a, b) => Math.max(a, b)) - rewards.reduce((a, b) => Math.min(a, b)) : null,
      score: scores.length ? scores.reduce((a, b) => a + b, 0) / scores.length : null,
      step: this.value(members[0], "training_step"),
    };
  }

  // The whole sample; null where its text was left out of the page.
  async detail(row) {
    await this.open();
    const place = this.places.get(row);
    if (!place) return null;
    const [block, index] = place;
    if (!this.opened.has(block)) {
      if (this.opened.size >= KEPT_BLOCKS) this.opened.delete(this.opened.keys().next().value);
      this.opened.set(block, this.unpack(block));
    }
    return (await this.opened.get(block))[index];
  }

  async choices(column) {
    await this.open();
    const seen = new Set();
    for (const value of this.values.get(column) ?? []) {
      if (value !== null) seen.add(value);
      if (seen.size > 200) return [];
    }
    return [...seen].map(String).sort();
  }

  async valuesOf(row) {
    await this.open();
    return Object.fromEntries(this.columns.map((name) => [name, this.value(row, name)]));
  }
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer;
}

export async function servedRuns() { return (await get("runs")).json(); }

// A run that grows: `refresh` takes the figures and columns of its new version; blocks keep their contents under a name.
export class ServedRun extends EmbeddedRun {
  async unpack(name) { return decompress(await (await get(`runs/${this.number}/${name}`)).arrayBuffer()); }

  async load() { if (!this.figures) await this.refresh(); }

  async refresh() {
    const described = await (await get(`runs/${this.number}`)).json();
    Object.assign(this, described, { table: undefined, lastKey: undefined });
  }
}

// The texts of a message; a part without text, such as an image, is named by its type.
function contentText(content) {
  if (!Array.isArray(content)) return content;
  return content.map((part) => part?.text ?? `[${String(part?.type ?? "part").replace("_url", "")}]`).join(" ");
}

// The beginnings of the texts that the list of samples shows.
function preview({ prompt, response, ground_truth: truth }) {
  const last = typeof prompt === "string" ? prompt : contentText(prompt.at(-1)?.content ?? "");
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 200);
  return { prompt: text(last), response: response.slice(0, 200), ground_truth: truth === undefined ? "" : text(truth) };
}
