// The overview: figures at a glance, what to look at, and a card for each part of the report.
import { barChart, legend, lineChart, panelWidth, partsChart, rowChart, shorten } from "./charts.js";
import { element, formatNumber, formatSeconds, formatShare, formatSigned, makeTable, withTip } from "./dom.js";
import { sampleLink, samplesLink, visit } from "./address.js";
import { metricPanels } from "./curves.js";

const FEW = 20;
const STATUS_COLORS = { unparsed: "slate", skipped: "slate", timeout: "orange", memory: "purple", error: "red" };
const TITLES = {
  rewards: "Rewards", statuses: "Not scored", curves: "Over training", groups: "Groups", components: "Components",
  pass_rates: "Pass rates", length: "Length", phrases: "Phrases that pay", patterns: "How responses fail",
  duplicates: "Variety", latency: "Time",
};

export function overview(run) {
  const remarks = Object.fromEntries(run.remarks.map((remark) => [remark.topic, remark]));
  const bodies = { rewards, statuses, curves, groups, components, pass_rates: passRates, length, phrases, patterns, duplicates, latency };
  const wide = new Set(["curves", "phrases"]);
  const cards = Object.entries(bodies).map(([topic, body]) => {
    const content = remarks[topic] ? body(run.figures, run) : null;
    return content ? card(topic, remarks[topic], content, wide.has(topic), run.figures.summary.count < FEW) : null;
  });
  const half = cards.filter((each) => each && !each.classList.contains("wide"));
  if (half.length % 2) half.at(-1).classList.add("wide"); // no hole in the grid
  return element("div", { class: "page" }, tiles(run), findings(run.remarks), element("div", { class: "cards" }, cards));
}

// Of few samples a chart shows shapes that are chance: the numbers stand there instead.
function card(topic, remark, { chart, tables }, wide, isFew) {
  const few = isFew || !chart;
  const numbers = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${TITLES[topic]}: the numbers` }, tables);
  return element("section", { class: wide ? "card wide" : "card", id: `card-${topic}`, "data-level": remark.level, "aria-labelledby": `title-${topic}` },
    element("h2", { id: `title-${topic}` }, TITLES[topic]),
    element("p", { class: "says" }, remark.text),
    few ? null : element("div", { class: "chart" }, chart),
    remark.advice ? element("p", { class: "advice" }, element("b", {}, "What to do: "), remark.advice) : null,
    few ? numbers : element("details", { class: "data" }, element("summary", {}, "The numbers as a table"), numbers),
  );
}

function tiles(run) {
  const { summary, groups, pass_rates: rates, length_bias: bias } = run.figures;
  const shown = [
    ["Samples", formatNumber(summary.count), summary.count === (summary.statuses.ok ?? 0) ? "all scored" : `${formatShare(1 - (summary.statuses.ok ?? 0) / summary.count)} not scored`],
    ["Mean reward", formatNumber(summary.reward?.mean ?? null), coverage(summary.reward)],
    summary.score ? ["Mean score", formatNumber(summary.score.mean), coverage(summary.score)] : null,
    rates ? [`pass@1`, formatShare(rates.pass_at[0].value), rates.pass_at.length > 1 ? `pass@${rates.pass_at.at(-1).k} ${formatShare(rates.pass_at.at(-1).value)}` : `${formatNumber(rates.groups)} prompts`] : null,
    groups.compared ? ["Dead groups", formatShare(groups.dead / groups.compared), `of ${formatNumber(groups.compared)} groups`] : null,
    groups.compared && summary.score && groups.phantom_share !== null ? ["Phantom signal", formatShare(groups.phantom_share), "scores equal, rewards not"] : null,
    groups.compared && bias.overall ? ["Length bias", formatSigned(bias.overall.value), "correlation within groups"] : null,
    summary.latency ? ["Time per sample", formatSeconds(summary.latency.p50), `p95 ${formatSeconds(summary.latency.p95)}`] : null,
  ];
  return element("div", { class: "tiles" }, shown.filter(Boolean).map(([label, value, more]) => element("div", { class: "tile" },
    element("div", { class: "label" }, label), element("div", { class: "value" }, value), element("div", { class: "more" }, more))));
}

// What stands under a mean: if it leaves samples out, the mean over all samples (unscored ones count as 0) and their share.
function coverage(spread) {
  if (!spread) return "";
  if (!spread.unscored) return `± ${formatNumber(spread.std)}`;
  return `${formatNumber(spread.mean_all)} over all, ${formatShare(spread.unscored / (spread.count + spread.unscored))} unscored`;
}

function findings(remarks) {
  const order = { warning: 0, note: 1 };
  const shown = remarks.filter((remark) => remark.level in order).sort((one, other) => order[one.level] - order[other.level]);
  if (!shown.length) return element("ul", { class: "findings" }, element("li", { "data-level": "good" }, element("span", { class: "badge", "data-level": "good" }, "good"), "Nothing stands out in these figures."));
  return element("section", { "aria-label": "What to look at" }, element("ul", { class: "findings" }, shown.map((remark) => element("li", { "data-level": remark.level },
    element("span", { class: "badge", "data-level": remark.level }, remark.level),
    element("span", {}, remark.text),
    element("a", { class: "where", href: `#overview?card=${remark.topic}` }, TITLES[remark.topic])))));
}

