import { serverSettings, settings } from './definitions.ts';
import type { Environment } from './read-settings.ts';
import { upstreamSettings } from './upstream-definitions.ts';

/** Variables with these prefixes are surely meant for the gateway. */
const ownPrefix = /^(UPSTREAM|GUEST|MEMBER|OIDC|EDGE)_/;

/** Kubernetes sets these in every pod if there is a service named `upstream` or `edge`. */
const kubernetesName = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

const upstreamNames = Object.keys(upstreamSettings);
const gatewayNames = Object.keys({ ...settings, ...serverSettings });

/** Parses the name of an upstream's setting: `UPSTREAM_2_BASE_URL` is the `BASE_URL` of the second. */
export function readUpstreamName(name: string): { readonly number: number; readonly own: string } | undefined {
  // The first upstream has no number, and there are no leading zeros.
  const [, number = '1', own] = /^UPSTREAM_(?:([2-9]|[1-9]\d+)_)?(\w+)$/.exec(name) ?? [];
  return own === undefined ? undefined : { number: Number(number), own };
}

/** The prefix of an upstream's settings. */
export const upstreamPrefix = (number: number): string => (number === 1 ? 'UPSTREAM' : `UPSTREAM_${number}`);

function isSetting(name: string): boolean {
  const own = readUpstreamName(name)?.own;
  return gatewayNames.includes(name) || (own !== undefined && upstreamNames.includes(own));
}

/** All names that this one may be a typo of, including those of its upstream. */
function candidatesFor(name: string): string[] {
  const prefix = upstreamPrefix(readUpstreamName(name)?.number ?? 1);
  return [...gatewayNames, ...upstreamNames.map((own) => `${prefix}_${own}`)];
}

const namesSet = (environment: Environment): string[] =>
  Object.keys(environment).filter((name) => environment[name]?.trim());

/** Reports unknown variables that are meant for the gateway. */
export function nameFaults(environment: Environment): string[] {
  return namesSet(environment).flatMap((name) => {
    if (!ownPrefix.test(name) || kubernetesName.test(name)) return [];
    return isSetting(name) ? [] : unknownSetting(name);
  });
}

/** Suggests the nearest setting, if one is near enough. `further`: settings that are defined elsewhere. */
export function unknownSetting(name: string, further: readonly string[] = []): string {
  const [nearest = ''] = [...candidatesFor(name), ...further].toSorted(
    (a, b) => editDistance(name, a) - editDistance(name, b),
  );
  const isMeant = ownPrefix.test(name) || editDistance(name, nearest) <= 2;
  return `${name} is not a known setting: ${isMeant ? `did you mean ${nearest}?` : 'docs/settings.md lists all'}`;
}

/** Warns about variables that may belong to another program, but are one typo away from a setting. */
export function typoWarnings(environment: Environment, further: readonly string[] = []): string[] {
  return namesSet(environment).flatMap((name) => {
    const known = [...candidatesFor(name), ...further];
    if (known.includes(name) || ownPrefix.test(name)) return [];
    const isNear = (other: string) => Math.abs(other.length - name.length) <= 1 && editDistance(name, other) <= 1;
    const meant = known.find(isNear);
    return meant === undefined ? [] : [`${name} is not a setting and has no effect: did you mean ${meant}?`];
  });
}

/**
 * The edit distance with transpositions. A missing letter counts half, because people shorten names.
 * https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column / 2);
  for (let row = 1; row <= a.length; row += 1) {
    const counts = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const [left = 0, above = 0, aslant = 0] = [counts[column - 1], last[column], last[column - 1]];
      const swapped =
        a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1] ? (before[column - 2] ?? 0) : Infinity;
      counts[column] = Math.min(left + 0.5, above + 1, aslant + (a[row - 1] === b[column - 1] ? 0 : 1), swapped + 1);
    }
    [before, last] = [last, counts];
  }
  return last[b.length] ?? 0;
}
