// Where the page stands, kept in the part of the address behind #, so that every view can be linked to.
export function readAddress() {
  const [tab, rest = ""] = location.hash.slice(1).split("?");
  const given = new URLSearchParams(rest);
  const sample = given.get("sample");
  return {
    tab: ["overview", "samples", "compare"].includes(tab) ? tab : "overview",
    run: Number(given.get("run") ?? 0) || 0,
    card: given.get("card"),
    view: given.get("view") === "groups" ? "groups" : "samples",
    page: Math.max(0, Number(given.get("page") ?? 0) || 0),
    sample: sample !== null && /^\d+$/.test(sample) ? Number(sample) : null,
    query: { where: given.getAll("where").map(readCondition).filter(Boolean), search: given.get("search") ?? "", sort: readSort(given.get("sort") ?? "sample") },
  };
}

// An order is written as its column, escaped, behind a - where it goes down.
function readSort(text) {
  const down = text.startsWith("-");
  try {
    return [decodeURIComponent(down ? text.slice(1) : text), down];
  } catch {
    return ["sample", false];
  }
}

function writeSort([column, down]) { return `${down ? "-" : ""}${encodeURIComponent(column).replace(/^-/, "%2D")}`; }

// A condition is written as column, sign and value with the column and the value escaped, as in reward>=0.5.
function readCondition(text) {
  const found = /^([^=!<>~]*)(!=|>=|<=|=|>|<|~)(.*)$/s.exec(text);
  try {
    return found ? [decodeURIComponent(found[1]), found[2], decodeURIComponent(found[3])] : null;
  } catch {
    return null;
  }
}

function writeCondition([column, sign, value]) {
  const escaped = encodeURIComponent(column).replace(/[!~]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${escaped}${sign}${encodeURIComponent(value)}`;
}

export function writeAddress({ tab, run = 0, query = {}, sample = null, page = 0, view = "samples" }) {
  const given = new URLSearchParams();
  if (run) given.set("run", String(run));
  for (const condition of query.where ?? []) given.append("where", writeCondition(condition));
  if (query.search) given.set("search", query.search);
  if (query.sort && (query.sort[0] !== "sample" || query.sort[1])) given.set("sort", writeSort(query.sort));
  if (view === "groups") given.set("view", view);
  if (page) given.set("page", String(page));
  if (sample !== null) given.set("sample", String(sample));
  const rest = given.toString();
  return `#${tab}${rest ? `?${rest}` : ""}`;
}

export function samplesLink(run, { where = [], search = "" }) {
  return writeAddress({ tab: "samples", run: run.number, query: { where, search } });
}

export function sampleLink(run, sample) {
  return writeAddress({ tab: "samples", run: run.number, sample });
}

export function visit(address) { location.hash = address; }

// The same without a further step to go back to: for what changes with every key.
export function replaceVisit(address) { location.replace(address); }
