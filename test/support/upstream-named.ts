import { addresses, type DialectName } from '../../lambda/dialects/names.ts';
import type { Upstream } from '../../lambda/settings/read-upstreams.ts';

const ids = { text: 'words', vision: 'eyes' };

const everywhere = <T>(value: T) =>
  Object.fromEntries(addresses.map((address) => [address, value])) as Record<DialectName, T>;

/** An upstream for tests that only distinguish upstreams, and send them nothing. */
export const upstreamNamed = (prefix: string): Upstream => ({
  prefix,
  addresses: everywhere('https://host/v1'),
  models: everywhere(ids),
  headers: {},
  apiKeys: [],
  tokenRegion: undefined,
  defaults: {},
  firstEventTimeout: undefined,
  signsThinking: false,
  dialects: ['chat', 'responses', 'messages'],
  translation: {
    limitName: 'max_tokens',
    limit: undefined,
    reasoning: 'none',
    levels: [],
    replay: 'back',
    systemTurns: 'fold',
    toolImages: 'after',
    unknown: 'leave-out',
    countUrl: undefined,
    streamOptions: 'send',
    cacheMarks: false,
  },
});

/** One with its own address and model ids for each dialect, and no embeddings. */
export const upstreamOfThree: Upstream = {
  ...upstreamNamed('UPSTREAM'),
  addresses: {
    chat: 'https://api.acmecorp.example/v1',
    responses: 'https://other.acmecorp.example/v2',
    messages: 'https://third.acmecorp.example/v3',
    embeddings: 'https://api.acmecorp.example/v1',
  },
  models: {
    chat: { text: 'thunder', vision: 'thunder-eyes' },
    responses: { text: 'thunder-r', vision: 'thunder-eyes-r' },
    messages: { text: 'thunder-m', vision: 'thunder-eyes-m' },
    embeddings: { text: 'thunder', vision: 'thunder-eyes' },
  },
};
