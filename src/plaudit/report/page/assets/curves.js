// Which curves are drawn over the training steps, and together with which others.
import { formatShare } from "./dom.js";

const COLORS = ["blue", "teal", "green", "orange", "purple", "red", "slate"];

// Panels of series from the samples of a run (`curve`) and from its metrics.jsonl (`metrics`, by name: [[step, value], …]).
export function metricPanels(curve, metrics) {
  const own = (key) => curve.map((one) => [one.last, one[key]]);
  const metric = (name) => metrics[name] ?? [];
  const names = [...new Set(curve.flatMap((one) => Object.keys(one.components)))];
  const scored = curve.some((one) => one.score !== null);
  const shares = { format: formatShare, from: 0, zero: true };
  return [
    panel(scored ? "Reward and score" : "Reward", {}, ["reward", own("reward")], ["score", own("score")], ...heldOut(metrics)),
    curve.some((one) => one.scored < 1) ? panel("Over all samples, unscored ones as 0", {}, ["reward", own("reward_all")], ["score", own("score_all")], ...heldOut(metrics, "_all")) : null,
    panel("Held out, by task", {}, ...splits(metrics, "eval/task/", metrics["eval/score"] ? "/score" : "/reward")),
    panel("Held out, by difficulty", {}, ...splits(metrics, "eval/difficulty/", "")),
    panel("Prompts, by difficulty", shares, ...splits(metrics, "difficulty/", "/share")),
    names.length ? panel("Components", {}, ...names.slice(0, 7).map((name) => [name, curve.map((one) => [one.last, one.components[name]])])) : null,
    scored ? panel("Groups that teach nothing, or not correctness", shares, ["dead", own("dead")], ["phantom", own("phantom")]) : panel("Groups that teach nothing", shares, ["dead", own("dead")]),
    panel("Length (characters)", { zero: true }, ["length", own("length")]),
    curve.some((one) => one.scored < 1) ? panel("Scored samples", { ...shares, to: 1 }, ["scored", own("scored")]) : null,
    panel("Entropy per token", { zero: true }, ["entropy", metric("entropy")]),
    panel("KL", { zero: true }, ["to the start", metric("kl")], ["to the sampler", metric("kl_old")]),
    panel("Seconds per step", { zero: true }, ["sample", metric("time/sample")], ["reward", metric("time/reward")], ["update", metric("time/update")]),
  ].filter((one) => one && one.series.length);
}

// The held-out curve: of scores, or of rewards where there are none.
function heldOut(metrics, ending = "") {
  const kind = metrics["eval/score"] ? "score" : "reward";
  const curves = [[`held-out ${kind}`, `eval/${kind}`], ["held out, greedy", kind === "score" ? "eval/greedy" : "eval/greedy_reward"]];
  return curves.map(([label, name]) => [label, metrics[name + ending] ?? [], true]);
}

// A held-out curve for every task, or for every level of difficulty.
function splits(metrics, start, end) {
  const names = Object.keys(metrics).filter((name) => name.startsWith(start) && name.endsWith(end));
  return names.map((name) => [name.slice(start.length, name.length - end.length), metrics[name], true]);
}

function panel(title, options, ...series) {
  const known = series.map(([name, points, marks], place) => ({ name, color: COLORS[place % COLORS.length], points: points.filter(([, y]) => y !== null && y !== undefined), marks: Boolean(marks) }));
  return { title, options, series: known.filter((one) => one.points.length && (one.points.some(([, y]) => y !== 0) || options.from === 0)) };
}
