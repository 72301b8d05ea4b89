import { z } from 'zod';
import { parseJson } from '../../lambda/settings/read.ts';
import { CommandError } from '../command-line.ts';
import { faultInBody } from './answers.ts';
import { countTokensPath } from './dialect-probes.ts';
import { bearer, list, type Probe, post, quote, type Reply } from './probe.ts';
import { createMeter, type ExpectedLimits, type Figures, type IssueCommand, type Meter, readFigures } from './quota.ts';
import { type Finding, fail, type Row } from './report.ts';
import type { KnownSettings } from './settings.ts';

export interface Gateway {
  readonly models: readonly [text: string, vision: string];
  /** The prefix of the gateway's own headers, in lower case. */
  readonly headerPrefix: string;
  /** What the key had left, and of how many. */
  readonly figures: Figures;
}

/** What the operator has said, on the command line and in the settings. */
export interface RunOptions
  extends Pick<KnownSettings, 'names' | 'translated' | 'closed' | 'keepAlive' | 'oidcIssuer'> {
  readonly key: string;
  readonly spentKey?: string | undefined;
  readonly origin: string;
  readonly length: number;
  readonly limits: ExpectedLimits;
  readonly issueCommand: IssueCommand;
  /** Where the pages are, and a probe for that address. */
  readonly appUrl: string;
  readonly app: Probe;
}

export interface Run extends RunOptions, Gateway {
  /** Asks again if a reply says to wait for a moment. */
  readonly ask: Probe;
  readonly askWithoutWaiting: Probe;
  /** All replies so far, and those of them that were to be streams. */
  readonly replies: readonly Reply[];
  readonly streams: Reply[];
  readonly charged: Meter;
  /** For a key's quota, or else for that of this network's guest. */
  createMeter(key?: string): Meter;
  readonly guestBefore: Figures;
}

/** A row of the report. No finding makes no row. */
export type Check = readonly [name: string, look: () => Finding | undefined | Promise<Finding | undefined>];

/** Checks of one area, up to the first whose request fails. */
export type CheckGroup = readonly [area: string, checks: readonly Check[]];

/** For what several checks look at: asks the first time only. */
export function shared<Asked>(ask: () => Promise<Asked>): () => Promise<Asked> {
  let asked: Promise<Asked> | undefined;
  return () => (asked ??= ask());
}

export async function* runChecks(groups: readonly CheckGroup[]): AsyncGenerator<Row> {
  for (const [area, checks] of groups) {
    try {
      for (const [check, look] of checks) {
        const finding = await look();
        if (finding) yield { area, check, ...finding };
      }
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      yield { area, check: 'can be asked', ...fail(error.message) };
    }
  }
}

export async function startRun(
  probe: Probe,
  waitOut: (probe: Probe) => Probe,
  gateway: Gateway,
  options: RunOptions,
): Promise<Run> {
  const replies: Reply[] = [];
  const askWithoutWaiting: Probe = async (request) => {
    const reply = await probe(request);
    replies.push(reply);
    return reply;
  };
  const ask = waitOut(askWithoutWaiting);
  const meter = (key?: string) => createMeter(ask, key === undefined ? {} : bearer(key), gateway.headerPrefix);
  return {
    ...{ ...options, ...gateway, ask, askWithoutWaiting, replies, streams: [] },
    charged: meter(options.key),
    createMeter: meter,
    guestBefore: await meter().read(),
  };
}

/** Only what tells a gateway from other servers: whether the list is right is checked later. */
const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Lists the models, which is free and shows, before any quota is spent, that the key is good and the quota sufficient. */
export async function findGateway(ask: Probe, key: string, cost: number): Promise<Gateway> {
  const stop = (why: string) => new CommandError(why);
  const reply = await ask(list(bearer(key)));
  if (reply.status === 401) throw stop(`the gateway does not accept this key: ${messageIn(reply)}${mistakeIn(key)}`);
  if (reply.status === 503) throw stop(`the gateway is not ready: ${messageIn(reply)}`);
  const location = reply.headers.get('location');
  if (location !== null) throw stop(`there is no gateway: it redirects to ${location}`);
  const fault = reply.status === 200 ? faultInBody(reply, modelList) : `it answered ${quote(reply)}`;
  if (fault !== undefined) throw stop(`there is no gateway: GET /v1/models, ${fault}`);
  const ids = modelList.parse(parseJson(reply.text)).data.map(({ id }) => id);
  const text = ids.find((id) => ids.includes(`${id}-vision`));
  if (text === undefined) {
    throw stop('there is no gateway: GET /v1/models, it has no pair of models NAME and NAME-vision');
  }
  const headerPrefix = `x-${text}-`;
  const figures = readFigures(reply, headerPrefix);
  const { remaining, limit, reset } = figures;
  if (remaining < cost) {
    const more = Number.isNaN(reset) ? '' : `; more in ${Math.ceil(reset / 60)} minutes`;
    const guest = readFigures(await ask(list()), headerPrefix);
    const asGuest = guest.limit === limit ? '; these are the figures of a guest' : '';
    throw stop(`this takes ${cost} requests, and the key has ${remaining} of ${limit} left${more}${asGuest}`);
  }
  // Models are always listed. Another free request meets any further obstacle before quota is spent.
  const empty = await ask(post(countTokensPath, { 'x-api-key': key }, '{}'));
  if (empty.status === 503) throw stop(`the gateway is not ready: ${messageIn(empty)}`);
  return { models: [text, `${text}-vision`], headerPrefix, figures };
}

/** If the key is malformed, the mistake is on this side. */
function mistakeIn(key: string): string {
  if (/^ltk_[\w-]{43}$/.test(key)) return '';
  return ` A key is ltk_ and 43 letters, digits, - and _; this one is not, with ${key.length} characters in all.`;
}

const errorBody = z.object({ error: z.object({ message: z.string() }) });

function messageIn(reply: Reply): string {
  const { data } = errorBody.safeParse(parseJson(reply.text));
  return data?.error.message ?? quote(reply);
}
