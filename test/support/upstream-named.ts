import type { Upstream } from '../../lambda/settings/config.ts';

const ids = { text: 'words', vision: 'eyes' };

/** An upstream for tests that tell upstreams apart and send them nothing. */
export const upstreamNamed = (prefix: string): Upstream => ({
  prefix,
  addresses: { chat: 'https://host/v1', responses: 'https://host/v1', messages: 'https://host/v1' },
  models: { chat: ids, responses: ids, messages: ids },
  headers: {},
  apiKeys: [],
});
