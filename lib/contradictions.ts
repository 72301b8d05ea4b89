import { settings } from '../lambda/settings/settings.ts';
import { mostBurst } from '../lambda/store/counter-cost.ts';
import { ofEngine, type StackValues, unreserved, walletShare } from './stack-settings.ts';

/** Settings as text, by name. */
export type Texts = Readonly<Record<string, string>>;

/** Settings of an engine that is not deployed; invalid ones have a fault already. */
export function engineFaults({ engine }: StackValues, given: Texts, faults: readonly string[]): string[] {
  if (engine === undefined || engine === 'both') return []; // invalid: reported by its own check
  const other = engine === 'web' ? 'function-url' : 'web';
  return ofEngine[other]
    .filter((name) => Object.hasOwn(given, name) && !faults.some((fault) => fault.startsWith(`${name} `)))
    .map((name) => `${name} does not exist with engine: ${engine}; leave it out (an empty text unsets a default)`);
}

/** Settings that are valid alone but not together. */
export function contradictions({ edge, reservedConcurrency, accountConcurrency }: StackValues, given: Texts): string[] {
  const faults: string[] = [];
  const taken = unreserved + walletShare;
  const most = accountConcurrency - taken;
  if (reservedConcurrency !== undefined && reservedConcurrency > most) {
    const must = most > 0 ? `must be at most ${most}` : `needs an accountConcurrency above ${taken}`;
    faults.push(`reservedConcurrency ${must}: Lambda leaves ${unreserved} to others, and /cli gets ${walletShare}`);
  }
  // Values that are no such numbers are reported by their own checks.
  if ((settings.BURST_LIMIT.parse(given.BURST_LIMIT ?? '') ?? 0) > mostBurst) {
    const instead =
      'for a caller who needs more, issue several keys with limits of their own: each has a counter to itself';
    faults.push(`BURST_LIMIT must be at most ${mostBurst}, which one counter can serve at once; ${instead}`);
  }
  if (edge === undefined) {
    if (given.edge !== undefined && given.edge !== 'false') return faults; // invalid: reported by its own check
    const useless = Object.keys(given).filter((name) => /^edge\w/.test(name));
    return [...faults, ...useless.map((name) => `${name} needs edge: true`)];
  }
  if (given.EDGE_HEADER) faults.push('EDGE_HEADER is set by the stack where edge is true');
  // An invalid one is reported by its own check.
  if ((edge.domainName && !given.edgeCertificateArn) || (edge.certificateArn && !given.edgeDomainName)) {
    faults.push('edgeDomainName and edgeCertificateArn belong together: set both or neither');
  }
  const interval = Number(given.KEEP_ALIVE_INTERVAL ?? settings.KEEP_ALIVE_INTERVAL.fallback);
  if (interval * 2 > edge.readTimeout) {
    faults.push('KEEP_ALIVE_INTERVAL must be at most half of edgeReadTimeout, or the edge cuts silent streams');
  }
  return faults;
}
