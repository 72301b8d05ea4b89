import type { Alias } from './definitions.ts';

export interface PublicModel {
  readonly id: string;
  /** Which of the upstream's models it maps to. */
  readonly kind: 'text' | 'vision' | 'embedding';
}

export interface Models {
  readonly text: PublicModel;
  readonly vision: PublicModel;
  /** Undefined if no upstream has an embedding model. */
  readonly embedding: PublicModel | undefined;
  /** In the order of `GET /v1/models`. */
  readonly all: readonly PublicModel[];
  /** The public model for an id or alias. Case-sensitive. */
  resolve(id: string): PublicModel | undefined;
}

interface ModelSettings {
  readonly serviceName: string;
  readonly modelAliases?: readonly Alias[];
  readonly offersEmbeddings: boolean;
}

/** The id of a public model: `svc`, `svc-vision`. */
export const modelId = (serviceName: string, kind: PublicModel['kind']): string =>
  kind === 'text' ? serviceName : `${serviceName}-${kind}`;

/** The public models of a deployment and their aliases. */
export function createModels({ serviceName, modelAliases = [], offersEmbeddings }: ModelSettings): Models {
  const named = (kind: PublicModel['kind']): PublicModel => ({ id: modelId(serviceName, kind), kind });
  const text = named('text');
  const vision = named('vision');
  const embedding = offersEmbeddings ? named('embedding') : undefined;
  const all = [text, vision, ...(embedding ? [embedding] : [])];
  const publicModels = new Map(all.map((model) => [model.id, model]));

  const exact = new Map<string, PublicModel>(publicModels);
  for (const id of [`${serviceName}-private`, `${serviceName}-text`]) exact.set(id, text);
  exact.set(`${serviceName}-image`, vision);
  const prefixes = new Map<string, PublicModel>();
  for (const prefix of ['fam-', 'vendor.', 'claude-', 'anthropic.']) prefixes.set(prefix, text);
  for (const id of ['opus', 'sonnet', 'haiku']) exact.set(id, text);
  for (const alias of modelAliases) {
    const model = publicModels.get(alias.to);
    if (model) (alias.prefix ? prefixes : exact).set(alias.from, model);
  }
  for (const model of publicModels.values()) exact.set(model.id, model);
  const longestFirst = [...prefixes].sort(([a], [b]) => b.length - a.length);

  return {
    text,
    vision,
    embedding,
    all,
    resolve: (id) =>
      exact.get(id) ?? exact.get(withoutVariant(id)) ?? longestFirst.find(([prefix]) => id.startsWith(prefix))?.[1],
  };
}

/** A coding agent's model picker sends ids with a variant in brackets: `opus[1m]`. */
const withoutVariant = (id: string): string => id.replace(/^(opus|sonnet|haiku)\[[^\]]+\]$/, '$1');

/** "svc and svc-vision", for a sentence. */
export const listIds = (ids: readonly string[]): string => new Intl.ListFormat('en').format(ids);
