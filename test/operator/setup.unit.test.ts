import { expect, test } from '@jest/globals';
import { clientNames, showSetup } from '../../operator/setup.ts';

const access = { url: 'https://gateway.example/', serviceName: 'acme', contextWindow: 262_144 };
const textOf = (client: string, contextWindow?: number) =>
  showSetup({ ...access, contextWindow }, client, 'ltk_mine').text;

test('knows every client that people ask for, each once', () => {
  const asked = [
    ...['claude-code', 'claude-agent-sdk', 'codex', 'opencode', 'cursor', 'cline', 'continue', 'qwen-code', 'pi'],
    ...['langchain', 'ai-sdk', 'llamaindex', 'openai-agents', 'mastra', 'genkit', 'curl'],
  ];
  expect(clientNames).toEqual(expect.arrayContaining(asked));
  expect(new Set(clientNames).size).toBe(clientNames.length);
});

test('every client is told the address, the key and the model of this gateway, in complete files', () => {
  const windows = [access, { ...access, contextWindow: undefined }];
  for (const [client, told] of clientNames.flatMap((name) => windows.map((one) => [name, one] as const))) {
    const text = textOf(client, told.contextWindow);
    expect(text).toContain('https://gateway.example');
    expect(text).toContain('ltk_mine');
    expect(text).toMatch(/\bacme\b/);
    expect(text).not.toMatch(/svc|undefined|example\/\//);
    const { blocks } = showSetup(told, client, 'ltk_mine').json as {
      blocks: { title: string; text: string }[];
    };
    for (const { title, text } of blocks) {
      expect(text.trim()).toBe(text);
      if (title.endsWith('.json')) expect(() => JSON.parse(text)).not.toThrow();
    }
  }
});

// Clients that guess assume a smaller window, and drop the history too early.
const guessing = [
  'claude-code',
  'claude-agent-sdk',
  'codex',
  'opencode',
  'cline',
  'continue',
  'qwen-code',
  'pi',
  'llamaindex',
];
test('a client that would guess the window is told it where it is known', () => {
  expect(guessing.filter((client) => !textOf(client, 262_144).includes('262144'))).toEqual([]);
  expect(guessing.filter((client) => /context|window/i.test(textOf(client)))).toEqual([]);
});

test('answers are limited to a quarter of a small window, as a client would else leave no room for the question', () => {
  for (const client of ['opencode', 'cline', 'continue', 'pi']) {
    expect(textOf(client, 32_768)).toContain('8192');
    expect(textOf(client, 262_144)).toContain('32000');
  }
});

test('where terminals can sign in, clients that ask a program for their key are shown how, and no others', () => {
  const told = { ...access, appUrl: 'https://app.example' };
  const signInOf = (client: string, key?: string, contextWindow?: number) =>
    (showSetup({ ...told, contextWindow }, client, key).json as { signIn?: { text: string }[] }).signIn;
  expect(clientNames.filter((client) => signInOf(client))).toEqual(['claude-code', 'codex', 'opencode']);
  for (const client of ['claude-code', 'codex', 'opencode']) {
    const text = JSON.stringify(signInOf(client, undefined, 262_144));
    expect(text).toContain('https://app.example');
    expect(text).not.toMatch(/svc|KEY|undefined/);
    expect(text.includes('262144')).toBe(client !== 'opencode'); // opencode's sign-in brings it
    expect(JSON.stringify(signInOf(client))).not.toMatch(/context|window|undefined/i);
  }
  expect(showSetup(told, 'codex').text).toContain('\nOr without a key, by signing in:\n\n');
  // Whoever has a key, or a gateway without sign-in, reads nothing of it.
  expect(signInOf('codex', 'ltk_mine')).toBeUndefined();
  expect(showSetup(access, 'codex').text).not.toContain('sign');
});

test('Codex uses no WebSockets, and the Agents SDK sends no traces elsewhere', () => {
  expect(textOf('codex')).toContain('supports_websockets = false');
  expect(textOf('openai-agents')).toContain('tracingDisabled: true');
});
