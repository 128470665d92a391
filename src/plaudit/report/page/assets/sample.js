// One sample in full: prompt, response, ground truth, what every part of the reward said, the turns of an episode.
import { element, formatNumber, formatSeconds, makeTable } from "./dom.js";
import { asText, messageBoxes } from "./messages.js";
import { heatedResponse, textBox, tokenSpans, wordSpans } from "./texts.js";

export async function showSample(run, sample, { close, move, openGroup }) {
  if (sample >= run.rows) return [bar(sample, null, close, move), element("p", {}, `There is no sample ${sample} in this run.`)];
  const [detail, values] = await Promise.all([run.detail(sample), run.valuesOf(sample)]);
  const group = values.group_number ?? null;
  const siblings = group === null ? null : element("button", { class: "quiet", onclick: () => openGroup(group) }, "its group");
  const head = bar(sample, detail?.reward_output ?? values, close, move, siblings);
  const facts = section("Columns", factList(values), further(detail));
  if (!detail) return [head, element("p", { class: "hint" }, "The text of this sample was left out to keep the file small; plaudit view shows all of them."), facts];
  const output = detail.reward_output;
  return [
    head,
    output.reason && output.status !== "ok" ? element("p", {}, output.reason) : null,
    section("Prompt", promptBoxes(detail.prompt)),
    section("Response", responseBox(detail)),
    "ground_truth" in detail ? section("Ground truth", textBox("Ground truth", asText(detail.ground_truth))) : null,
    section("Reward", rewardTable(output)),
    detail.steps?.length ? section("Steps of the episode", detail.steps.map(turn)) : null,
    Object.keys(output.metadata ?? {}).length ? section("What the reward noted", textBox("What the reward noted", asText(output.metadata))) : null,
    facts,
    element("p", { class: "hint" }, element("kbd", {}, "j"), " ", element("kbd", {}, "k"), " next and previous, ", element("kbd", {}, "Esc"), " closes, ", element("kbd", {}, "/"), " searches"),
  ];
}

function bar(sample, output, close, move, extra) {
  const value = !output ? null : output.status === "ok" ? element("span", {}, "reward ", element("b", {}, formatNumber(output.reward))) : null;
  return element("header", {},
    element("h2", {}, `Sample ${sample}`),
    output ? element("span", { class: "status", "data-status": output.status }, output.status) : null,
    value, extra,
    element("span", { class: "steps" },
      element("button", { "aria-label": "Previous sample", onclick: () => move(-1) }, "‹"),
      element("button", { "aria-label": "Next sample", onclick: () => move(1) }, "›"),
      element("button", { "aria-label": "Close the sample", onclick: close }, "✕")));
}

function section(title, ...content) { return element("section", {}, element("h3", {}, title), content); }

function promptBoxes(prompt) {
  return typeof prompt === "string" ? textBox("Prompt", prompt) : messageBoxes(prompt, "prompt");
}

function responseBox({ response, response_messages: messages, reward_output: output, offsets }) {
  const values = output.token_rewards;
  if (messages && !values?.length) return messageBoxes(messages, "response");
  if (!values?.length) return textBox("Response", response);
  const spans = output.token_unit === "token" ? tokenSpans(response, offsets) : wordSpans(response);
  return heatedResponse(response, values, spans && spans.length === values.length ? spans : null);
}

function rewardTable(output) {
  const rows = [];
  const add = (name, part, depth) => {
    const indented = element("span", { style: { "padding-left": `${depth}em` } }, name);
    rows.push([indented, part.status === "ok" ? formatNumber(part.reward) : part.status, formatNumber(part.score ?? null), formatSeconds(part.latency_s ?? null), part.reason ?? ""]);
    for (const [inner, below] of Object.entries(part.components ?? {})) add(inner, below, depth + 1);
  };
  add("total", output, 0);
  return makeTable("What every part of the reward said", [["part", ""], ["reward", "n"], ["score", "n"], ["time", "n"], ["why", ""]], rows, "plain parts");
}

function turn(step, place) {
  const sign = step.reward > 0 ? "up" : step.reward < 0 ? "down" : null;
  return element("div", { class: "turn", "data-sign": sign },
    element("div", { class: "title" }, `Step ${place + 1}${step.reward === null || step.reward === undefined ? "" : ` · reward ${formatNumber(step.reward)}`}`),
    element("div", { class: "role hint" }, "saw"), textBox(`Observation of step ${place + 1}`, step.observation),
    element("div", { class: "role hint" }, "said"), textBox(`Response of step ${place + 1}`, step.response),
    step.metadata?.feedback ? [element("div", { class: "role hint" }, "feedback"), textBox(`Feedback of step ${place + 1}`, asText(step.metadata.feedback))] : null,
    worldTables(step.metadata?.logs ?? {}, `step ${place + 1}`));
}

// What a world says of a step: its tool calls, what they changed in the state, and what cost the reward.
function worldTables({ calls, changes, broken }, where) {
  const rows = (list) => (Array.isArray(list) ? list.filter((each) => each !== null && typeof each === "object") : []);
  const reasons = typeof broken === "string" ? [broken] : Array.isArray(broken) ? broken : [];
  return [
    rows(calls).length ? makeTable(`Tool calls of ${where}`, [["tool", ""], ["arguments", ""], ["result", ""]],
      rows(calls).map((call) => [call.name || "(malformed)", asText(call.arguments ?? call.malformed), asText(call.result)]), "plain") : null,
    rows(changes).length ? makeTable(`Changes of the state in ${where}`, [["where", ""], ["before", ""], ["after", ""]],
      rows(changes).map((change) => [change.path, asText(change.before), asText(change.after)]), "plain") : null,
    reasons.length ? makeTable(`Why ${where} ended without a reward`, [["reason", ""]], reasons.map((reason) => [asText(reason)]), "plain") : null,
  ];
}

// Long columns; those that are short stand in the list above them.
function further(detail) {
  return Object.entries(detail?.further ?? {}).map(([name, value]) => [element("div", { class: "role hint" }, name), textBox(name, asText(value))]);
}

const SHOWN_ABOVE = new Set(["status", "reward", "score"]);

function factList(values) {
  const known = Object.entries(values).filter(([name, value]) => value !== null && !SHOWN_ABOVE.has(name));
  return element("dl", { class: "facts" }, known.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, formatNumber(value))]));
}
