/** Dialects for which an upstream can have a base URL and model ids of its own. */
export const ownAddresses = ['RESPONSES', 'MESSAGES'] as const;
export type OwnAddress = (typeof ownAddresses)[number];

/** The dialects of conversations. */
export type SpokenDialect = 'chat' | Lowercase<OwnAddress>;

export const dialectNames: readonly SpokenDialect[] = [
  'chat',
  ...ownAddresses.map((name) => name.toLowerCase() as Lowercase<OwnAddress>),
];

/** Which of an upstream's base URLs: the one for the dialect of this name. */
export type DialectName = SpokenDialect | 'embeddings';

export const addresses: readonly DialectName[] = [...dialectNames, 'embeddings'];

/** The path of an endpoint, which the gateway appends to a base URL. */
export const endpointPath =
  /\/(chat\/completions|responses(\/(compact|input_tokens))?|messages(\/count_tokens)?|embeddings)$/;

/** The dialects that requests can be translated into, in order of preference. */
const translationTargets = ['chat', 'messages'] as const satisfies readonly SpokenDialect[];
export type TranslationTarget = (typeof translationTargets)[number];

/** The dialects of models at Amazon Bedrock, and their base paths. The first whose `ids` match applies. */
export const spokenAtBedrock = [
  { dialect: 'messages', path: '/anthropic/v1', ids: /anthropic\./ },
  { dialect: 'chat', path: '/openai/v1', ids: /^/ },
] as const satisfies readonly { dialect: TranslationTarget; path: string; ids: RegExp }[];

/** The dialect that a request is translated into, for an upstream that speaks only `spoken`. */
export const translationTarget = (spoken: readonly SpokenDialect[]): TranslationTarget | undefined =>
  translationTargets.find((target) => spoken.includes(target));

/** Whether requests are translated into chat completions, which need no output limit. */
export const translatesToChat = (spoken: readonly SpokenDialect[]): boolean => translationTarget(spoken) === 'chat';

/**
 * Features that only some deployments offer, and the dialect that an upstream must speak for one. Counting also works at an address of
 * its own; embeddings need a model.
 */
export const features = {
  embeddings: undefined,
  compacting: 'responses',
  counts_messages: 'messages',
  counts_inputs: 'responses',
} as const satisfies Readonly<Record<string, SpokenDialect | undefined>>;
export type Feature = keyof typeof features;
export const featureNames = Object.keys(features) as Feature[];

/** Where an upstream counts the tokens of a translated request, relative to its base URL. */
export const countPaths: Readonly<Partial<Record<TranslationTarget, string>>> = { messages: '/messages/count_tokens' };
