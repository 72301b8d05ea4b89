import { z } from 'zod';
import { CommandError } from '../keys/command-error.ts';
import { dialectProbes, messagesProbe } from './dialect-probes.ts';
import { examineDialect } from './examine-dialect.ts';
import { examineErrors } from './examine-errors.ts';
import type { Acquaintance } from './greet.ts';
import { judgeExposed, judgePreflight, origin, preflightHeaders } from './judge-cors.ts';
import { findForeignHeader, findMissingHeader } from './judge-headers.ts';
import { findTrace } from './judge-hiding.ts';
import { judgeShape } from './judge-shape.ts';
import { type Probe, quote, type Reply } from './probe.ts';
import { type Finding, fail, note, ok, type Row } from './row.ts';

/** Looks at everything that a client can see of a gateway; each row as soon as it is known. */
export async function* examine(probe: Probe, key: string, known: Acquaintance): AsyncGenerator<Row> {
  const replies: Reply[] = [];
  const ask: Probe = async (asked) => {
    const reply = await probe(asked);
    replies.push(reply);
    return reply;
  };
  const { models, headerPrefix } = known;
  yield* guarded('models', () => examineModels(ask, key, known));
  for (const dialect of dialectProbes) {
    yield* guarded(dialect.name, () => examineDialect(ask, dialect, key, known));
  }
  const charged = replies.filter(({ title, status }) => title.startsWith('POST') && status === 200).length;
  yield* guarded('messages', () => examineTokenCount(ask, key, known));
  yield* guarded('errors', () => examineErrors(ask, key, known));
  yield* guarded('cors', () => examineCors(ask, key, headerPrefix));
  yield* guarded('quota', () => examineQuota(ask, key, known, charged));

  const row = (area: string, check: string, find: (reply: Reply) => string | undefined): Row => ({
    area,
    check,
    ...judgeAll(replies, find),
  });
  yield row('headers', 'quota and request id', (reply) => findMissingHeader(reply, headerPrefix));
  yield row('hiding', 'no header of others', (reply) => findForeignHeader(reply, headerPrefix));
  yield row('hiding', 'no trace in bodies', (reply) => findTrace(reply, models));
}

/** What can't be asked at all is a row as well, and the rest is examined none the less. */
async function* guarded(area: string, rows: () => AsyncGenerator<Row>): AsyncGenerator<Row> {
  try {
    yield* rows();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    yield { area, check: 'can be asked', ...fail(error.message) };
  }
}

async function* examineModels(ask: Probe, key: string, { models }: Acquaintance): AsyncGenerator<Row> {
  for (const id of models) {
    const path = `/v1/models/${id}`;
    const shape = z.strictObject({
      id: z.literal(id),
      object: z.literal('model'),
      created: z.literal(0),
      owned_by: z.literal(models[0]),
    });
    yield { area: 'models', check: id, ...judgeShape(await ask({ method: 'GET', path, headers: bearer(key) }), shape) };
  }
}

async function* examineTokenCount(ask: Probe, key: string, { models: [model] }: Acquaintance): AsyncGenerator<Row> {
  const { max_tokens: _, ...body } = messagesProbe.question(model);
  const headers = messagesProbe.keyHeaders(key);
  const reply = await ask({ method: 'POST', path: `${messagesProbe.path}/count_tokens`, headers, body });
  const finding =
    reply.status === 404
      ? note('the upstream does not offer it')
      : judgeShape(reply, z.object({ input_tokens: z.int().positive() }));
  yield { area: 'messages', check: 'counts tokens', ...finding };
}

async function* examineCors(ask: Probe, key: string, headerPrefix: string): AsyncGenerator<Row> {
  const preflight = await ask({ method: 'OPTIONS', path: '/v1/chat/completions', headers: preflightHeaders });
  yield { area: 'cors', check: 'preflight', ...judgePreflight(preflight) };
  const read = await ask({ method: 'GET', path: '/v1/models', headers: { ...bearer(key), origin } });
  yield { area: 'cors', check: 'headers a page can read', ...judgeExposed(read, headerPrefix) };
}

/** Others may use the same quota meanwhile: then more is gone than was spent here. */
async function* examineQuota(ask: Probe, key: string, known: Acquaintance, charged: number): AsyncGenerator<Row> {
  const reply = await ask({ method: 'GET', path: '/v1/models', headers: bearer(key) });
  const left = Number(reply.headers.get(`${known.headerPrefix}remaining`) ?? Number.NaN);
  const gone = known.remaining - left;
  const facts = `${gone} charged for ${charged} answers, ${left} of ${known.limit} left`;
  let finding: Finding = ok(facts);
  if (Number.isNaN(gone)) finding = fail(`the gateway does not tell what is left: ${quote(reply)}`);
  else if (gone < 0) finding = note('the window began anew meanwhile');
  else if (gone > charged) finding = note(`${facts}: others use this quota too`);
  else if (gone < charged) finding = fail(facts);
  yield { area: 'quota', check: 'each answer is charged once', ...finding };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function judgeAll(replies: readonly Reply[], find: (reply: Reply) => string | undefined): Finding {
  for (const reply of replies) {
    const fault = find(reply);
    if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
  }
  return ok(`in ${replies.length} replies`);
}
