import { z } from 'zod';
import { note, type Row } from '../examination/row.ts';
import { countTokensPath, messagesProbe, whoAreYou } from './dialect-probes.ts';
import { bearer } from './examine-keys.ts';
import type { Acquaintance } from './greet.ts';
import { judgeShape } from './judge-shape.ts';
import type { Probe } from './probe.ts';

export async function* examineModels(ask: Probe, key: string, { models }: Acquaintance): AsyncGenerator<Row> {
  const examine = async (check: string, path: string, shape: z.ZodType): Promise<Row> => {
    const reply = await ask({ method: 'GET', path, headers: bearer(key) });
    return { area: 'models', check, ...judgeShape(reply, shape) };
  };
  const [text, vision] = models;
  const model = (id: string) =>
    z.strictObject({ id: z.literal(id), object: z.literal('model'), created: z.literal(0), owned_by: z.literal(text) });
  const list = z.strictObject({ object: z.literal('list'), data: z.tuple([model(text), model(vision)]) });
  yield examine('the list', '/v1/models', list);
  for (const id of models) yield examine(id, `/v1/models/${id}`, model(id));
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
