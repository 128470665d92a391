// Several runs side by side: what differs between them, figures in a table, curves over each other.
import { legend, lineChart, panelWidth } from "./charts.js";
import { element, formatNumber, formatSeconds, formatShare, formatSigned, makeTable } from "./dom.js";
import { differences } from "./differences.js";

const COLORS = ["blue", "orange", "green", "purple", "teal", "red", "slate"];
const FIGURES = [
  ["samples", (f) => formatNumber(f.summary.count)],
  ["not scored", (f) => formatShare(1 - (f.summary.statuses.ok ?? 0) / f.summary.count)],
  ["mean reward", (f) => formatNumber(f.summary.reward?.mean ?? null)],
  ["std of the reward", (f) => formatNumber(f.summary.reward?.std ?? null)],
  ["mean reward over all samples", (f) => formatNumber(f.summary.reward?.mean_all ?? null)],
  ["mean score over all samples", (f) => formatNumber(f.summary.score?.mean_all ?? null)],
  ["mean score", (f) => formatNumber(f.summary.score?.mean ?? null)],
  ["pass@1", (f) => formatShare(f.pass_rates?.pass_at[0].value)],
  ["pass@k, largest k", (f) => f.pass_rates ? `${formatShare(f.pass_rates.pass_at.at(-1).value)} (k = ${f.pass_rates.pass_at.at(-1).k})` : "–"],
  ["dead groups", (f) => f.groups.compared ? formatShare(f.groups.dead / f.groups.compared) : "–"],
  ["phantom signal", (f) => f.summary.score ? formatShare(f.groups.phantom_share) : "–"],
  ["length bias", (f) => f.groups.compared ? formatSigned(f.length_bias.overall?.value ?? null) : "–"],
  ["near-duplicates in groups", (f) => f.groups.compared ? formatShare(f.duplicates?.within_group) : "–"],
  ["time per sample, p95", (f) => formatSeconds(f.summary.latency?.p95 ?? null)],
];
const CURVES = [["Reward", "reward"], ["Score", "score"], ["Length (characters)", "length"], ["Dead groups", "dead", formatShare], ["Phantom groups", "phantom", formatShare], ["Scored samples", "scored", formatShare]];

export function comparison(runs, difference) {
  const named = runs.map((run, place) => [run.name, COLORS[place % COLORS.length]]);
  const panels = CURVES.map(([title, key, format]) => [title, format, runs.map((run, place) => ({ name: run.name, color: COLORS[place % COLORS.length], points: run.figures.curve.map((one) => [one.last, one[key]]) }))])
    .filter(([, , series]) => series.some((one) => one.points.some(([, y]) => y !== null)));
  return element("div", { class: "page" }, element("div", { class: "cards" },
    difference ? differences(difference, runs) : null,
    element("section", { class: "card wide", "aria-labelledby": "title-compare" },
      element("h2", { id: "title-compare" }, "Runs side by side"),
      element("p", { class: "says" }, "The same figures of each run; the curves below share their axes."),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the runs" }, makeTable("Figures of the runs", [["", ""], ...runs.map((run) => [run.name, "n"])],
        FIGURES.map(([name, read]) => [name, ...runs.map((run) => read(run.figures))]), "figures"))),
    panels.length ? element("section", { class: "card wide", "aria-labelledby": "title-over" },
      element("h2", { id: "title-over" }, "Over training"), legend(named),
      element("div", { class: "panels" }, panels.map(([title, format, series]) => element("div", { class: "panel" }, element("h3", {}, title), lineChart(title, series, { height: 190, width: panelWidth(), ...(format ? { format, from: 0 } : {}) }))))) : null));
}
