import { isIP } from 'node:net';
import type { Upstream } from '../settings/config.ts';

/** The names that no answer may contain: the upstreams' model ids and host names, and those that the operator adds. */
export function hiddenNames(upstreams: readonly Upstream[], operatorNames: readonly string[]): string[] {
  const names = new Set(operatorNames);
  for (const { models, addresses } of upstreams) {
    for (const { text, vision } of Object.values(models)) names.add(text).add(vision);
    for (const url of Object.values(addresses)) {
      const { hostname } = new URL(url);
      if (isDnsName(hostname)) names.add(hostname);
    }
  }
  return [...names];
}

/** `localhost`, bare machine names and addresses reveal nothing, and occur in many innocent texts. */
function isDnsName(hostname: string): boolean {
  return (
    hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[') && !hostname.endsWith('.localhost')
  );
}
