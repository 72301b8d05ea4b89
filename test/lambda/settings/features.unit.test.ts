import { expect } from '@jest/globals';
import { readConfig } from '../../../lambda/settings/config.ts';
import { testRows } from '../../support/test-rows.ts';

const required = {
  ...{ KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota', NETWORK_SALT: 'the salt of the tests' },
  ...{ UPSTREAM_BASE_URL: 'https://a.example/v1', UPSTREAM_TEXT_MODEL: 'a', UPSTREAM_VISION_MODEL: 'b' },
};
const onlyChat = { UPSTREAM_DIALECTS: 'chat' };
const onlyMessages = { UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '4096' };
const second = {
  ...{ UPSTREAM_2_BASE_URL: 'https://b.example/v1', UPSTREAM_2_TEXT_MODEL: 'a', UPSTREAM_2_VISION_MODEL: 'b' },
};

testRows<[settings: Readonly<Record<string, string>>, missing: readonly string[]]>([
  [{}, ['embeddings']],
  [{ UPSTREAM_EMBEDDINGS_MODEL: 'c' }, []],
  [onlyChat, ['embeddings', 'compacting', 'counts_messages', 'counts_inputs']],
  // It counts tokens itself, for translated requests too, but compacts nothing.
  [onlyMessages, ['embeddings', 'compacting']],
  [{ ...onlyChat, UPSTREAM_TOKENIZE_URL: 'https://a.example/tokenize' }, ['embeddings', 'compacting']],
  [{ UPSTREAM_DIALECTS: 'chat,responses' }, ['embeddings', 'counts_messages']],
  [{ ...onlyChat, ...second }, ['embeddings']],
])('what no upstream offers is missing', (settings, missing) => {
  expect(readConfig({ ...required, ...settings }).service.notOffered).toEqual(missing);
});