function binName(bin) { return bin.low === bin.high ? formatNumber(bin.low) : `${formatNumber(bin.low)} to ${formatNumber(bin.high)}`; }

function binQuery(bin, last) {
  return bin.low === bin.high ? [["reward", "=", String(bin.low)]] : [["reward", ">=", String(bin.low)], ["reward", last ? "<=" : "<", String(bin.high)]];
}

function rewards(figures, run) {
  const { summary } = figures, bins = summary.reward?.bins ?? [];
  const failed = Object.entries(summary.statuses).filter(([status]) => status !== "ok");
  const total = summary.count;
  const bars = [
    ...bins.map((bin, place) => ({ label: formatNumber(bin.low), value: bin.count, color: "blue", tip: `reward ${binName(bin)}\n${formatNumber(bin.count)} samples, ${formatShare(bin.count / total)}`, go: () => visit(samplesLink(run, { where: binQuery(bin, place === bins.length - 1) })) })),
    ...failed.map(([status, count]) => ({ label: status, value: count, color: STATUS_COLORS[status], tip: `not scored: ${status}\n${formatNumber(count)} samples, ${formatShare(count / total)}`, go: () => visit(samplesLink(run, { where: [["status", "=", status]] })) })),
  ];
  const spreads = [["reward", summary.reward], ["score", summary.score], ...Object.entries(summary.components).map(([name, spread]) => [`component/${name}`, spread])];
  return {
    chart: [failed.length ? legend([["scored", "blue"], ...failed.map(([status]) => [`not scored: ${status}`, STATUS_COLORS[status]])]) : null, bars.length ? barChart("Histogram of rewards, samples that were not scored apart", bars, { gap: failed.length && bins.length ? bins.length : null, height: 220 }) : null],
    tables: [
      makeTable("Histogram of rewards", [["reward or status", ""], ["samples", "n"], ["share", "n"], ["", ""]], [
        ...bins.map((bin, place) => [binName(bin), formatNumber(bin.count), formatShare(bin.count / total), link("show", samplesLink(run, { where: binQuery(bin, place === bins.length - 1) }))]),
        ...failed.map(([status, count]) => [`not scored: ${status}`, formatNumber(count), formatShare(count / total), link("show", samplesLink(run, { where: [["status", "=", status]] }))])]),
      makeTable("Spread", [["value", ""], ["mean", "n"], ["over all", "n"], ["unscored", "n"], ["std", "n"], ["min", "n"], ["p25", "n"], ["p50", "n"], ["p75", "n"], ["max", "n"], ["at the lowest", "n"], ["at the highest", "n"]],
        spreads.filter(([, spread]) => spread).map(([name, spread]) => [name, ...["mean", "mean_all", "unscored", "std", "min", "p25", "p50", "p75", "max"].map((key) => formatNumber(spread[key])), formatShare(spread.at_min), formatShare(spread.at_max)]))],
  };
}

function columnName(one) { return one.component ? `component/${one.name}` : one.name; }
function link(text, address) { return element("a", { href: address }, text); }

function statuses({ summary }, run) {
  const rows = summary.failures.slice(0, 8);
  if (!rows.length) return null;
  return {
    chart: rowChart("Why samples were not scored", rows.map((one) => ({ label: one.reason, value: one.count, color: STATUS_COLORS[one.status], caption: formatNumber(one.count), tip: `${one.status}: ${one.reason}\n${formatNumber(one.count)} samples`, go: () => visit(failureLink(run, one)) })), { names: Math.min(300, innerWidth / 2) }),
    tables: makeTable("Why samples were not scored", [["samples", "n"], ["status", ""], ["reason", ""], ["first", ""]],
      summary.failures.slice(0, 100).map((one) => [formatNumber(one.count), one.status, one.reason, link(one.example, failureLink(run, one))])),
  };
}

