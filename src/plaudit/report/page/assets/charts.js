// Charts as SVG. Each takes plain numbers; what a chart shows is also in the table beside it.
import { drawing, element, formatNumber, hideTip, showTip, withTip } from "./dom.js";

// How many units a chart is wide: about its width in pixels, so that its texts keep their size.
function fullWidth() { return Math.max(300, Math.min(560, innerWidth - 70)); }
export function panelWidth() { return Math.max(300, Math.min(400, innerWidth - 70)); }

function frame(width, height, label, ...children) {
  return drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, children);
}

export function legend(items) {
  return element("div", { class: "legend" }, items.map(([name, color]) => element("span", { class: color }, name)));
}

// Vertical bars; a bar is {label, value, color, tip, go}, `go` being what a click does. A `gap` separates two kinds.
export function barChart(label, bars, { height = 190, gap = null } = {}) {
  const width = fullWidth();
  const top = 18, bottom = 34, room = gap === null ? 0 : 26;
  const most = Math.max(...bars.map((bar) => bar.value), 1e-12);
  const slot = (width - room) / bars.length;
  const floor = height - bottom;
  const every = Math.max(1, Math.ceil(bars.length / Math.floor((width - room) / 58)));
  const tallest = bars.findIndex((bar) => bar.value === most);
  const isNamed = (place) => place === tallest || (place % every === 0 && Math.abs(place - tallest) >= every); // room for the tallest bar's label
  return frame(width, height, label,
    drawing("line", { class: "axis", x1: 0, x2: width, y1: floor, y2: floor }),
    bars.map((bar, place) => {
      const x = place * slot + (gap !== null && place >= gap ? room : 0) + slot * 0.1;
      const size = bar.value ? Math.max(2, (floor - top) * bar.value / most) : 0;
      const named = gap !== null && place >= gap ? slot >= 58 || place === tallest : isNamed(place);
      const mark = drawing("rect", { class: `mark ${bar.color ?? "blue"} ${bar.go ? "hit" : ""}`, x, y: floor - size, width: slot * 0.8, height: size, rx: Math.min(3, slot / 4), onclick: bar.go });
      return [
        withTip(mark, bar.tip),
        bar.value ? drawing("text", { x: x + slot * 0.4, y: floor - size - 5, "text-anchor": "middle" }, slot > 34 ? bar.caption ?? formatNumber(bar.value) : "") : null,
        named ? drawing("text", { x: x + slot * 0.4, y: floor + 15, "text-anchor": "middle" }, bar.label) : null,
      ];
    }),
    gap === null ? null : drawing("line", { class: "grid", x1: gap * slot + room / 2, x2: gap * slot + room / 2, y1: top, y2: height - 8 }),
  );
}

// Horizontal bars around zero; a row is {label, value, color, caption, low, high, go}.
export function rowChart(label, rows, { least = 0, most = null, names = 150, captions = 58, width = fullWidth() } = {}) {
  const line = 30, height = rows.length * line + 6;
  const low = Math.min(least, 0, ...rows.map((row) => row.low ?? row.value)), high = Math.max(most ?? 0, ...rows.map((row) => row.high ?? row.value), 1e-12);
  const place = (value) => names + (width - names - captions) * (value - low) / (high - low);
  return frame(width, height, label,
    drawing("line", { class: "axis", x1: place(0), x2: place(0), y1: 0, y2: height }),
    rows.map((row, index) => {
      const y = index * line + 4, start = Math.min(place(0), place(row.value)), size = Math.abs(place(row.value) - place(0));
      const mark = drawing("rect", { class: `mark ${row.color ?? "blue"} ${row.go ? "hit" : ""}`, x: start, y: y + 3, width: Math.max(size, 1.5), height: 16, rx: 3, onclick: row.go });
      return [
        drawing("text", { class: "strong", x: 0, y: y + 15 }, shorten(row.label, Math.floor(names / 6.6))),
        row.tip ? withTip(mark, row.tip) : mark,
        row.low === undefined ? null : drawing("line", { class: "whisker", x1: place(row.low), x2: place(row.high), y1: y + 11, y2: y + 11 }),
        drawing("text", { x: Math.max(place(row.value), place(row.high ?? row.value), place(0)) + 8, y: y + 15 }, row.caption ?? formatNumber(row.value)),
      ];
    }),
  );
}

