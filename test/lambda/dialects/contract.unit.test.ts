import { describe, expect, test } from '@jest/globals';
import type { Dialect, Endpoint } from '../../../lambda/dialects/dialect.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { readStrings } from '../../support/client-view.ts';
import { dialectNames, loadFixtures } from '../../support/fixtures.ts';
import { readBody, renderRead } from '../../support/read-body.ts';
import { dialectNamed, rewriteAnswer, scrubber } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';
import { findIdentity } from '../../support/upstream-identity.ts';

const upstreamModel = 'acmecorp/thunder-70b-instruct';

/** The body that is sent upstream, or the client's error. */
function send(dialect: Dialect, body: string, endpoint = dialect.endpoints[0]): string | GatewayError {
  try {
    const place = dialect.endpoints.indexOf(endpoint as Endpoint);
    return renderRead(readBody(dialect.name, body, { endpoint: place }), upstreamModel);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const withModel = (body: string, model: string) => body.replace(/("m(?:o|\\u006f)del"\s*:\s*)"svc"/, `$1"${model}"`);

describe.each(dialectNames)('%s', (name) => {
  const dialect = dialectNamed(name);
  const fixtures = loadFixtures(name);
  const requests = fixtures.flatMap((fixture) =>
    fixture.kind === 'request' ? [[fixture.name, fixture.bytes.toString(), fixture] as const] : [],
  );

  testRows(requests.filter(([, , { vision }]) => vision))(
    'vision content is found in any place',
    (_, body, { vision }) => {
      const refusal = send(dialect, body);
      expect(refusal).toMatchObject({ code: 'invalid_model', status: 400 });
      expect((refusal as GatewayError).message).toMatch(
        new RegExp(`^${vision?.replace(/[[\].]/g, '\\$&')} holds an image`),
      );
      expect((refusal as GatewayError).message).toMatch('svc-vision');
      expect(send(dialect, withModel(body, 'svc-vision'))).toBe(withModel(body, upstreamModel));
    },
  );

  const changed = /^(effort|thinking|model-twice)/;
  const plain = requests.filter(([file, , { vision, stateful }]) => !vision && !stateful && !changed.test(file));
  testRows(plain)('a plain body passes through, and only the model changes', (_, body) => {
    for (const endpoint of dialect.endpoints) {
      expect(send(dialect, body, endpoint)).toBe(withModel(body, upstreamModel));
    }
  });

  test('content is searched as deep as a body may be nested', () => {
    const list = name === 'responses' ? 'input' : 'messages';
    const deep = (inner: string) => {
      const depth = 4_990;
      return `{"model":"svc","${list}":[${'{"content":['.repeat(depth)}${inner}${']}'.repeat(depth)}]}`;
    };
    expect(send(dialect, deep('{"type":"text"}'))).toEqual(expect.any(String));
    expect(send(dialect, deep('{"type":"input_image"}'))).toMatchObject({ code: 'invalid_model' });
  });

  const answers = fixtures.flatMap((fixture) => (fixture.kind === 'answer' ? [[fixture.name, fixture] as const] : []));
  testRows(answers)('an answer is rewritten', (file, { bytes, terminal }) => {
    const rewrite = () => rewriteAnswer(dialect, bytes.toString());
    if (terminal === 'failure') {
      expect(rewrite).toThrow(UpstreamFailure);
      return;
    }
    const rewritten = rewrite();
    expect(findIdentity(rewritten)).toEqual([]);
    const [given, value] = [JSON.parse(bytes.toString()), JSON.parse(rewritten)];
    if (given.model) expect(value.model).toBe('svc');
    expect(Object.keys(value).filter((key) => /^(x_|provider|system_fingerprint)/.test(key))).toEqual([]);
    const exempt = (all: unknown) => [...readStrings(all)].filter(([, text]) => text.includes('EXEMPT'));
    expect(exempt(value)).toEqual(exempt(given));
    const said = (all: unknown) => [...readStrings(all)].filter(([path]) => /\.(content|text|thinking)$/.test(path));
    const joined = said(value).map(([, text]) => text);
    expect(findIdentity(joined.join(''))).toEqual([]);
    // Here a name begins in one block and ends in the next.
    if (file === 'two-blocks') return;
    expect(said(value)).toEqual(said(given).map(([path, text]) => [path, scrubber.scrub(text)]));
    const generated = (all: unknown) => said(all).filter(([path]) => !path.includes('annotations'));
    const shown = JSON.parse(rewriteAnswer(dialect, bytes.toString(), {}, { showsGenerated: true }));
    expect(generated(shown)).toEqual(generated(given));
  });

  const failures = fixtures.filter(({ kind, file }) => kind === 'error' && /200-error\.json$/.test(file));
  testRows(failures.map((one) => [one.file, one] as const))('a failure is no answer', (_, { bytes }) => {
    expect(() => rewriteAnswer(dialect, bytes.toString())).toThrow(UpstreamFailure);
  });
});

describe('a request for state', () => {
  const requests = dialectNames.flatMap((name) =>
    loadFixtures(name).flatMap((fixture) =>
      fixture.kind === 'request' && fixture.stateful
        ? [[name, fixture.stateful, fixture.bytes.toString()] as const]
        : [],
    ),
  );

  testRows(requests)('is refused in each place', (name, member, body) => {
    const refusal = send(dialectNamed(name), body);
    expect(refusal).toMatchObject({ code: 'invalid_request', status: 400 });
    expect((refusal as GatewayError).message).toMatch(new RegExp(`^${member} is not supported.*full history`));
    expect((refusal as GatewayError).details).toEqual(
      member === 'thread' ? { error_code: 'thread_unsupported_request' } : undefined,
    );
  });

  test('does not exist in chat, which passes such members through', () => {
    const body = `{"model":"svc","messages":[],"previous_response_id":"r","conversation":"c","background":true,"thread":{"id":"t"}}`;
    expect(send(dialectNamed('chat'), body)).toBe(withModel(body, upstreamModel));
  });
});

test('the only error with details shows them', () => {
  const details = { error_code: 'thread_unsupported_request' };
  const body = dialectNamed('messages').renderError(new GatewayError('invalid_request', 'No.', { details }));
  expect(JSON.parse(body).error).toEqual({ type: 'invalid_request_error', message: 'No.', details });
});

describe('the messages dialect normalizes', () => {
  const messages = dialectNamed('messages');
  const disabled = '"thinking":{"type":"disabled"}';
  const rest = '"max_tokens":9007199254740993,"messages":[]';
  testRows([
    ['"thinking":false', disabled],
    ['"th\\u0069nking": false', '"th\\u0069nking": {"type":"disabled"}'],
    ['"thinking":true', '"thinking":true'],
    ['"thinking":{"type":"enabled","budget_tokens":1.0}', '"thinking":{"type":"enabled","budget_tokens":1.0}'],
    ['"thinking":true,"thinking":false', disabled],
    ['"thinking":false,"thinking":true', '"thinking":true'],
    ['"output_config":{"effort":"none"}', `"output_config":{},${rest},${disabled}`],
    ['"output_config":{"effort":"none","x":1e2}', `"output_config":{"x":1e2},${rest},${disabled}`],
    ['"output_config":{"x":1e2 , "effort":"non\\u0065"}', `"output_config":{"x":1e2},${rest},${disabled}`],
    ['"output_config":{"effort":"low","effort":"none"}', `"output_config":{},${rest},${disabled}`],
    ['"output_config":{"effort":"none","effort":"low"}', '"output_config":{"effort":"low"}'],
    ['"output_config":{"effort":"none"},"output_config":{"effort":"low"}', '"output_config":{"effort":"low"}'],
    ['"thinking":true,"output_config":{"effort":"none"}', `${disabled},"output_config":{}`],
    ['"output_config":"none"', '"output_config":"none"'],
    ['"output_config":null', '"output_config":null'],
    ['"output_config":{"effort":["none"]}', '"output_config":{"effort":["none"]}'],
  ])('every form of disabled thinking', (given, expected) => {
    for (const endpoint of messages.endpoints) {
      const sent = send(messages, `{"model":"svc",${given},${rest}}`, endpoint);
      const tail = expected.includes(rest) ? '' : `,${rest}`;
      expect(sent).toBe(`{"model":${JSON.stringify(upstreamModel)},${expected}${tail}}`);
    }
  });

  test('nothing in other dialects', () => {
    const body = '{"model":"svc","messages":[],"thinking":false,"output_config":{"effort":"none"}}';
    expect(send(dialectNamed('chat'), body)).toBe(withModel(body, upstreamModel));
  });
});