function failureLink(run, failure) {
  const row = /^sample (\d+)/.exec(failure.example);
  return row ? sampleLink(run, Number(row[1])) : samplesLink(run, { where: [["status", "=", failure.status]] });
}

function curves(figures, run) {
  const panels = metricPanels(figures.curve, run.metrics ?? {});
  return {
    chart: element("div", { class: "panels" }, panels.map((panel) => element("div", { class: "panel" },
      element("h3", {}, panel.title), panel.series.length > 1 ? legend(panel.series.map((one) => [one.name, one.color])) : null,
      lineChart(panel.title, panel.series, { ...panel.options, height: 170, width: panelWidth() })))),
    tables: [
      makeTable("First and last quarter of the steps", [["value", ""], ["early", "n"], ["late", "n"], ["shift (std)", "n"], ["KS", "n"]],
        figures.drift.map((one) => [columnName(one), formatNumber(one.early), formatNumber(one.late), formatSigned(one.shift), formatNumber(one.ks)])),
      makeTable("Means by training step", [["step", "n"], ["samples", "n"], ["reward", "n"], ["over all", "n"], ["score", "n"], ["over all", "n"], ["length", "n"], ["dead", "n"], ["phantom", "n"], ["scored", "n"]],
        figures.curve.map((one) => [one.first === one.last ? formatNumber(one.first) : `${one.first}–${one.last}`, formatNumber(one.count), formatNumber(one.reward), formatNumber(one.reward_all), formatNumber(one.score), formatNumber(one.score_all), formatNumber(one.length), formatShare(one.dead), formatShare(one.phantom), formatShare(one.scored)]))],
  };
}

function groups({ groups: found, summary }) {
  if (!found.compared) return null;
  const dead = found.dead_right + found.dead_wrong + found.dead_other;
  const parts = summary.score
    ? [["live: rewards and scores differ", found.live, "green"], ["phantom: only rewards differ", found.phantom, "purple"], ["dead, all right", found.dead_right, "blue"], ["dead, all wrong", found.dead_wrong, "red"], ["dead, other", found.dead_other, "slate"]]
    : [["live: rewards differ", found.live + found.phantom, "green"], ["dead: all rewards equal", dead, "slate"]];
  const rows = parts.map(([label, value, color]) => ({ label, value, color }));
  return {
    chart: [legend(parts.filter(([, value]) => value).map(([label, value, color]) => [`${label} (${formatNumber(value)})`, color])), partsChart("Groups by what they teach", rows, found.compared)],
    tables: makeTable("Groups by what they teach", [["kind", ""], ["groups", "n"], ["share", "n"]], [
      ...parts.map(([label, value]) => [label, formatNumber(value), formatShare(value / found.compared)]),
      ["fewer than two scored samples", formatNumber(found.single), ""],
      ...(!summary.score ? [] : [["signal from phantom groups, Σ A² there / Σ A²", "", formatShare(found.phantom_share)],
      ["the same, advantages normalised", "", formatShare(found.phantom_share_normalized)],
      ["effective signal, mean p(1 − p), 0.25 at best", formatNumber(found.effective_signal), ""]])]),
  };
}

function components({ components: found, summary }) {
  return {
    chart: rowChart("Share of each component in the variance of the reward within groups", found.components.filter((one) => one.share !== null).map((one) => ({ label: one.name, value: one.share, color: one.share < 0 ? "red" : one.judges ? "green" : "blue", caption: formatShare(one.share), tip: `${one.name}: ${formatShare(one.share)} of the variance within groups` })), { most: 1, names: 190 }),
    tables: makeTable("Components", [["component", ""], ["share", "n"], ["weight", "n"], ["mean", "n"], ["std", "n"], ["at lowest", "n"], ["at highest", "n"]],
      found.components.map((one) => [one.name, formatShare(one.share), formatNumber(one.weight), formatNumber(summary.components[one.name]?.mean), formatNumber(summary.components[one.name]?.std), formatShare(summary.components[one.name]?.at_min), formatShare(summary.components[one.name]?.at_max)])),
  };
}

