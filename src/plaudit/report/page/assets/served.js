// Runs that `plaudit view` serves from this machine; rollouts stay on its disk and come page by page.
async function ask(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
  const answer = await fetch(`api/${path}?${query}`, { signal, cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer.json();
}

export async function askRuns() { return (await ask("runs")).runs; }

export class ServedRun {
  constructor(run, number) {
    Object.assign(this, run);
    this.number = number;
  }

  async load() {
    if (!this.figures) Object.assign(this, await ask(`runs/${this.number}`));
  }

  async refresh() { Object.assign(this, await ask(`runs/${this.number}`)); }

  // A search reads texts from the disk; the server answers within a second with how far it came, and goes on from there.
  async samples(query, offset, limit, progress, signal) {
    let found = { total: 0, rows: [], next: 0 };
    while (found.next !== null) {
      const part = await ask(`runs/${this.number}/samples`, { ...query, offset, limit, from: found.next, found: found.total }, signal).catch(forgive);
      if (part === null) return null;
      found = { total: part.total, rows: [...found.rows, ...part.rows], next: part.next };
      progress?.(found.total, part.searched);
    }
    return found;
  }

  async groups(query, offset, limit, progress, signal) {
    return ask(`runs/${this.number}/groups`, { ...query, offset, limit }, signal).catch(forgive);
  }

  async detail(row) { return ask(`runs/${this.number}/sample`, { row }); }
  async choices(column) { return ask(`runs/${this.number}/choices`, { column }); }
  async valuesOf(row) { return ask(`runs/${this.number}/values`, { row }); }
}

function forgive(error) {
  if (error.name === "AbortError") return null;
  throw error;
}
