/** Dialects that may have their own address and model ids at an upstream. */
export const ownAddresses = ['RESPONSES', 'MESSAGES'] as const;
export type OwnAddress = (typeof ownAddresses)[number];

/** What conversations are held in. */
export type SpokenDialect = 'chat' | Lowercase<OwnAddress>;

export const dialectNames: readonly SpokenDialect[] = [
  'chat',
  ...ownAddresses.map((name) => name.toLowerCase() as Lowercase<OwnAddress>),
];

/** Which of an upstream's addresses: that of the dialect with this name. Embeddings are no conversation. */
export type Address = SpokenDialect | 'embeddings';

export const addresses: readonly Address[] = [...dialectNames, 'embeddings'];

/** An endpoint's path, which the gateway appends to an address itself. */
export const endpointPath =
  /\/(chat\/completions|responses(\/(compact|input_tokens))?|messages(\/count_tokens)?|embeddings)$/;

/** Those into which requests are translated, the preferred one first. */
const translationTargets = ['chat', 'messages'] as const satisfies readonly SpokenDialect[];
export type TranslationTarget = (typeof translationTargets)[number];

/** Into which a request is translated for an upstream that speaks only these. */
export const translationTarget = (spoken: readonly SpokenDialect[]): TranslationTarget | undefined =>
  translationTargets.find((target) => spoken.includes(target));

/** Whether what is translated for an upstream becomes chat completions, which need no limit. */
export const translatesToChat = (spoken: readonly SpokenDialect[]): boolean => translationTarget(spoken) === 'chat';

/** Where the upstream itself counts the tokens of what is translated, under its address. */
export const countPaths: Readonly<Partial<Record<TranslationTarget, string>>> = { messages: '/messages/count_tokens' };