function passRates({ pass_rates: found, groups }) {
  const bars = [{ label: "never", value: found.never, color: "red" }, ...found.bins.map((bin) => ({ label: `${Math.round(bin.low * 100)}–${Math.round(bin.high * 100)} %`, value: bin.count, color: "blue" })), { label: "always", value: found.always, color: "green" }];
  for (const bar of bars) bar.tip = `solved ${bar.label}\n${formatNumber(bar.value)} prompts, ${formatShare(bar.value / found.groups)}`;
  const curve = found.pass_at.length > 1 ? lineChart("pass@k", [{ name: "pass@k", color: "teal", marks: true, points: found.pass_at.map((one) => [one.k, one.value]) }], { from: 0, to: 1, format: formatShare, axis: "k =", height: 120 }) : null;
  if (!groups.compared) return { chart: null, tables: makeTable("Prompts", [["solved", ""], ["prompts", "n"], ["share", "n"]], [bars[0], bars.at(-1)].map((bar, place) => [place ? "yes" : "no", formatNumber(bar.value), formatShare(bar.value / found.groups)])) };
  return {
    chart: [barChart("Prompts by how often they are solved", bars, { height: 180 }), curve ? element("h3", { class: "hint" }, "pass@k") : null, curve],
    tables: [
      makeTable("Prompts by how often they are solved", [["solved", ""], ["prompts", "n"], ["share", "n"]], bars.map((bar) => [bar.label, formatNumber(bar.value), formatShare(bar.value / found.groups)])),
      makeTable("pass@k", [["k", "n"], ["pass@k", "n"], ["prompts", "n"]], found.pass_at.map((one) => [String(one.k), formatShare(one.value), formatNumber(one.groups)]))],
  };
}

function length({ length_bias: bias }) {
  const rows = [["all responses", bias.overall, "blue"], ["right ones", bias.right, "green"], ["wrong ones", bias.wrong, "red"]].filter(([, one]) => one);
  const middle = (bin) => (bin.low + bin.high) / 2;
  return {
    chart: [
      rowChart("Correlation of length and reward within groups", rows.map(([label, one, color]) => ({ label, value: one.value, low: one.low, high: one.high, color, caption: formatSigned(one.value), tip: `${label}: r = ${formatSigned(one.value)}\n95 %: ${formatSigned(one.low)} to ${formatSigned(one.high)}\n${formatNumber(one.samples)} samples in ${formatNumber(one.groups)} groups` })), { least: -0.5, most: 0.5, names: 110 }),
      bias.bins.length > 1 ? element("h3", { class: "hint" }, "Reward against length, both relative to the group") : null,
      bias.bins.length > 1 ? lineChart("Reward by length relative to the group", [{ name: "reward (std)", color: "blue", marks: true, points: bias.bins.map((bin) => [Math.round(middle(bin) * 100), bin.reward]) }], { height: 130, axis: "length in % of the group's mean:", format: formatSigned }) : null],
    tables: [
      makeTable("Correlation of length and reward within groups", [["responses", ""], ["r", "n"], ["low", "n"], ["high", "n"], ["samples", "n"], ["groups", "n"]], rows.map(([label, one]) => [label, formatSigned(one.value), formatSigned(one.low), formatSigned(one.high), formatNumber(one.samples), formatNumber(one.groups)])),
      makeTable("Reward by length", [["length against the group's mean", ""], ["reward (std)", "n"], ["samples", "n"]], bias.bins.map((bin) => [`${formatSigned(bin.low * 100)} % to ${formatSigned(bin.high * 100)} %`, formatSigned(bin.reward), formatNumber(bin.count)]))],
  };
}

function phrases({ phrases: found }, run) {
  const all = [...found.paying.map((one) => [one, "pays"]), ...found.costing.map((one) => [one, "costs"])];
  if (!all.length) return null;
  const side = (listed, color) => listed.length ? rowChart("z-scores of phrases", listed.slice(0, 8).map((one) => ({ label: `“${one.text}”`, value: Math.abs(one.z), color, caption: `${formatShare(one.high)} / ${formatShare(one.low)}`, tip: `“${one.text}”\nin ${formatShare(one.high)} of the responses that earn more than their group\nin ${formatShare(one.low)} of those that earn less\nz = ${formatSigned(one.z)}`, go: () => visit(samplesLink(run, { search: one.text })) })), { names: 150, captions: 112, width: panelWidth() + 100 }) : element("p", { class: "hint" }, "none");
  return {
    chart: element("div", { class: "panels" },
      element("div", { class: "panel" }, element("h3", {}, "Found in high rewards (share among high / low)"), side(found.paying, "green")),
      element("div", { class: "panel" }, element("h3", {}, "Found in low rewards (share among high / low)"), side(found.costing, "red"))),
    tables: makeTable("Phrases that pay or cost", [["phrase", "phrase"], ["", ""], ["among high", "n"], ["among low", "n"], ["odds ratio", "n"], ["z", "n"], ["early", "n"], ["late", "n"], ["responses", "n"], ["groups", "n"], ["", ""]],
      all.map(([one, kind]) => [one.text, kind, formatShare(one.high), formatShare(one.low), formatNumber(one.odds), formatSigned(one.z), formatShare(one.early), formatShare(one.late), formatNumber(one.count), formatNumber(one.groups), link("a sample", sampleLink(run, one.row))])),
  };
}

