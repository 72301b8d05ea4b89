import { type Config, readConfig } from '../../lambda/settings/config.ts';
import { ConfigError } from '../../lambda/settings/read.ts';
import type { Upstream } from '../../lambda/settings/upstreams.ts';
import { hiddenNames } from '../../lambda/upstream/pool.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { defaultPort } from '../../local/local-settings.ts';
import { CommandError } from '../command-line.ts';
import type { IssueCommand } from './quota.ts';

export type KnownSettings = ReturnType<typeof summarize>;

/** The settings that the doctor uses, of some stages together. */
const summarize = (configs: readonly Config[]) => ({
  names: distinct(configs.flatMap(({ upstreams, upstreamNames }) => namesOf(upstreams, upstreamNames))),
  /** The dialects that some upstream does not speak. */
  translated: distinct(configs.flatMap(({ upstreams }) => upstreams.flatMap(missingIn))),
  memberLimits: distinct(configs.map(({ memberLimit }) => memberLimit)),
  guestLimits: distinct(configs.map(({ guestLimit }) => guestLimit)),
  /** Whether only keys are served, in every stage. */
  closed: configs.every(({ access }) => access === 'keys'),
  /** Milliseconds. */
  keepAlive: Math.max(...configs.map(({ keepAliveInterval }) => keepAliveInterval)),
  /** Where the pages are, and where people sign in with a company account, if all stages agree. */
  appUrl: onlyOne(configs.map((config) => config.appUrl)),
  oidcIssuer: onlyOne(configs.map((config) => config.oidcIssuer)),
});

/** What the stack brings; the edge's header and secret come together. */
const { EDGE_SECRET_ID: _, ...added } = setByStack;

/** Without settings a gateway runs with the fallbacks. */
export const fallbackSettings = summarize([
  readConfig({
    ...added,
    UPSTREAM_BASE_URL: 'https://any.example',
    UPSTREAM_TEXT_MODEL: 'a',
    UPSTREAM_VISION_MODEL: 'b',
  }),
]);

/** The settings of one stage of the `gateway` block of cdk.json; without a stage, those of all stages together. */
export function readKnownSettings(block: unknown, stage?: string): KnownSettings {
  const stages = stage === undefined ? Object.keys(Object(Object(block).stages)) : [stage];
  const configs = stages.map((one) => {
    const { EDGE_HEADER: _, ...environment } = readDeploymentConfig(block, one).environment;
    return readConfig({ ...environment, ...added });
  });
  return configs.length === 0 ? fallbackSettings : summarize(configs);
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

function onlyOne<T>(values: readonly T[]): T | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}

function missingIn({ addresses, dialects }: Upstream): readonly string[] {
  return Object.keys(addresses).filter((name) => !dialects.some((spoken) => spoken === name));
}

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
