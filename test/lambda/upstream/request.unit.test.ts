import { describe, expect, test } from '@jest/globals';
import { chat } from '../../../lambda/dialects/chat/chat.ts';
import { messages } from '../../../lambda/dialects/messages/messages.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import { createModels } from '../../../lambda/settings/models.ts';
import type { Headers } from '../../../lambda/upstream/conversation.ts';
import { buildHttpRequest } from '../../../lambda/upstream/upstream-request.ts';
import { testRows } from '../../support/test-rows.ts';
import { upstreamOfThree } from '../../support/upstream-named.ts';

const candidate = { upstream: upstreamOfThree, key: 'the-key', isOwn: true, headers: {}, secrets: ['the-key'] };
const models = createModels({ serviceName: 'svc', offersEmbeddings: false });
const call = (clientHeaders: Headers, stream: boolean, model = models.text, dialect = chat) => {
  const [endpoint] = dialect.endpoints;
  if (!endpoint) throw new Error('a dialect without an endpoint');
  const text = '{"model":"svc","text":"ü"}';
  const body = { conversation: { caller: 'me', traits: [] }, text, edits: [], model: { start: 9, end: 14 } };
  return { dialect, endpoint, model, stream, clientHeaders, body };
};

describe('the request to an upstream', () => {
  test('carries the body, the key and only those of the client’s headers that belong to the dialect', () => {
    const headers = {
      authorization: 'Bearer client',
      cookie: 'a=b',
      'user-agent': 'me',
      'x-forwarded-for': '1.2.3.4',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'one,two',
      'openai-beta': 'x',
      'x-api-key': 'client',
      'x-claude-code-session-id': 'session',
    };
    expect(buildHttpRequest(candidate, call(headers, false))).toEqual({
      url: 'https://api.acmecorp.example/v1/chat/completions',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-length': '31',
        authorization: 'Bearer the-key',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'one,two',
        'openai-beta': 'x',
      },
      pieces: ['{"model":', '"thunder"', ',"text":"ü"}'],
    });
  });

  test('goes to the dialect’s address, with the requested model', () => {
    const { url, headers, pieces } = buildHttpRequest(candidate, call({}, true, models.vision, messages));
    expect(url).toBe('https://third.acmecorp.example/v3/messages');
    expect(headers).toMatchObject({
      'x-api-key': 'the-key',
      authorization: 'Bearer the-key',
      accept: 'text/event-stream',
    });
    expect(pieces[1]).toBe('"thunder-eyes-m"');
  });

  test('asks a stream for its usage only where the upstream accepts that', () => {
    const usageEdits = [{ start: 25, end: 25, text: ',"usage":1' }];
    const sentTo = (streamOptions: 'send' | 'omit') => {
      const upstream = { ...upstreamOfThree, translation: { ...upstreamOfThree.translation, streamOptions } };
      const asked = call({}, true);
      return buildHttpRequest(
        { ...candidate, upstream },
        { ...asked, body: { ...asked.body, usageEdits } },
      ).pieces.join('');
    };
    expect(sentTo('send')).toBe('{"model":"thunder","text":"ü","usage":1}');
    expect(sentTo('omit')).toBe('{"model":"thunder","text":"ü"}');
  });

  testRows(['accept', 'anthropic-beta', 'anthropic-version', 'openai-beta'])(
    'no header comes in through a caller’s',
    (name) => {
      for (const value of ['a\r\nx-api-key: b', 'a\nb', 'é', '\u0000']) {
        const build = () => buildHttpRequest(candidate, call({ [name]: value }, false));
        expect(build).toThrow(GatewayError);
        expect(build).toThrow(name);
      }
    },
  );
});

describe('the headers and the model of a request', () => {
  test('carries every header of the dialect except those that select an account', () => {
    const passed = [
      'anthropic-dangerous-direct-browser-access',
      'anthropic-new-thing',
      'anthropic-keyboard',
      'openai-beta',
    ];
    const kept = [
      ...['id', 'key', 'token', 'secret', 'auth', 'account', 'org', 'organization', 'workspace', 'profile'].flatMap(
        // Servers that turn headers into variables (CGI) treat other separators like a hyphen.
        (part) => [`anthropic-${part}`, `anthropic-${part}-x`, `anthropic-x-${part}`, `anthropic-x_${part}.x`],
      ),
      'openai-organization',
      'openai-project',
    ];
    const given = Object.fromEntries([...passed, ...kept].map((name) => [name, 'v']));
    const { headers } = buildHttpRequest(candidate, call(given, false));
    expect(Object.keys(headers).filter((name) => /^(anthropic|openai)-/.test(name))).toEqual(passed);
  });

  test('gives the operator’s headers precedence', () => {
    const headers = { 'anthropic-version': '2030-01-01', 'x-workspace': 'ours', authorization: 'Basic b3Vycw==' };
    const built = buildHttpRequest({ ...candidate, headers }, call({ 'anthropic-version': '2023-06-01' }, false));
    expect(built.headers).toMatchObject(headers);
  });
});
