import { z } from 'zod';
import { parseJson } from '../../lambda/settings/json.ts';
import { checkShape } from './answers.ts';
import { bearer, post } from './probe.ts';
import { type Checked, fail, ok, untested } from './report.ts';
import type { Run } from './run.ts';

const vector = z.strictObject({
  object: z.literal('embedding'),
  index: z.literal(0),
  embedding: z.array(z.number()).min(1),
});
const counted = z.object({ usage: z.object({ prompt_tokens: z.number() }) });

/** Asks for one vector, if the gateway offers embeddings. Hidden names are searched for in all replies, not here. */
export async function* checkEmbeddings({ charge, key, models: [, , model] }: Run): AsyncGenerator<Checked> {
  if (model === undefined) return;
  const asked = { model, input: 'Who are you?', encoding_format: 'float' };
  const reply = await charge(post('/v1/embeddings', bearer(key), asked));
  const answer = z.object({ object: z.literal('list'), data: z.tuple([vector]), model: z.literal(model) });
  yield ['makes a vector', checkShape(reply, answer)];
  if (reply.status !== 200) return;
  const { data } = counted.safeParse(parseJson(reply.text));
  if (!data)
    yield ['reports usage', untested('the answer has no usage; check whether the upstream itself reports any')];
  else yield ['reports usage', data.usage.prompt_tokens > 0 ? ok() : fail('the answer reports 0 input tokens')];
}
