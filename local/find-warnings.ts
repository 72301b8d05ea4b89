import type { Config } from '../lambda/settings/config.ts';
import type { Environment } from '../lambda/settings/read.ts';
import { upstreamSettings } from '../lambda/settings/table.ts';
import { defaultSalt } from './local-settings.ts';

/** What starts, but not as its user may think. The environment is the user's own, before anything is added. */
export function findWarnings(environment: Environment, host: string, config: Config): string[] {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const isDemo = !isSet('UPSTREAM_BASE_URL');
  return [
    ...(isDemo
      ? [...ignoredByDemo(isSet), ...behindDemo(environment)]
      : [...withoutDemo(isSet), ...missingKeys(config)]),
    ...(isLoopback(host) ? [] : openToOthers(host, isDemo, config)),
  ];
}

function ignoredByDemo(isSet: (name: string) => boolean): string[] {
  const names = [...Object.keys(upstreamSettings).map((name) => `UPSTREAM_${name}`), 'UPSTREAM_SECRET_ID'];
  const ignored = names.filter(isSet);
  if (ignored.length === 0) return [];
  return [`without UPSTREAM_BASE_URL the built-in demo answers, and ignores ${ignored.join(', ')}`];
}

function withoutDemo(isSet: (name: string) => boolean): string[] {
  if (!isSet('DEMO_DIALECTS')) return [];
  return [
    'DEMO_DIALECTS is for the built-in demo, which does not answer with UPSTREAM_BASE_URL: set UPSTREAM_DIALECTS',
  ];
}

/** The demo is the first upstream, and never fails. */
function behindDemo(environment: Environment): string[] {
  const others = Object.keys(environment).filter(
    (name) => /^UPSTREAM_\d+_BASE_URL$/.test(name) && environment[name]?.trim(),
  );
  return others.map(
    (name) => `without UPSTREAM_BASE_URL the built-in demo answers first, and the upstream of ${name} never`,
  );
}

function missingKeys({ upstreams, upstreamSecretId }: Config): string[] {
  if (upstreamSecretId !== undefined) return [];
  const keyless = upstreams.filter(({ apiKeys }) => apiKeys.length === 0);
  const result =
    keyless.length === upstreams.length ? 'every request is refused (503 unconfigured)' : 'this upstream is not used';
  return keyless.map(
    ({ prefix }) => `without ${prefix}_API_KEYS ${result}; for an upstream that needs no key, set it to any text`,
  );
}

function openToOthers(host: string, isDemo: boolean, { networkSalt }: Config): string[] {
  const others = `HOST ${host} lets other machines in`;
  return [
    ...(isDemo ? [`${others}, whom the built-in demo answers; set UPSTREAM_BASE_URL for a real upstream`] : []),
    ...(networkSalt === defaultSalt
      ? [
          `${others}, and with the default NETWORK_SALT their addresses can be found out from the log and the tables; ` +
            'set it to a secret of at least 16 characters',
        ]
      : []),
  ];
}

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|(::ffff:127\.[\d.]+)|::1)$/i.test(host);
