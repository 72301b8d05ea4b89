import { warnOfLostReasoning } from '../lambda/hiding/lost-reasoning.ts';
import { warnOfNamesInCode } from '../lambda/hiding/names-in-code.ts';
import type { Config } from '../lambda/settings/config.ts';
import { warnOfOpenSpending } from '../lambda/settings/open-spending.ts';
import type { Environment } from '../lambda/settings/read-settings.ts';
import { upstreamSettings } from '../lambda/settings/upstream-definitions.ts';
import { typoWarnings } from '../lambda/settings/variable-names.ts';
import { keyWarnings, pageWarnings } from '../lambda/settings/warnings.ts';
import { defaultSalt, hasUpstream, localNames, tableNamesIn } from './local-settings.ts';

/** Settings that work, but maybe not as intended. `environment` must be the user's own, before defaults are added. */
export function findWarnings(environment: Environment, host: string, config: Config): string[] {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const isDemo = !hasUpstream(environment);
  return [
    ...typoWarnings(environment, localNames),
    ...(isSet('DATA_DIR')
      ? tableNamesIn(environment).map((name) => `${name} names a DynamoDB, beside which DATA_DIR has no effect`)
      : []),
    ...(isDemo ? withDemo(Object.keys(environment).filter(isSet)) : withoutDemo(isSet('DEMO_DIALECTS'), config)),
    ...(isLoopback.test(host) ? [] : openToOthers(`HOST ${host} lets other machines in`, isDemo, config)),
  ];
}

/** The demo is the first upstream, and never fails. */
function withDemo(set: readonly string[]): string[] {
  const names = [...Object.keys(upstreamSettings).map((name) => `UPSTREAM_${name}`), 'UPSTREAM_SECRET_ID'];
  // This one has an effect on the demo: it turns embeddings on.
  const ignored = names.filter((name) => name !== 'UPSTREAM_EMBEDDINGS_MODEL' && set.includes(name)).join(', ');
  const others = set.filter((name) => /^UPSTREAM_\d+_BASE_URL$/.test(name));
  return [
    ...(ignored === '' ? [] : [`without UPSTREAM_BASE_URL the built-in demo answers, and ignores ${ignored}`]),
    ...others.map(
      (name) => `without UPSTREAM_BASE_URL the built-in demo answers first, and the upstream of ${name} never`,
    ),
  ];
}

function withoutDemo(hasDialects: boolean, config: Config): string[] {
  const forDemo =
    'DEMO_DIALECTS is for the built-in demo, which does not answer with UPSTREAM_BASE_URL: set UPSTREAM_DIALECTS';
  return [
    ...(hasDialects ? [forDemo] : []),
    ...keyWarnings(config),
    ...warnOfNamesInCode(config.upstreams.all, config.hiding),
    ...warnOfLostReasoning(config.upstreams.all, config.hiding),
    ...warnOfOpenSpending(config),
  ];
}

function openToOthers(others: string, isDemo: boolean, config: Config): string[] {
  const toDemo = `${others}, whom the built-in demo answers; set UPSTREAM_BASE_URL for a real upstream`;
  const toSalt =
    `${others}, and with the default NETWORK_SALT their addresses can be found out from the log and the tables; ` +
    'set it to a secret of at least 16 characters';
  return [
    ...(isDemo ? [toDemo] : []),
    ...(config.secrets.networkSalt === defaultSalt ? [toSalt] : []),
    ...pageWarnings(config),
  ];
}

const isLoopback = /^(localhost|127\.[\d.]+|(::ffff:127\.[\d.]+)|::1)$/i;