function patterns({ patterns: found }) {
  if (!found.failures.length && !found.high.length) return null;
  return {
    chart: found.failures.length ? [legend([["share of failures", "red"], ["share of the others", "slate"]]), ...found.failures.slice(0, 6).map((one) => element("div", { class: "pattern" },
      element("div", {}, shorten(one.what, 90)),
      withTip(bars(one), `${formatShare(one.share_of_failures)} of failures, ${formatShare(one.share_of_others)} of the others`)))] : null,
    tables: [
      makeTable("Patterns of failures", [["pattern", ""], ["failures", "n"], ["of failures", "n"], ["of others", "n"], ["an example", ""]], found.failures.map((one) => [one.what, formatNumber(one.count), formatShare(one.share_of_failures), formatShare(one.share_of_others), shorten(one.example.response, 160)])),
      makeTable("Kinds of response", [["kind", ""], ["samples", "n"], ["mean reward", "n"], ["difference", "n"]], [...found.high, ...found.low].map((one) => [one.name, formatNumber(one.count), formatNumber(one.mean), formatSigned(one.difference)]))],
  };
}

function bars(one) {
  const bar = (share, color, name) => element("div", {}, element("span", { class: `meter ${color}`, style: { width: `${Math.max(0.5, 80 * share)}%` } }), element("span", { class: "hint" }, ` ${formatShare(share)}${name}`));
  return element("div", {}, bar(one.share_of_failures, "red", ""), bar(one.share_of_others, "slate", ""));
}

function duplicates({ duplicates: found, groups }, run) {
  const within = groups.compared ? [{ label: "near-duplicate in the group", value: found.within_group, color: "orange", caption: formatShare(found.within_group) }] : [];
  return {
    chart: rowChart("How alike responses are", [
      ...within,
      { label: "under another prompt", value: found.across_groups, color: "purple", caption: formatShare(found.across_groups) },
      { label: "different texts", value: found.distinct, color: "green", caption: formatShare(found.distinct) }], { most: 1, names: 190 }),
    tables: makeTable("How alike responses are", [["", ""], ["", "n"]], [
      ["responses compared", formatNumber(found.responses)], ...within.map((one) => [one.label, one.caption]), ["near-duplicate under another prompt", formatShare(found.across_groups)],
      ["different texts", formatShare(found.distinct)], [["most common response: ", link(shorten(found.most_common, 80) || "(empty)", sampleLink(run, found.row))], found.most_common_count === 1 ? "once" : `${formatNumber(found.most_common_count)} times`]]),
  };
}

function latency({ summary }, run) {
  const rows = [["whole reward", summary.latency], ...Object.entries(summary.component_latency)];
  return {
    chart: rowChart("Time per sample, 95th percentile", rows.slice(0, 8).map(([label, one], place) => ({ label, value: one.p95, color: place ? "teal" : "blue", caption: formatSeconds(one.p95), tip: `${label}\np50 ${formatSeconds(one.p50)}, p95 ${formatSeconds(one.p95)}, p99 ${formatSeconds(one.p99)}` })), { names: 190 }),
    tables: [
      makeTable("Time per sample", [["part", ""], ["p50", "n"], ["p95", "n"], ["p99", "n"]], rows.map(([label, one]) => [label, formatSeconds(one.p50), formatSeconds(one.p95), formatSeconds(one.p99)])),
      makeTable("Slowest samples", [["sample", ""], ["time", "n"]], summary.slowest.map((one) => [link(String(one.id ?? one.index), sampleLink(run, one.index)), formatSeconds(one.seconds)]))],
  };
}
