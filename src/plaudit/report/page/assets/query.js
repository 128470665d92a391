// Which samples meet a query: conditions on columns, a search in the texts, an order. `plaudit score --where` has the
// same conditions (report/selection.py), and the same cases test both.
export const SIGNS = ["=", "!=", ">=", "<=", ">", "<", "~"];

const NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/;

const number = (value) => (typeof value === "number" || NUMBER.test(value) ? Number(value) : NaN);

export function holds(value, [, sign, wanted]) {
  if (value === null || value === undefined) return sign === "!=";
  if (sign === "~") return String(value).toLowerCase().includes(wanted.toLowerCase());
  let [one, other] = [number(value), number(wanted)];
  if (!Number.isFinite(one) || !Number.isFinite(other)) [one, other] = [String(value), wanted];
  else if (Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other))) one = other; // equal but for rounding
  switch (sign) {
    case "=": return one === other;
    case "!=": return one !== other;
    case ">=": return one >= other;
    case "<=": return one <= other;
    case ">": return one > other;
    default: return one < other;
  }
}

// Numbers before texts, what is missing last, ties in the order of the file.
export function compare(one, other, down) {
  const missing = (value) => value === null || value === undefined;
  if (missing(one) || missing(other)) return missing(one) - missing(other);
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  const order = one < other ? -1 : one > other ? 1 : 0;
  return down ? -order : order;
}

// The texts of a sample that are searched, in lower case; the character between them is in no search.
export function searchText(detail) {
  const prompt = typeof detail.prompt === "string" ? detail.prompt : JSON.stringify(detail.prompt);
  return `${detail.response}\u0000${prompt}`.toLowerCase();
}
