import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../lambda/settings/config.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { readBlocks, readTables, toAnchor } from './markdown.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'upstreams.md'), 'utf8');
const blocks = readBlocks(page).filter(({ language }) => language === 'json');

const selfHosted = { chat: 'https://models.example/v1' };
/** Where each vendor's own pages say that its dialects live. */
const addresses: Readonly<Record<string, Partial<Record<'chat' | 'responses' | 'messages', string>>>> = {
  'Amazon Bedrock': {
    chat: 'https://bedrock-mantle.us-east-1.api.aws/v1',
    responses: 'https://bedrock-mantle.us-east-1.api.aws/v1',
    messages: 'https://bedrock-mantle.us-east-1.api.aws/anthropic/v1',
  },
  'Claude Platform on AWS': { messages: 'https://aws-external-anthropic.us-east-1.api.aws/v1' },
  OpenRouter: { chat: 'https://openrouter.ai/api/v1', messages: 'https://openrouter.ai/api/v1' },
  vLLM: selfHosted,
  Ollama: selfHosted,
  'llama.cpp': selfHosted,
  SGLang: selfHosted,
  TGI: selfHosted,
  DeepSeek: {
    chat: 'https://api.deepseek.com',
    responses: 'https://api.deepseek.com',
    messages: 'https://api.deepseek.com/anthropic/v1',
  },
  Moonshot: {
    chat: 'https://api.moonshot.ai/v1',
    responses: 'https://api.moonshot.ai/v1',
    messages: 'https://api.moonshot.ai/anthropic/v1',
  },
  Mistral: { chat: 'https://api.mistral.ai/v1' },
};

describe('docs/upstreams.md', () => {
  test('has a block for every upstream in its table, and no other', () => {
    const [, ...rows] = readTables(page)[0] ?? [];
    expect(rows.map(([link]) => link)).toEqual(blocks.map(({ heading }) => `[${heading}](#${toAnchor(heading)})`));
    expect(blocks.map(({ heading }) => heading)).toEqual(Object.keys(addresses));
  });

  test('every block deploys, and has the vendor’s addresses', () => {
    const deployed = blocks.map(({ heading, code }) => {
      const { environment } = readDeploymentConfig({ defaults: JSON.parse(code), stages: { dev: {} } });
      return [heading, readConfig({ ...environment, ...setByStack, EDGE_SECRET_ID: '' }).upstreams];
    });
    expect(deployed).toEqual(
      Object.entries(addresses).map(([heading, own]) => [
        heading,
        [expect.objectContaining({ addresses: expect.objectContaining(own) })],
      ]),
    );
  });
});
