import { type Config, waysToSignIn } from './config.ts';
import type { Upstream } from './read-upstreams.ts';

/** Without APP_URL, the host comes from the request, where anyone can forge it. So there is no sign-in on other machines. */
export function pageWarnings({ accounts }: Config): string[] {
  if (accounts.appUrl !== undefined || waysToSignIn(accounts).length === 0) return [];
  return [
    'without APP_URL nobody can sign in at /cli from another machine: set it to the URL that people open, without /cli',
  ];
}

/** Upstreams without a key. Keys missing from a secret are reported once it has been read. */
export function keyWarnings({ upstreams: { all }, secrets: { upstreamSecretId } }: Config): string[] {
  const isKeyless = ({ apiKeys, tokenRegion }: Upstream) => apiKeys.length === 0 && tokenRegion === undefined;
  const keyless = upstreamSecretId === undefined ? all.filter(isKeyless) : [];
  const effect = effectOf(keyless, all);
  return keyless.map(
    ({ prefix }) => `without ${prefix}_API_KEYS ${effect}; for an upstream that needs no key, set it to any text`,
  );
}

/** What to do about upstreams without a key in the secret. */
export function secretHint(keyless: readonly Upstream[], all: readonly Upstream[]): string {
  const names = keyless.map(({ prefix }) => `${prefix}_API_KEYS`).join(', ');
  return `store ${names} in this secret (docs/deploy.md): until then ${effectOf(keyless, all)}`;
}

const effectOf = (keyless: readonly Upstream[], all: readonly Upstream[]): string =>
  keyless.length === all.length ? 'every request is refused (503 unconfigured)' : 'this upstream is not used';
