import type { Subject } from './subject.ts';

/** What the model says. */
export const answer = 'Hello from afar.';

export interface Scenario {
  readonly title: string;
  /** What happens to a fresh key beforehand. */
  readonly limit?: number;
  readonly spoilKey?: (key: string) => string;
  readonly callsTool?: boolean;
  readonly breaks?: boolean;
  /** What the client must print, if anything. */
  readonly says: (subject: Subject) => string | undefined;
}

export const scenarios: readonly Scenario[] = [
  { title: 'One prompt', says: () => answer },
  { title: 'A tool call', callsTool: true, says: () => answer },
  { title: 'A bad key', spoilKey: (key) => `${key.slice(0, -4)}gone`, says: ({ says }) => says.badKey },
  { title: 'A spent quota', limit: 0, says: ({ says }) => says.spentQuota },
  { title: 'Streams that break', breaks: true, says: ({ says }) => says.brokenStream },
];
