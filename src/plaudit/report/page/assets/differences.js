// What two rewards say differently of the same samples: figures, and the samples that flip or differ most.
import { element, formatNumber, formatSeconds, formatShare, makeTable } from "./dom.js";
import { sampleLink } from "./address.js";

export function differences(found, runs) {
  const [old, now] = runs, { groups } = found;
  const figures = [
    ["rewards that differ", "", formatNumber(found.changed)],
    ["samples that flip: right for one only", "", formatNumber(found.flipped)],
    ["mean reward", formatNumber(found.mean.old), formatNumber(found.mean.new)],
    ["median time per sample", formatSeconds(found.latency_s.old), formatSeconds(found.latency_s.new)],
    ...(groups.compared ? [
      ["dead groups", formatNumber(groups.dead_old), `${formatNumber(groups.dead_new)} (${formatNumber(groups.dead_gained)} gained, ${formatNumber(groups.dead_lost)} lost)`],
      ["pairs in groups that both order alike", "", formatShare(groups.order_agreement)],
      ["cosine of the advantages: 1 teaches the same", "", formatNumber(groups.advantage_cosine)]] : []),
    ...Object.entries(found.status_changes).map(([change, count]) => [`status ${change}`, "", formatNumber(count)]),
  ];
  return [
    element("section", { class: "card wide", id: "card-differences", "aria-labelledby": "title-differences" },
      element("h2", { id: "title-differences" }, "Differences"),
      element("p", { class: "says" }, headline(found)),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences in figures" }, makeTable("Differences in figures", [["", ""], [old.name, "n"], [now.name, "n"]], figures, "figures")),
      element("p", { class: "advice" }, element("b", {}, "What to do: "), "read the samples below: each is one that a policy would be taught differently. Where the new reward is right, keep it; where it is wrong, make the sample a case of its tests.")),
    listed("flips", "Samples that flip", found.flips, found.flipped, old, now),
    listed("worst", "Largest differences", found.worst, found.worst.length, old, now),
  ];
}

function headline(found) {
  if (!found.changed && !found.flipped && !Object.keys(found.status_changes).length) return `Both say the same of all ${formatNumber(found.count)} samples.`;
  return `Of ${formatNumber(found.count)} samples, ${formatNumber(found.changed)} have another reward and ${formatNumber(found.flipped)} flip.`;
}

function listed(name, title, samples, count, old, now) {
  if (!samples.length) return null;
  return element("section", { class: "card wide", id: `card-${name}`, "aria-labelledby": `title-${name}` },
    element("h2", { id: `title-${name}` }, title),
    count > samples.length ? element("p", { class: "says" }, `The first ${formatNumber(samples.length)} of ${formatNumber(count)}; plaudit diff --json lists all.`) : null,
    samples.map((each) => element("div", { class: "turn difference", "data-sign": (each.new ?? -Infinity) > (each.old ?? -Infinity) ? "up" : "down" },
      element("div", { class: "title" }, element("a", { href: sampleLink(now, each.index) }, `sample ${each.id ?? each.index}`), `: ${old.name} ${said(each.old, each.old_status)} → ${now.name} ${said(each.new, each.new_status)}`),
      [each.old_reason, each.new_reason].some(Boolean) ? element("p", { class: "hint" }, [["old", each.old_reason], ["new", each.new_reason]].filter(([, reason]) => reason).map(([side, reason]) => `${side}: ${reason}`).join("; ")) : null,
      element("div", { class: "text short", tabindex: "0", role: "region", "aria-label": `Response of sample ${each.id ?? each.index}` }, each.response || "(empty response)"))));
}

function said(reward, status) { return reward === null ? `not scored (${status})` : formatNumber(reward); }
