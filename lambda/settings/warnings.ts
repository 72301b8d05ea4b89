import { type Config, waysToSignIn } from './config.ts';

/** Upstreams that can't be asked, for lack of a key. What a secret holds is not known at the start. */
export function keyWarnings({ upstreams, upstreamSecretId }: Config): string[] {
  const keyless = upstreamSecretId === undefined ? upstreams.filter(({ apiKeys }) => apiKeys.length === 0) : [];
  const result =
    keyless.length === upstreams.length ? 'every request is refused (503 unconfigured)' : 'this upstream is not used';
  return keyless.map(
    ({ prefix }) => `without ${prefix}_API_KEYS ${result}; for an upstream that needs no key, set it to any text`,
  );
}

/** A host that anybody may name in a request is none to sign in at. */
export function pageWarnings(config: Config): string[] {
  if (config.appUrl !== undefined || waysToSignIn(config).length === 0) return [];
  return [
    'without APP_URL nobody can sign in at /cli from another machine: set it to the address that they call, without /cli',
  ];
}
