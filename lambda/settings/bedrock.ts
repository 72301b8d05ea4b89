import { spokenAtBedrock, translatesToChat } from '../dialects/names.ts';
import type { Environment } from './read-settings.ts';

/** For dialects that need a limit: the newer Claude models all support it. */
const outputLimit = '32000';

/** By full setting name. */
type Settings = Readonly<Record<string, string>>;

const spokenBy = (model: string) => spokenAtBedrock.find(({ ids }) => ids.test(model)) ?? spokenAtBedrock[1];

/**
 * Defaults with `UPSTREAM_AUTH=aws`: Amazon Bedrock in the gateway's own region, with the dialect that the model speaks there
 * (docs/upstreams.md).
 */
export function bedrockDefaults(prefix: string, environment: Environment): Settings {
  const of = (name: string) => environment[`${prefix}_${name}`]?.trim();
  if (of('AUTH') !== 'aws') return {};
  const { dialect, path } = spokenBy(of('TEXT_MODEL') ?? '');
  const defaults = {
    BASE_URL: `https://bedrock-runtime.${environment.AWS_REGION?.trim()}.amazonaws.com${path}`,
    DIALECTS: dialect,
    ...(!translatesToChat([dialect]) && { OUTPUT_LIMIT: outputLimit, SIGNS_THINKING: 'true' }),
  };
  const left = Object.entries(defaults).filter(([name]) => !of(name));
  return Object.fromEntries(left.map(([name, value]) => [`${prefix}_${name}`, value]));
}

/** Matches the hosts of both Bedrock endpoints, public or in a VPC. */
const regionInHost = /(?:^|\.)bedrock-(?:runtime|mantle)(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d)\./;

/** The region of an upstream's tokens: that of its URLs, or else the gateway's own. Undefined if it takes API keys. */
export function tokenRegionOf(
  prefix: string,
  urls: readonly string[],
  environment: Environment,
  faults: string[],
): string | undefined {
  if (environment[`${prefix}_AUTH`]?.trim() !== 'aws') return undefined;
  if (environment[`${prefix}_API_KEYS`]?.trim())
    faults.push(`${prefix}_API_KEYS has no effect with ${prefix}_AUTH aws, which needs no key: remove one of them`);
  const named = new Set(urls.flatMap((url) => regionInHost.exec(URL.parse(url)?.hostname ?? '')?.[1] ?? []));
  if (named.size > 1)
    faults.push(`${prefix}_AUTH aws is for one region, but its addresses are in ${[...named].sort().join(' and ')}`);
  const [region = environment.AWS_REGION?.trim()] = named;
  if (!region) faults.push(`AWS_REGION is missing: the region of Bedrock, which ${prefix}_AUTH aws needs`);
  return region || undefined;
}

/** Whether an upstream is Bedrock's `bedrock-mantle` endpoint, which has its own IAM actions. */
export const isMantle = ({ addresses }: { readonly addresses: Readonly<Record<string, string>> }): boolean =>
  Object.values(addresses).some((url) => /(^|\.)bedrock-mantle[.-]/.test(new URL(url).hostname));

/** `provider.model`, where a region may come first, or an ARN. In the role's policy, `*` and `?` would allow other models too. */
const modelId = /^([\w-]+\.[\w.:-]+|arn:[\w.:/-]+)$/;

/** Reports models that are none of Bedrock's, such as the placeholder of cdk.json. */
export function modelIdFaults(prefix: string, names: readonly string[], environment: Environment): string[] {
  if (environment[`${prefix}_AUTH`]?.trim() !== 'aws') return [];
  const models = names.filter((name) => name.endsWith('_MODEL')).map((name) => `${prefix}_${name}`);
  const wrong = models.filter((name) => environment[name]?.trim() && !modelId.test(environment[name].trim()));
  return wrong.map((name) => `${name} must be the id or ARN of one model at Bedrock`);
}

/** Reports models that need different base URLs, unless the operator sets those. */
export function mixedModelFaults(prefix: string, environment: Environment): string[] {
  const of = (name: string) => environment[`${prefix}_${name}`]?.trim();
  const [text = '', vision = text] = [of('TEXT_MODEL'), of('VISION_MODEL')];
  if (of('AUTH') !== 'aws' || of('BASE_URL') || spokenBy(text) === spokenBy(vision)) return [];
  return [
    `${prefix}_VISION_MODEL and ${prefix}_TEXT_MODEL speak different dialects at Bedrock: choose both of one kind`,
  ];
}

/** Describes the defaults that apply, one line per upstream. */
export function sayBedrockDefaults(
  upstreams: readonly { readonly prefix: string; readonly defaults: Settings }[],
): string[] {
  return upstreams.flatMap(({ prefix, defaults }) => {
    const taken = Object.entries(defaults).map(([name, value]) => `${name}=${value}`);
    return taken.length === 0 ? [] : `${prefix}_AUTH aws took ${taken.join(', ')}`;
  });
}
