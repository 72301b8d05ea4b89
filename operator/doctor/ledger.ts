import { type Figures, readFigures } from './figures.ts';
import type { Ask, Probe, Reply } from './probe.ts';

/** Requests of one kind, and a quota right before and right after them. */
export interface Entry {
  readonly ask: Ask;
  readonly title: string;
  readonly status: number;
  readonly times: number;
  readonly before: Figures;
  /** The figures in the last reply itself. */
  readonly told: Figures;
  readonly after: Figures;
}

export interface Ledger {
  readonly entries: readonly Entry[];
  /** Asks this many times, and records the cost. */
  record(ask: Ask, times?: number): Promise<Reply>;
  /** Reading a quota is free. */
  read(): Promise<Figures>;
}

/** For the quota that `headers` use: a key's, or else that of this network's guest. */
export function createLedger(probe: Probe, headers: Readonly<Record<string, string>>, headerPrefix: string): Ledger {
  const entries: Entry[] = [];
  const read = async () => readFigures(await probe({ method: 'GET', path: '/v1/models', headers }), headerPrefix);
  return {
    entries,
    read,
    async record(ask, times = 1) {
      const before = await read();
      let reply = await probe(ask);
      for (let again = 1; again < times; again += 1) reply = await probe(ask);
      const { title, status } = reply;
      const told = readFigures(reply, headerPrefix);
      entries.push({ ask, title, status, times, before, told, after: await read() });
      return reply;
    },
  };
}
