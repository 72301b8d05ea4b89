import { dialectProbes, messagesProbe } from './dialect-probes.ts';
import type { Acquaintance } from './greet.ts';
import { type ExpectedError, faultInError } from './judge-error.ts';
import type { Ask, Probe } from './probe.ts';
import { fail, ok, type Row } from './row.ts';

interface Case {
  readonly ask: Ask;
  readonly expected: ExpectedError;
}

const countTokens = '/v1/messages/count_tokens';

/** Errors that are answered before anything is charged. */
export async function* examineErrors(ask: Probe, key: string, known: Acquaintance): AsyncGenerator<Row> {
  const noRetry = { 'x-should-retry': 'false' };
  const inference = [...dialectProbes, { ...messagesProbe, path: countTokens }].map((dialect) => ({
    ask: { method: 'POST', path: dialect.path, body: dialect.question(known.models[0]) } as const,
    shape: dialect.name === messagesProbe.name ? ('messages' as const) : ('openai' as const),
  }));
  const all = [...inference, { ask: { method: 'GET', path: '/v1/models' } as const, shape: 'openai' as const }];
  const unknownKey = { 'x-api-key': `ltk_${'x'.repeat(43)}` };
  const withKey = { authorization: `Bearer ${key}` };
  const get = (path: string): Ask => ({ method: 'GET', path, headers: withKey });

  const checks: Readonly<Record<string, readonly Case[]>> = {
    'no key': all.map(({ ask, shape }) => ({ ask, expected: { code: 'missing_api_key', shape, headers: noRetry } })),
    'an unknown key': all.map(({ ask, shape }) => ({
      ask: { ...ask, headers: unknownKey },
      expected: { code: 'invalid_api_key', shape, headers: noRetry },
    })),
    'an unknown model': [
      { ask: get('/v1/models/none'), expected: { code: 'model_not_found', shape: 'openai' } },
      {
        // Free, unlike the same mistake in a request for an answer.
        ask: { method: 'POST', path: countTokens, headers: withKey, body: messagesProbe.question('none') },
        expected: { code: 'invalid_model', shape: 'messages' },
      },
    ],
    'an unknown path': [{ ask: get('/v1/none'), expected: { code: 'not_found', shape: 'openai' } }],
    'a wrong method': inference.map(({ ask: { path }, shape }) => ({
      ask: get(path),
      expected: { code: 'method_not_allowed', shape, headers: { allow: undefined } },
    })),
  };
  for (const [check, cases] of Object.entries(checks)) {
    const faults: string[] = [];
    for (const { ask: asked, expected } of cases) {
      const reply = await ask(asked);
      const fault = faultInError(reply, expected, known.headerPrefix);
      if (fault !== undefined) faults.push(`${reply.title}: ${fault}`);
    }
    const [first] = faults;
    yield { area: 'errors', check, ...(first === undefined ? ok(`${cases.length} as documented`) : fail(first)) };
  }
}
