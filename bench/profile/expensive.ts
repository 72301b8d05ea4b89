import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Profile } from './inspector.ts';

interface Expense {
  readonly name: string;
  /** Shares of the time: in the function's own code, and together with all that it called. */
  readonly own: number;
  readonly total: number;
}

type ProfileNode = Profile['nodes'][number];

/** The functions in which most time went by, the most expensive first. Idle time is left out. */
export function findExpensive(profiles: readonly Profile[], count: number): Expense[] {
  const own = new Map<string, number>();
  const total = new Map<string, number>();
  const add = (times: Map<string, number>, name: string, time: number) =>
    times.set(name, (times.get(name) ?? 0) + time);
  const nameOf = createNaming();
  let sum = 0;
  for (const { nodes, samples = [], timeDeltas = [] } of profiles) {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
    for (const [index, id] of samples.entries()) {
      const time = timeDeltas[index] ?? 0;
      const node = byId.get(id);
      if (!node || node.callFrame.functionName === '(idle)') continue;
      sum += time;
      add(own, nameOf(node), time);
      for (const name of new Set(stackOf(id, byId, callers).map(nameOf))) add(total, name, time);
    }
  }
  return [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, time]) => ({ name, own: time / sum, total: (total.get(name) ?? 0) / sum }));
}

export function renderExpenses(expenses: readonly Expense[]): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`.padStart(8);
  const lines = expenses.map(({ name, own, total }) => `${percent(own)} ${percent(total)}   ${name}`);
  return ['     own    total   function', ...lines].join('\n');
}

function stackOf(id: number, byId: Map<number, ProfileNode>, callers: Map<number, number>): ProfileNode[] {
  const stack: ProfileNode[] = [];
  for (let next: number | undefined = id; next !== undefined; next = callers.get(next)) {
    const node = byId.get(next);
    if (node) stack.push(node);
  }
  return stack;
}

/** Names functions by their place in the sources, where the file has a map beside it. */
function createNaming(): (node: ProfileNode) => string {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (url: string) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  return ({ callFrame: { functionName, url, lineNumber, columnNumber } }) => {
    const name = functionName || '(anonymous)';
    if (url === '') return name;
    const origin = mapOf(url)?.findOrigin(lineNumber + 1, columnNumber + 1);
    if (origin && 'fileName' in origin) {
      return `${origin.name ?? name} ${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}`;
    }
    return `${name} ${url.startsWith('node:') ? url : basename(url)}:${lineNumber + 1}`;
  };
}

function readMap(url: string): SourceMap | undefined {
  if (!url.startsWith('file:')) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
