import { readConfig, type Upstream } from '../../lambda/settings/config.ts';
import { ConfigError } from '../../lambda/settings/read.ts';
import { settings } from '../../lambda/settings/table.ts';
import { hiddenNames } from '../../lambda/upstream/hidden-names.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { defaultPort } from '../../local/local-settings.ts';
import { CommandError } from '../command-line.ts';
import type { IssueCommand } from './quota.ts';

/** The settings that the doctor uses. */
export interface KnownSettings {
  readonly names: readonly string[];
  /** The dialects that some upstream does not speak. */
  readonly translated: readonly string[];
  readonly memberLimits: readonly number[];
  readonly guestLimits: readonly number[];
  /** Whether only keys are served, in every stage. */
  readonly closed: boolean;
  /** Milliseconds. */
  readonly keepAlive: number;
  /** Where the pages are, and where people sign in with a company account, if all stages agree. */
  readonly appUrl?: string | undefined;
  readonly oidcIssuer?: string | undefined;
}

const fallback = (name: 'MEMBER_LIMIT' | 'GUEST_LIMIT') => Number(settings[name].fallback);

/** Without settings a gateway runs with the fallbacks. */
export const fallbackSettings: KnownSettings = {
  names: [],
  translated: [],
  memberLimits: [fallback('MEMBER_LIMIT')],
  guestLimits: [fallback('GUEST_LIMIT')],
  closed: false,
  keepAlive: Number(settings.KEEP_ALIVE_INTERVAL.fallback) * 1000,
};

/** The settings of one stage of the `gateway` block of cdk.json; without a stage, those of all stages together. */
export function readKnownSettings(block: unknown, stage?: string): KnownSettings {
  const stages = stage === undefined ? Object.keys(Object(Object(block).stages)) : [stage];
  const configs = stages.map((one) => {
    // The stack brings the edge's header and secret together.
    const { EDGE_HEADER: _, ...environment } = readDeploymentConfig(block, one).environment;
    const { EDGE_SECRET_ID: __, ...added } = setByStack;
    return readConfig({ ...environment, ...added });
  });
  if (configs.length === 0) return fallbackSettings;
  return {
    names: [...new Set(configs.flatMap(({ upstreams, upstreamNames }) => namesOf(upstreams, upstreamNames)))],
    translated: [...new Set(configs.flatMap(({ upstreams }) => upstreams.flatMap(missingIn)))],
    memberLimits: [...new Set(configs.map(({ memberLimit }) => memberLimit))],
    closed: configs.every(({ access }) => access === 'keys'),
    guestLimits: [...new Set(configs.map(({ guestLimit }) => guestLimit))],
    keepAlive: Math.max(...configs.map(({ keepAliveInterval }) => keepAliveInterval)),
    appUrl: onlyOne(configs.map((config) => config.appUrl)),
    oidcIssuer: onlyOne(configs.map((config) => config.oidcIssuer)),
  };
}

const onlyOne = <T>(values: readonly T[]): T | undefined => (new Set(values).size === 1 ? values[0] : undefined);
const missingIn = ({ addresses, dialects }: Upstream): readonly string[] =>
  Object.keys(addresses).filter((name) => !dialects.some((spoken) => spoken === name));

/** cdk.json comes with an upstream at a reserved host (RFC 2606), which has no name to look for. */
function namesOf(...[upstreams, operatorNames]: Parameters<typeof hiddenNames>): string[] {
  const isReal = (url: string) => !new URL(url).hostname.endsWith('.example');
  return hiddenNames(
    upstreams.filter(({ addresses }) => Object.values(addresses).some(isReal)),
    operatorNames,
  );
}

/** Without a stage, a block that can't be read only gets a warning: the gateway may have nothing to do with it. */
export function readSettings(
  block: unknown,
  stage: string | undefined,
  printError: (text: string) => void,
): KnownSettings {
  try {
    return block === undefined ? fallbackSettings : readKnownSettings(block, stage);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (stage !== undefined) throw new CommandError(`cdk.json: ${error.message}`);
    printError(`cdk.json is ignored: ${error.message}\n`);
    return fallbackSettings;
  }
}

/** The command that issues a key of the gateway examined, to paste: it finds a local one by its port, a deployed one by its stack. */
export const createIssueCommand =
  (base: string, stage: string | undefined): IssueCommand =>
  (limit) => {
    const { hostname, port } = new URL(base);
    const command = `npm run keys -- issue --limit ${limit}`;
    if (!/^(localhost|127\..+|\[::1\]|0\.0\.0\.0)$/.test(hostname)) {
      return `${command} --stack ${stage === undefined ? 'NAME' : `InferenceGateway-${stage}`}`;
    }
    return port === '' || Number(port) === defaultPort ? command : `PORT=${port} ${command}`;
  };
