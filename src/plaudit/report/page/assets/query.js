// Which samples meet a query: conditions on columns, a search in the texts, an order. The server of `plaudit view`
// answers the same queries from its index.
export const SIGNS = ["=", "!=", ">=", "<=", ">", "<", "~"];

const NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/;

export function holds(found, [, sign, wanted]) {
  if (found === null || found === undefined) return sign === "!=";
  if (sign === "~") return String(found).toLowerCase().includes(wanted.toLowerCase());
  const bound = NUMBER.test(wanted) ? Number(wanted) : NaN;
  const numbers = typeof found === "number" && !Number.isNaN(bound);
  const [one, other] = numbers ? [found, bound] : [String(found), wanted];
  const same = numbers ? Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other)) : one === other;
  switch (sign) {
    case "=": return same;
    case "!=": return !same;
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
