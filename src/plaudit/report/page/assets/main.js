// The page: which tab is shown, of which run; keys; light and dark; and, where runs are live, looking for news.
import { Browser } from "./samples.js";
import { EmbeddedRun, ServedRun, servedRuns } from "./embedded.js";
import { comparison } from "./comparison.js";
import { drawing, element, formatNumber, hideTip, replace } from "./dom.js";
import { overview } from "./overview.js";
import { readAddress, writeAddress } from "./address.js";

const data = JSON.parse(document.getElementById("report-data").textContent);
const main = document.getElementById("main"), top_ = document.getElementById("top");
let runs = data.served ? [] : data.runs.map((run, number) => new EmbeddedRun(run, number));
let browser = null;
let drawn = 0;

function theme() {
  const order = ["auto", "light", "dark"], root = document.documentElement;
  try { root.dataset.theme = localStorage.getItem("plaudit-theme") ?? "auto"; } catch { /* no storage for files: auto */ }
  const button = element("button", { class: "quiet", title: "Light or dark", onclick: () => {
    root.dataset.theme = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
    try { localStorage.setItem("plaudit-theme", root.dataset.theme); } catch { /* as above */ }
    label();
  } });
  const label = () => { button.textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[root.dataset.theme]; button.setAttribute("aria-label", `Colours: ${root.dataset.theme}; change`); };
  label();
  return button;
}
const themeButton = theme();

function header(address, run) {
  const tabs = [["overview", "Overview"], ["samples", "Samples"], ...(runs.length > 1 ? [["compare", "Compare"]] : [])];
  const chooser = runs.length > 1 ? element("select", { "aria-label": "Run", onchange: (event) => { location.hash = writeAddress({ tab: address.tab === "compare" ? "overview" : address.tab, run: Number(event.target.value) }); } },
    runs.map((each) => element("option", { value: String(each.number), selected: each.number === address.run }, each.name))) : null;
  const mark = drawing("svg", { class: "mark", viewBox: "0 0 24 24", "aria-hidden": "true" },
    [[2, 13, 4, "blue"], [8, 8, 4, "teal"], [14, 3, 4, "green"]].map(([x, y, width, color]) => drawing("rect", { class: `mark ${color}`, x, y, width, height: 21 - y, rx: 1.5 })));
  replace(top_, element("div", { class: "bar" },
    element("div", { class: "brand" }, mark, element("h1", {}, run.name), element("span", { class: "of" }, "plaudit")),
    element("nav", { class: "tabs", "aria-label": "Parts of the report" }, tabs.map(([tab, title]) => element("a", { href: writeAddress({ tab, run: address.run }), "aria-current": address.tab === tab ? "page" : null }, title))),
    element("div", { class: "end" }, run.live ? element("span", { class: "live", role: "status" }, `live, ${formatNumber(run.read)} samples`) : null, chooser, themeButton)));
}

async function show() {
  hideTip();
  const turn = ++drawn;
  const address = readAddress();
  const run = runs[address.run] ?? runs[0];
  if (!run) return replace(main, element("p", { class: "loading" }, "Nothing is scored here yet; this page looks again every few seconds."));
  address.run = run.number;
  await Promise.all(address.tab === "compare" ? runs.map((each) => each.load()) : [run.load()]);
  if (turn !== drawn) return;
  header(address, run);
  document.title = `${run.name} – plaudit`;
  if (!run.figures) return replace(main, element("p", { class: "loading" }, `Reading the rollouts: ${formatNumber(run.read)} so far …`));
  if (address.tab === "samples") {
    if (browser?.run !== run || !main.contains(browser.node)) {
      browser = new Browser(run, runs);
      replace(main, browser.node);
    }
    await browser.show(address);
  } else {
    browser = null;
    replace(main, address.tab === "compare" && runs.length > 1 ? comparison(runs.filter((each) => each.figures), data.difference) : overview(run));
    const card = address.card && document.getElementById(`card-${address.card}`);
    if (card) card.scrollIntoView({ block: "start" });
  }
  document.documentElement.dataset.ready = address.tab;
}

function keys(event) {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const actions = {
    j: () => browser?.move(1), k: () => browser?.move(-1), ArrowRight: () => browser?.address.sample !== null && browser?.move(1), ArrowLeft: () => browser?.address.sample !== null && browser?.move(-1),
    Escape: () => browser?.address.sample !== null && browser?.go({ sample: null }),
    o: () => { location.hash = "#overview"; }, s: () => { location.hash = "#samples"; },
    "/": () => { if (browser) { event.preventDefault(); browser.tools.querySelector("input[type=search]").focus(); } else location.hash = "#samples"; },
  };
  actions[event.key]?.();
}

// Look for news while runs are served; an overview is drawn again, a list of samples is left as it is.
async function follow() {
  try {
    for (const [number, state] of (await servedRuns()).entries()) {
      const known = runs[number];
      if (!known) runs.push(new ServedRun(state, number));
      else if (known.version === state.version && known.read === state.read && known.live === state.live) continue;
      else {
        const isNew = known.version !== state.version;
        Object.assign(known, state);
        if (isNew && known.figures) await known.refresh();
      }
      const address = readAddress();
      if (address.tab !== "samples" || !browser) await show();
      else header(address, runs[address.run] ?? runs[0]);
    }
    document.body.dataset.offline = "no";
  } catch {
    document.body.dataset.offline = "yes";
  }
  setTimeout(follow, 2000);
}

let wide = innerWidth;
addEventListener("resize", () => { // charts are drawn for a width
  if (Math.abs(innerWidth - wide) > 60 && !browser) { wide = innerWidth; show(); }
});
addEventListener("hashchange", show);
addEventListener("keydown", keys);
if (data.served) follow();
else show();
