import type { Reply } from './probe.ts';

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
