import { isIP } from 'node:net';
import type { Upstream } from './upstreams.ts';

/** The names that are hidden as they are given: those of the operator, and the upstreams' model ids and host names. */
export function givenNames(upstreams: readonly Upstream[], operatorNames: readonly string[]): string[] {
  return [...new Set([...operatorNames, ...idsOf(upstreams), ...hostsOf(upstreams)])];
}

/** Whether these are all that is hidden. If not, `telling-names.ts` knows which words are, and which are not. */
export function areEnough(upstreams: readonly Upstream[], operatorNames: readonly string[]): boolean {
  return operatorNames.length > 0 && !idsOf(upstreams).some((id) => /^[a-z]+$/i.test(id));
}

export function idsOf(upstreams: readonly Upstream[]): string[] {
  const models = upstreams.flatMap((upstream) => Object.values(upstream.models));
  return models.flatMap(({ text, vision, embedding = text }) => [text, vision, embedding]);
}

export function hostsOf(upstreams: readonly Upstream[]): string[] {
  return [...new Set(upstreams.flatMap(urlsOf))].map((url) => new URL(url).hostname).filter(isDnsName);
}

const urlsOf = ({ addresses, translation: { countUrl } }: Upstream): string[] =>
  countUrl === undefined ? Object.values(addresses) : [...Object.values(addresses), countUrl];

/** `localhost`, bare machine names and addresses reveal nothing, and occur in many innocent texts. */
function isDnsName(hostname: string): boolean {
  return (
    hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[') && !hostname.endsWith('.localhost')
  );
}
