import { z } from 'zod';
import { parseJson } from '../../lambda/settings/json.ts';
import type { ReadToken } from '../../lambda/settings/secrets.ts';
import { plainText } from '../../local/plain-text.ts';
import { CommandError } from '../command-line.ts';
import { faultInBody } from './answers.ts';
import { countTokensPath } from './dialect-probes.ts';
import { bearer, list, type Probe, type ProbeRequest, post, quote, type Reply } from './probe.ts';
import type { KnownSettings } from './settings.ts';

/** The remaining requests, or the limit, by a reply's headers; NaN if they are missing. */
export function leftIn({ headers }: Reply, headerPrefix: string, figure: 'remaining' | 'limit' = 'remaining'): number {
  const text = headers.get(headerPrefix + figure) ?? '';
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** A reply with its request. */
export interface Heard extends Reply {
  readonly request: ProbeRequest;
}

/** How many requests remained before a request, by its own answer, and after it. */
export interface Charge {
  readonly title: string;
  readonly status: number;
  readonly before: number;
  readonly stated: number;
  readonly after: number;
}

/** The public models of a gateway. Not every gateway offers embeddings. */
export type Models =
  | readonly [text: string, vision: string]
  | readonly [text: string, vision: string, embedding: string];

interface Gateway {
  readonly models: Models;
  /** The prefix of the gateway's own headers, in lower case. */
  readonly headerPrefix: string;
  /** How many requests the key had left at the start. */
  readonly left: number;
  /** How many requests all checks cost. */
  readonly cost: number;
}

interface Options extends KnownSettings {
  readonly key: string;
  readonly origin: string;
  readonly appUrl: string;
  /** Sends requests to `appUrl`. */
  readonly app: Probe;
  /** Makes tokens from the operator's own AWS credentials. */
  readonly openAws: () => Promise<ReadToken>;
}

export interface Run extends Options, Gateway {
  readonly ask: Probe;
  /** Sends a request that is charged, and records the remaining quota before and after. */
  readonly charge: Probe;
  readonly replies: readonly Heard[];
  readonly charges: readonly Charge[];
}

/** Makes sure, before any quota is spent, that there is a gateway that can be checked. */
export async function startRun(probe: Probe, costOf: (models: Models) => number, options: Options): Promise<Run> {
  const replies: Heard[] = [];
  const charges: Charge[] = [];
  const ask = async (request: ProbeRequest) => {
    const reply = await probe(request);
    replies.push({ ...reply, request });
    return reply;
  };
  const gateway = await findGateway(ask, options.key, costOf);
  const readLeft = async () => leftIn(await ask(list(bearer(options.key))), gateway.headerPrefix);
  const charge = async (request: ProbeRequest) => {
    const before = await readLeft();
    const reply = await ask(request);
    const { title, status } = reply;
    charges.push({ title, status, before, stated: leftIn(reply, gateway.headerPrefix), after: await readLeft() });
    return reply;
  };
  return { ...options, ...gateway, ask, charge, replies, charges };
}

/** Just enough to tell a gateway from other servers. The list itself is checked later. */
const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

async function findGateway(ask: Probe, key: string, costOf: (models: Models) => number): Promise<Gateway> {
  const reply = await ask(list(bearer(key)));
  if (reply.status === 401) throw new CommandError(`the gateway does not accept this key: ${messageIn(reply)}`);
  if (reply.status === 503) throw new CommandError(`the gateway is not ready: ${messageIn(reply)}`);
  const location = reply.headers.get('location');
  if (location !== null) throw new CommandError(`there is no gateway: it redirects to ${plainText(location)}`);
  const fault = reply.status === 200 ? faultInBody(reply, modelList) : `it answered ${quote(reply)}`;
  if (fault !== undefined) throw new CommandError(`there is no gateway: GET /v1/models, ${fault}`);
  const ids = modelList.parse(parseJson(reply.text)).data.map(({ id }) => id);
  const text = ids.find((id) => ids.includes(`${id}-vision`));
  if (text === undefined) throw new CommandError('there is no gateway: no models NAME and NAME-vision are listed');
  const headerPrefix = `x-${text}-`;
  const [vision, embedding] = [`${text}-vision`, `${text}-embedding`];
  const models: Models = ids.includes(embedding) ? [text, vision, embedding] : [text, vision];
  const [left, cost] = [leftIn(reply, headerPrefix), costOf(models)];
  if (left < cost) throw new CommandError(`this takes ${cost} requests, and the key has ${left} left`);
  // Models are listed even if nothing else works, so another free request checks that the gateway is ready.
  const empty = await ask(post(countTokensPath, { 'x-api-key': key }, '{}'));
  if (empty.status === 503) throw new CommandError(`the gateway is not ready: ${messageIn(empty)}${hintFor(empty)}`);
  return { models, headerPrefix, left, cost };
}

/** The key was accepted, so it is the upstream's key that is missing. */
const hintFor = ({ headers }: Reply): string =>
  [...headers].some(([name, value]) => name.endsWith('-error') && value === 'unconfigured')
    ? ' Store UPSTREAM_API_KEYS in its UpstreamSecret (docs/deploy.md), or set it where the gateway runs.'
    : '';

const errorBody = z.object({ error: z.object({ message: z.string() }) });

function messageIn(reply: Reply): string {
  return plainText(errorBody.safeParse(parseJson(reply.text)).data?.error.message ?? quote(reply));
}
