import { describe, expect, test } from '@jest/globals';
import { contextWindow } from '../../../lambda/wallet/pages/cli/snippet.js';
import { clientNames, showSetup } from '../../../operator/setup/show-setup.ts';

const access = { url: 'https://gateway.example/', serviceName: 'acme' };
const textOf = (client: string) => showSetup(access, client, 'ltk_mine').text;

test('knows every client that people ask for, each once', () => {
  const asked = [
    ...['claude-code', 'claude-agent-sdk', 'codex', 'opencode', 'cursor', 'cline', 'continue', 'qwen-code', 'pi'],
    ...['langchain', 'ai-sdk', 'llamaindex', 'openai-agents', 'mastra', 'genkit', 'curl'],
  ];
  expect(clientNames).toEqual(expect.arrayContaining(asked));
  expect(new Set(clientNames).size).toBe(clientNames.length);
});

describe.each(clientNames)('%s', (client) => {
  const text = textOf(client);

  test('has the address, the key and the model of this gateway, without a superfluous slash', () => {
    expect(text).toContain('https://gateway.example');
    expect(text).toContain('ltk_mine');
    expect(text).toMatch(/\bacme\b/);
    expect(text).not.toMatch(/svc|undefined|example\/\//);
  });

  test('has only complete files that can be parsed', () => {
    const { blocks } = showSetup(access, client, 'ltk_mine').json as { blocks: { title: string; text: string }[] };
    for (const { title, text } of blocks) {
      expect(text.trim()).toBe(text);
      if (title.endsWith('.json')) expect(() => JSON.parse(text)).not.toThrow();
    }
  });
});

// Clients that guess assume a smaller window, and drop the history too early.
test.each([
  'claude-code',
  'claude-agent-sdk',
  'codex',
  'opencode',
  'cline',
  'continue',
  'qwen-code',
  'pi',
  'llamaindex',
])('%s, which would guess the window, is told it', (client) => {
  expect(textOf(client)).toContain(`${contextWindow}`);
});

test('Codex uses no WebSockets, and the Agents SDK sends no traces elsewhere', () => {
  expect(textOf('codex')).toContain('supports_websockets = false');
  expect(textOf('openai-agents')).toContain('tracingDisabled: true');
});
