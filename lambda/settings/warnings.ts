import { type Config, waysToSignIn } from './config.ts';
import { warnOfNamesInCode } from './hidden-names-in-code.ts';
import { keyWarnings } from './missing-keys.ts';
import { warnOfOpenSpending } from './open-spending.ts';
import type { Environment } from './read.ts';
import { slipWarnings } from './variable-names.ts';
import { warnOfVoidThoughts } from './void-thoughts.ts';

/** All that a start warns of, in the order in which it says so: what starts, but not as its operator may think. */
export function startWarnings(environment: Environment, config: Config, servesWallet: boolean): string[] {
  return [
    ...slipWarnings(environment),
    ...keyWarnings(config),
    ...warnOfNamesInCode(config.upstreams.all, config.hiding),
    ...warnOfVoidThoughts(config.upstreams.all, config.hiding),
    ...warnOfOpenSpending(config),
    ...(servesWallet ? pageWarnings(config) : []),
  ];
}

/** A host that anybody may name in a request is none to sign in at. */
export function pageWarnings({ accounts }: Config): string[] {
  if (accounts.appUrl !== undefined || waysToSignIn(accounts).length === 0) return [];
  return [
    'without APP_URL nobody can sign in at /cli from another machine: set it to the address that they call, without /cli',
  ];
}
