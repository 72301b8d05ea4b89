import { z } from 'zod';
import { CommandError } from '../command-line.ts';
import { cost } from './dialect-probes.ts';
import { type Figures, readFigures } from './figures.ts';
import { faultIn } from './judge-shape.ts';
import { type Probe, parseJson, quote, type Reply } from './probe.ts';

/** The facts about a gateway that the examination needs. */
export interface Acquaintance {
  readonly models: readonly [text: string, vision: string];
  /** The prefix of the gateway's own headers, in lower case. */
  readonly headerPrefix: string;
  /** What the key had left, and of how many. */
  readonly figures: Figures;
}

/** Only what tells a gateway from other servers: whether the list is right is examined later. */
const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Lists the models, which is free and shows, before any quota is spent, that the key is good and the quota sufficient. */
export async function greet(ask: Probe, key: string): Promise<Acquaintance> {
  const reply = await ask({ method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${key}` } });
  if (reply.status === 401) {
    throw new CommandError(`the gateway does not accept this key: ${messageIn(reply)}${slipIn(key)}`);
  }
  if (reply.status === 503) throw new CommandError(`the gateway is not ready: ${messageIn(reply)}`);
  const location = reply.headers.get('location');
  if (location !== null) throw new CommandError(`there is no gateway: it redirects to ${location}`);
  const fault = reply.status === 200 ? faultIn(reply, modelList) : `it answered ${quote(reply)}`;
  if (fault !== undefined) throw new CommandError(`there is no gateway: GET /v1/models, ${fault}`);
  const ids = modelList.parse(parseJson(reply.text)).data.map(({ id }) => id);
  const text = ids.find((id) => ids.includes(visionOf(id)));
  if (text === undefined) {
    throw new CommandError('there is no gateway: GET /v1/models, it has no pair of models NAME and NAME-vision');
  }
  const headerPrefix = `x-${text}-`;
  const figures = readFigures(reply, headerPrefix);
  if (figures.remaining < cost) {
    const guest = readFigures(await ask({ method: 'GET', path: '/v1/models' }), headerPrefix);
    const asGuest = guest.limit === figures.limit ? '; these are the figures of a guest' : '';
    throw new CommandError(tooLittle(figures) + asGuest);
  }
  // Models are always listed. Another free request meets any further obstacle before quota is spent.
  const empty = await ask({
    method: 'POST',
    path: '/v1/messages/count_tokens',
    headers: { 'x-api-key': key },
    body: '{}',
  });
  if (empty.status === 503) throw new CommandError(`the gateway is not ready: ${messageIn(empty)}`);
  return { models: [text, visionOf(text)], headerPrefix, figures };
}

const visionOf = (model: string): string => `${model}-vision`;

function tooLittle({ remaining, limit, reset }: Figures): string {
  const more = Number.isNaN(reset) ? '' : `; more in ${Math.ceil(reset / 60)} minutes`;
  return `this takes ${cost} requests, and the key has ${remaining} of ${limit} left${more}`;
}

/** If the key is malformed, the mistake is on this side. */
function slipIn(key: string): string {
  if (/^ltk_[\w-]{43}$/.test(key)) return '';
  return ` A key is ltk_ and 43 letters, digits, - and _; this one is not, with ${key.length} characters in all.`;
}

const errorBody = z.object({ error: z.object({ message: z.string() }) });

function messageIn(reply: Reply): string {
  const { data } = errorBody.safeParse(parseJson(reply.text));
  return data?.error.message ?? quote(reply);
}
