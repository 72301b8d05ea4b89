import { serverSettings, settings } from './definitions.ts';
import type { Environment } from './read-settings.ts';
import { upstreamSettings } from './upstream-definitions.ts';

/** What begins so is meant for the gateway, and hardly for another program. */
const ownPrefix = /^(UPSTREAM|GUEST|MEMBER|OIDC|EDGE)_/;

/** Kubernetes sets these in every container beside a service that is called `upstream` or `edge`. */
const kubernetesName = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

const upstreamNames = Object.keys(upstreamSettings);
const gatewayNames = Object.keys({ ...settings, ...serverSettings });

/** Takes the name of an upstream's setting apart: `UPSTREAM_2_BASE_URL` is the `BASE_URL` of the second. */
export function readUpstreamName(name: string): { readonly number: number; readonly own: string } | undefined {
  // The first upstream has no number, and no number begins with a zero.
  const [, number = '1', own] = /^UPSTREAM_(?:([2-9]|[1-9]\d+)_)?(\w+)$/.exec(name) ?? [];
  return own === undefined ? undefined : { number: Number(number), own };
}

/** What the settings of an upstream begin with. */
export const upstreamPrefix = (number: number): string => (number === 1 ? 'UPSTREAM' : `UPSTREAM_${number}`);

function isSetting(name: string): boolean {
  const own = readUpstreamName(name)?.own;
  return gatewayNames.includes(name) || (own !== undefined && upstreamNames.includes(own));
}

/** The settings' names, with those of the upstream that this name is about. */
function namesBeside(name: string): string[] {
  const prefix = upstreamPrefix(readUpstreamName(name)?.number ?? 1);
  return [...gatewayNames, ...upstreamNames.map((own) => `${prefix}_${own}`)];
}

const namesSet = (environment: Environment): string[] =>
  Object.keys(environment).filter((name) => environment[name]?.trim());

/** Faults in the names of variables that are meant for the gateway. */
export function nameFaults(environment: Environment): string[] {
  return namesSet(environment).flatMap((name) => {
    if (!ownPrefix.test(name) || kubernetesName.test(name)) return [];
    return isSetting(name) ? [] : unknownSetting(name);
  });
}

/** Names the nearest setting, unless a name that may be anything is far from all; `further` are settings that have no table here. */
export function unknownSetting(name: string, further: readonly string[] = []): string {
  const [nearest = ''] = [...namesBeside(name), ...further].toSorted(
    (a, b) => countSlips(name, a) - countSlips(name, b),
  );
  const isMeant = ownPrefix.test(name) || countSlips(name, nearest) <= 2;
  return `${name} is not a known setting: ${isMeant ? `did you mean ${nearest}?` : 'docs/settings.md lists all'}`;
}

/** Warns of variables that may belong to anything, but are called as a setting is, but for one slip. */
export function slipWarnings(environment: Environment, further: readonly string[] = []): string[] {
  return namesSet(environment).flatMap((name) => {
    const known = [...namesBeside(name), ...further];
    if (known.includes(name) || ownPrefix.test(name)) return [];
    const isNear = (other: string) => Math.abs(other.length - name.length) <= 1 && countSlips(name, other) <= 1;
    const meant = known.find(isNear);
    return meant === undefined ? [] : [`${name} is no setting, and has no effect: did you mean ${meant}?`];
  });
}

/**
 * How many letters are too many, wrong, or swapped with the next one; missing ones count half, as people shorten names.
 * https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance
 */
function countSlips(a: string, b: string): number {
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
