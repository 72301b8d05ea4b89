import { list, type Probe, type ProbeRequest, type Reply } from './probe.ts';

/** The figures in the quota headers of a reply; NaN for missing ones. */
export interface Figures {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window restarts. */
  readonly reset: number;
}

export function readFigures({ headers }: Pick<Reply, 'headers'>, headerPrefix: string): Figures {
  const figure = (name: string) => {
    const text = headers.get(headerPrefix + name) ?? '';
    return /^\d+$/.test(text) ? Number(text) : Number.NaN;
  };
  return { limit: figure('limit'), remaining: figure('remaining'), reset: figure('reset') };
}

/** Requests of one kind, and a quota right before and right after them. */
export interface Measurement {
  readonly request: ProbeRequest;
  readonly title: string;
  readonly status: number;
  readonly times: number;
  readonly before: Figures;
  /** The figures in the last reply itself. */
  readonly stated: Figures;
  readonly after: Figures;
}

export interface Meter {
  readonly measurements: readonly Measurement[];
  measure(request: ProbeRequest, times?: number): Promise<Reply>;
  /** Reading a quota is free. */
  read(): Promise<Figures>;
}

/** For the quota that `headers` use: a key's, or else that of this network's guest. */
export function createMeter(probe: Probe, headers: Record<string, string>, headerPrefix: string): Meter {
  const measurements: Measurement[] = [];
  const read = async () => readFigures(await probe(list(headers)), headerPrefix);
  return {
    measurements,
    read,
    async measure(request, times = 1) {
      const before = await read();
      let reply = await probe(request);
      for (let again = 1; again < times; again += 1) reply = await probe(request);
      const { title, status } = reply;
      const stated = readFigures(reply, headerPrefix);
      measurements.push({ request, title, status, times, before, stated, after: await read() });
      return reply;
    },
  };
}

/** The command that issues a key with this daily limit. */
export type IssueCommand = (limit: number) => string;

export interface ExpectedLimits {
  readonly key?: number | undefined;
  readonly member: readonly number[];
  readonly guest: readonly number[];
  /** Whether these are certainly the settings of the stage examined. */
  readonly certain: boolean;
}