// One bar that is cut into parts; a part is {label, value, color}.
export function partsChart(label, parts, total) {
  const width = fullWidth();
  let start = 0;
  return frame(width, 44, label, parts.filter((part) => part.value).map((part) => {
    const size = width * part.value / total;
    const mark = drawing("rect", { class: `mark ${part.color}`, x: start + 1, y: 0, width: Math.max(size - 2, 1), height: 30, rx: 4 });
    const text = size > 44 ? drawing("text", { class: "strong", x: start + size / 2, y: 20, "text-anchor": "middle" }, `${Math.round(100 * part.value / total)} %`) : null;
    start += size;
    return [withTip(mark, `${part.label}: ${formatNumber(part.value)}`), text];
  }));
}

// Curves over a shared axis; a series is {name, color, points: [[x, y], …], marks}.
export function lineChart(label, series, { height = 190, zero = false, format = formatNumber, from = null, to = null, axis = "step", width = fullWidth() } = {}) {
  const left = 46, bottom = 26, top = 8, right = 10;
  const known = series.map((one) => ({ ...one, points: one.points.filter(([, y]) => y !== null && y !== undefined) })).filter((one) => one.points.length);
  const xs = known.flatMap((one) => one.points.map(([x]) => x)), ys = known.flatMap((one) => one.points.map(([, y]) => y));
  if (!xs.length) return null;
  const x0 = minimum(xs), x1 = maximum(xs);
  let y0 = from ?? minimum(ys), y1 = to ?? maximum(ys);
  if (Math.max(Math.abs(y0), Math.abs(y1)) > 1e300) return element("p", { class: "hint" }, "These numbers are too large to draw; the table has them.");
  if (zero) y0 = Math.min(0, y0);
  if (y1 - y0 < 1e-9 && y0 === from) y1 = y0 + 0.05;
  else if (y1 - y0 < 1e-9) [y0, y1] = [y0 - Math.max(0.05, Math.abs(y0) * 0.1), y1 + Math.max(0.05, Math.abs(y1) * 0.1)];
  const ticks = niceTicks(y0, y1);
  y0 = Math.min(y0, ticks[0]); y1 = Math.max(y1, ticks.at(-1));
  const px = (x) => left + (width - left - right) * (x1 === x0 ? 0.5 : (x - x0) / (x1 - x0));
  const py = (y) => height - bottom - (height - bottom - top) * (y - y0) / (y1 - y0);
  const cursor = drawing("line", { class: "axis", y1: top, y2: height - bottom, visibility: "hidden" });
  const chart = frame(width, height, label,
    ticks.map((tick) => [
      drawing("line", { class: "grid", x1: left, x2: width - right, y1: py(tick), y2: py(tick) }),
      drawing("text", { x: left - 8, y: py(tick) + 4, "text-anchor": "end" }, format(tick)),
    ]),
    drawing("text", { x: left, y: height - 6 }, `${axis} ${formatNumber(x0)}`),
    drawing("text", { x: width - right, y: height - 6, "text-anchor": "end" }, formatNumber(x1)),
    known.map((one) => one.points.length > 1 && !one.dots
      ? drawing("path", { class: `curve ${one.color}`, d: one.points.map(([x, y], place) => `${place ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("") })
      : null),
    known.map((one) => one.points.length === 1 || one.dots || one.marks
      ? one.points.map(([x, y]) => drawing("circle", { class: `mark ${one.color}`, cx: px(x), cy: py(y), r: 3.5 }))
      : null),
    cursor,
  );
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const at = x0 + (x1 - x0) * ((event.clientX - box.left) * width / box.width - left) / (width - left - right);
    const near = known.map((one) => [one, one.points.reduce((best, point) => Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best)]);
    const x = near[0][1][0];
    cursor.setAttribute("x1", px(x)); cursor.setAttribute("x2", px(x)); cursor.setAttribute("visibility", "visible");
    showTip(event, [`${axis} ${formatNumber(x)}`, ...near.map(([one, point]) => `${one.name}: ${format(point[1])}`)].join("\n"));
  });
  chart.addEventListener("pointerleave", () => { cursor.setAttribute("visibility", "hidden"); hideTip(); });
  return chart;
}

function niceTicks(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const first = Math.floor(low / step + 1e-9) * step;
  const ticks = [];
  for (let tick = first; tick <= high + step * 0.999 && ticks.length < 8; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

export function minimum(values) { return values.reduce((a, b) => Math.min(a, b), Infinity); }
export function maximum(values) { return values.reduce((a, b) => Math.max(a, b), -Infinity); }

export function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
