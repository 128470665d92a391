// The browser of samples: search, filters by any column, order, pages, groups; the chosen sample beside the list.
import { SIGNS } from "./query.js";
import { element, formatNumber, formatShare, replace } from "./dom.js";
import { showSample } from "./sample.js";
import { replaceVisit, visit, writeAddress } from "./address.js";
import { plainPreview, rewardColor } from "./texts.js";

const PAGE = 50;
const TYPING_MS = 120;
const TEXTS = [["prompt", "prompt"], ["response", "response"], ["ground_truth", "ground truth"]];
const SHOWN = new Map(Object.entries({ sample: "#", training_step: "step", reward: "reward", score: "score", length: "length" }));

export class Browser {
  constructor(run, runs) {
    [this.run, this.runs] = [run, runs];
    this.list = element("div", { class: "panelbox list" });
    this.side = element("section", { class: "panelbox detail", "aria-label": "The chosen sample", tabindex: "-1", hidden: true });
    this.body = element("div", { class: "results" });
    this.search = element("input", { type: "search", placeholder: "Search prompts and responses", "aria-label": "Search prompts and responses" });
    this.search.addEventListener("focus", () => this.run.prepareSearch?.());
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.ask({ search: this.search.value }, replaceVisit), TYPING_MS);
    });
    this.filters = element("div", { class: "filters" });
    this.tools = element("div", { class: "tools" }, this.search, this.filters); // the field stays while one types
    this.list.append(this.tools, this.body);
    this.node = element("div", { class: "page" }, element("div", { class: "browser closed" }, this.list, this.side));
  }

  async show(address) {
    const before = this.address;
    this.address = address;
    const listed = ({ query, view, page }) => JSON.stringify([query, view, page]);
    const changed = !before || listed(before) !== listed(address);
    if (changed) this.drawTools();
    const loading = changed ? this.drawList() : Promise.resolve();
    await Promise.all([loading, this.drawSample()]);
    this.mark();
  }

  go(changes, how = visit) {
    const { query, view, page, sample, run } = { ...this.address, ...changes };
    how(writeAddress({ tab: "samples", run, query, view, page, sample }));
  }

  ask(changes, how = visit) { this.go({ query: { ...this.address.query, ...changes }, page: 0, sample: null }, how); }

  drawTools() {
    const { query, view } = this.address;
    if (document.activeElement !== this.search) this.search.value = query.search;
    const sort = element("select", { "aria-label": "Order by" }, ["sample", ...this.run.columns].flatMap((name) => [[name, false, "↑"], [name, true, "↓"]]).map(([name, down, arrow]) => element("option", { value: JSON.stringify([name, down]), selected: query.sort[0] === name && query.sort[1] === down }, `${name === "sample" ? "in file order" : name} ${arrow}`)));
    sort.addEventListener("change", () => this.ask({ sort: JSON.parse(sort.value) }));
    const mode = element("select", { "aria-label": "Show samples or groups" }, [["samples", "as samples"], ["groups", "as groups"]].map(([value, text]) => element("option", { value, selected: view === value }, text)));
    mode.addEventListener("change", () => this.go({ view: mode.value, page: 0, sample: null }));
    const chips = element("div", { class: "chips" }, query.where.map((condition, place) => element("button", { class: "chip", title: "Remove this filter", "aria-label": `Remove the filter ${condition.join(" ")}`, onclick: () => this.ask({ where: query.where.filter((_, other) => other !== place) }) }, `${condition.join(" ")}  ✕`)));
    replace(this.filters, this.filterForm(), sort, mode, chips);
  }

  filterForm() {
    const choices = element("datalist", { id: "filter-values" });
    const column = element("select", { "aria-label": "Filter by column" }, ["sample", ...this.run.columns].map((name) => element("option", { value: name, selected: name === "reward" }, name)));
    const sign = element("select", { "aria-label": "Comparison" }, SIGNS.map((each) => element("option", { value: each, selected: each === ">=" }, each === "~" ? "contains" : each)));
    const value = element("input", { "aria-label": "Value to compare with", placeholder: "value", list: "filter-values", size: "8" });
    column.addEventListener("change", async () => {
      const known = await this.run.choices(column.value);
      replace(choices, known.map((each) => element("option", { value: each })));
      sign.value = known.length && known.some((each) => Number.isNaN(Number(each))) ? "=" : sign.value;
    });
    const form = element("form", { class: "filter" }, column, sign, value, choices, element("button", { type: "submit" }, "Filter"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (value.value !== "" || sign.value.includes("=")) this.ask({ where: [...this.address.query.where, [column.value, sign.value, value.value]] });
    });
    return form;
  }

  async drawList() {
    this.pending?.abort();
    const { signal } = (this.pending = new AbortController());
    const { query, view, page } = this.address;
    const count = element("span", { role: "status" }, "Searching …");
    const head = element("div", { class: "count" }, count);
    const progress = (found, searched) => { count.textContent = `${formatNumber(found)} found so far${searched ? `, ${formatShare(searched)} searched` : ""} …`; };
    if (!this.body.childElementCount) replace(this.body, head);
    else this.body.firstElementChild.replaceWith(head);
    let found;
    try {
      found = await (view === "groups" ? this.run.groups : this.run.samples).call(this.run, query, page * PAGE, PAGE, progress, signal);
    } catch (error) {
      count.textContent = `That did not work: ${error.message}`;
      return;
    }
    if (found === null || signal.aborted) return;
    this.found = found;
    const of = view === "groups" ? "groups" : "samples";
    const listed = found.total === 1 ? of.slice(0, -1) : of;
    count.textContent = `${formatNumber(found.total)} ${listed}${query.where.length || query.search ? ` of a run with ${formatNumber(this.run.rows)} samples` : ""}`;
    if (this.run.texts < this.run.rows) head.append(element("span", { class: "hint" }, `with the texts of ${formatNumber(this.run.texts)}; the others did not fit`));
    head.append(this.pager(found.total));
    replace(this.body, head, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `List of ${of}` }, view === "groups" ? this.groupTable(found.rows) : this.sampleTable(found.rows)));
    this.mark();
  }

  pager(total) {
    const { page } = this.address, last = Math.max(0, Math.ceil(total / PAGE) - 1);
    return element("span", { class: "pager" },
      element("button", { disabled: page === 0, onclick: () => this.go({ page: page - 1 }), "aria-label": "Previous page" }, "‹"),
      `${formatNumber(page + 1)} / ${formatNumber(last + 1)}`,
      element("button", { disabled: page >= last, onclick: () => this.go({ page: page + 1 }), "aria-label": "Next page" }, "›"));
  }

  sampleTable(rows) {
    const { query } = this.address;
    const extra = [query.sort[0], ...query.where.map(([name]) => name)].filter((name, place, all) => !SHOWN.has(name) && name !== "status" && all.indexOf(name) === place);
    const shown = [...SHOWN.keys()].filter((name) => name === "sample" || name === "reward" || rows.some((row) => row.values[name] !== null && row.values[name] !== undefined));
    const head = [...shown, ...extra].map((name) => element("th", { scope: "col", class: SHOWN.has(name) ? "n" : "", "aria-sort": query.sort[0] === name ? (query.sort[1] ? "descending" : "ascending") : null },
      element("button", { onclick: () => this.ask({ sort: [name, query.sort[0] === name ? !query.sort[1] : name !== "sample"] }) }, `${SHOWN.get(name) ?? name}${query.sort[0] === name ? (query.sort[1] ? " ↓" : " ↑") : ""}`)));
    const texts = TEXTS.filter(([name]) => name === "response" || rows.some((row) => row.preview?.[name]));
    return element("table", { class: "samples" },
      element("caption", { class: "sr" }, "Samples"),
      element("thead", {}, element("tr", {}, head, texts.map(([, title]) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, rows.map((row) => element("tr", { "data-sample": row.sample, onclick: (event) => event.target.closest("a") || this.go({ sample: row.sample }) },
        shown.map((name) => element("td", { class: "n" }, this.cell(row, name))),
        extra.map((name) => element("td", {}, formatNumber(row.values[name]))),
        texts.map(([name]) => element("td", { class: `preview ${name}` }, row.preview === null ? (name === "response" ? element("i", {}, "left out") : "") : plainPreview(row.preview[name])))))));
  }

  cell(row, name) {
    if (name === "sample") return element("a", { href: writeAddress({ ...this.address, tab: "samples", sample: row.sample }) }, String(row.sample));
    if (name === "reward" && row.values.status !== "ok") return element("span", { class: "status", "data-status": row.values.status }, row.values.status);
    return formatNumber(row.values[name]);
  }

  groupTable(rows) {
    const [low, high] = this.run.range;
    return element("table", { class: "samples" },
      element("caption", { class: "sr" }, "Groups: the responses to one prompt"),
      element("thead", {}, element("tr", {}, [["group", "n"], ["step", "n"], ["mean", "n"], ["spread", "n"], ["score", "n"], ["samples, by reward", ""]].map(([title, kind]) => element("th", { scope: "col", class: kind }, title)))),
      element("tbody", {}, rows.map((group) => element("tr", { onclick: (event) => event.target.closest("a, button") || this.openGroup(group) },
        element("td", { class: "n" }, element("a", { href: writeAddress({ tab: "samples", run: this.address.run, query: { where: [["group_number", "=", String(group.group)]] } }) }, String(group.group))),
        element("td", { class: "n" }, formatNumber(group.step)),
        element("td", { class: "n" }, formatNumber(group.mean)), element("td", { class: "n" }, formatNumber(group.spread)), element("td", { class: "n" }, formatNumber(group.score)),
        element("td", {}, element("div", { class: "strip" }, group.cells.slice(0, 64).map(([sample, reward, status]) => element("button", {
          class: reward === null ? "cell none" : "cell", style: reward === null ? {} : { background: rewardColor(reward, low, high) },
          title: `sample ${sample}: ${reward === null ? status : formatNumber(reward)}`, "aria-label": `sample ${sample}, ${reward === null ? status : `reward ${formatNumber(reward)}`}`, onclick: () => this.go({ sample }) }))))))));
  }

  openGroup(group) { visit(writeAddress({ tab: "samples", run: this.address.run, query: { where: [["group_number", "=", String(group.group)]] } })); }

  async drawSample() {
    const { sample } = this.address;
    const frame = this.node.firstElementChild;
    frame.className = sample === null ? "browser closed" : "browser open";
    this.side.hidden = sample === null;
    if (sample === null || this.shown === sample) return;
    this.shown = sample;
    const content = await showSample(this.run, sample, {
      close: () => { this.shown = null; this.go({ sample: null }); },
      move: (by) => this.move(by),
      openGroup: (number) => this.openGroup({ group: number }),
    });
    if (this.shown !== sample) return;
    replace(this.side, content);
    this.side.scrollTop = 0;
    if (innerWidth <= 1000) scrollTo(0, 0);
  }

  move(by) {
    const rows = (this.found?.rows ?? []).map((row) => row.sample).filter((row) => row !== undefined);
    const place = rows.indexOf(this.address.sample);
    const next = this.address.sample === null ? rows[0] : place < 0 ? this.address.sample + by : rows[place + by];
    if (next !== undefined && next >= 0 && next < this.run.rows) this.go({ sample: next });
  }

  mark() {
    for (const row of this.body.querySelectorAll("tr[data-sample]")) {
      const chosen = Number(row.dataset.sample) === this.address.sample;
      row.setAttribute("aria-selected", String(chosen));
      if (chosen) row.scrollIntoView({ block: "nearest" });
    }
    if (this.address.sample === null) this.shown = null;
  }
}
