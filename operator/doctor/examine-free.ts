import { z } from 'zod';
import { note, type Row } from '../examination/row.ts';
import { countTokensPath, messagesProbe, whoAreYou } from './dialect-probes.ts';
import { bearer } from './examine-keys.ts';
import type { Acquaintance } from './greet.ts';
import { judgeShape } from './judge-shape.ts';
import type { Probe } from './probe.ts';

export async function* examineModels(ask: Probe, key: string, { models }: Acquaintance): AsyncGenerator<Row> {
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

export async function* examineTokenCount(ask: Probe, key: string, known: Acquaintance): AsyncGenerator<Row> {
  const { max_tokens: _, ...body } = messagesProbe.question(known.models[0], whoAreYou);
  const headers = messagesProbe.keyHeaders(key);
  const reply = await ask({ method: 'POST', path: countTokensPath, headers, body });
  const finding =
    reply.status === 404
      ? note('the upstream does not offer it')
      : judgeShape(reply, z.object({ input_tokens: z.int().positive() }));
  yield { area: 'messages', check: 'counts tokens', ...finding };
}
