import { z } from 'zod';
import { CommandError } from '../command-line.ts';
import { faultInBody } from './answers.ts';
import { bearer, countTokensPath } from './dialect-probes.ts';
import { type Probe, parseJson, quote, type Reply } from './probe.ts';
import { createMeter, type ExpectedLimits, type Figures, type IssueCommand, type Meter, readFigures } from './quota.ts';
import { type Finding, fail, type Row } from './report.ts';

/** The facts about a gateway that the checks need. */
export interface Gateway {
  readonly models: readonly [text: string, vision: string];
  /** The prefix of the gateway's own headers, in lower case. */
  readonly headerPrefix: string;
  /** What the key had left, and of how many. */
  readonly figures: Figures;
}

/** What the operator has said, on the command line and in the settings. */
export interface RunOptions {
  readonly key: string;
  /** A key without quota, if there is one to try. */
  readonly spentKey?: string | undefined;
  /** The origin of a page that should be allowed. */
  readonly origin: string;
  /** How many numbers a stream is asked to write. */
  readonly length: number;
  /** The dialects that, by the settings, some upstream does not speak. */
  readonly translated: readonly string[];
  /** Names that nobody should see. */
  readonly names: readonly string[];
  readonly limits: ExpectedLimits;
  /** Whether certainly nobody is served without a key. */
  readonly closed: boolean;
  readonly issueCommand: IssueCommand;
  /** Milliseconds between keep-alives. */
  readonly keepAlive: number;
  /** Where the pages are, and a probe for that address. */
  readonly appUrl: string;
  readonly app: Probe;
  /** Where people sign in with a company account, if the settings say so. */
  readonly oidcIssuer: string | undefined;
}

/** What a check may use. */
export interface Run extends RunOptions, Gateway {
  /** Asks again if a reply says to wait for a moment. */
  readonly ask: Probe;
  readonly askWithoutWaiting: Probe;
  /** All replies so far, and those of them that were to be streams. */
  readonly replies: readonly Reply[];
  readonly streams: Reply[];
  /** Measures what requests with the key cost. */
  readonly charged: Meter;
  /** For a key's quota, or else for that of this network's guest. */
  createMeter(key?: string): Meter;
  /** The guest's figures before anything was asked. */
  readonly guestBefore: Figures;
  /** What this way of asking has brought. It asks the first time only. */
  once<Asked>(ask: (run: Run) => Promise<Asked>): Promise<Asked>;
}

export interface Check<Asked> {
  readonly name: string | ((run: Run) => string);
  /** Requests of the key's quota. */
  readonly cost?: number;
  /** A finding in place of the check, if something that it needs is missing. */
  needs?(run: Run): Promise<Finding | undefined>;
  /** Checks with the same function share what it brings. */
  ask(run: Run): Promise<Asked>;
  /** No finding makes no row. */
  judge(asked: Asked, run: Run): Finding | undefined;
}

/** Checks of one area, up to the first whose request fails. */
export interface CheckGroup {
  readonly area: string;
  readonly checks: readonly Check<unknown>[];
}

/** Yields each row as soon as it is known. */
export async function* runChecks(groups: readonly CheckGroup[], run: Run): AsyncGenerator<Row> {
  for (const { area, checks } of groups) {
    try {
      for (const check of checks) {
        const missing = check.needs && (await run.once(check.needs));
        const finding = missing ?? check.judge(await run.once(check.ask), run);
        const name = typeof check.name === 'string' ? check.name : check.name(run);
        if (finding) yield { area, check: name, ...finding };
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
  const asked = new Map<unknown, Promise<unknown>>();
  const run: Run = {
    ...{ ...options, ...gateway, ask, askWithoutWaiting, replies, streams: [] },
    charged: meter(options.key),
    createMeter: meter,
    guestBefore: await meter().read(),
    once<Asked>(how: (run: Run) => Promise<Asked>) {
      const answer = (asked.get(how) as Promise<Asked> | undefined) ?? how(run);
      asked.set(how, answer);
      return answer;
    },
  };
  return run;
}

/** Only what tells a gateway from other servers: whether the list is right is checked later. */
const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Lists the models, which is free and shows, before any quota is spent, that the key is good and the quota sufficient. */
export async function findGateway(ask: Probe, key: string, cost: number): Promise<Gateway> {
  const reply = await ask({ method: 'GET', path: '/v1/models', headers: bearer(key) });
  if (reply.status === 401) {
    throw new CommandError(`the gateway does not accept this key: ${messageIn(reply)}${mistakeIn(key)}`);
  }
  if (reply.status === 503) throw new CommandError(`the gateway is not ready: ${messageIn(reply)}`);
  const location = reply.headers.get('location');
  if (location !== null) throw new CommandError(`there is no gateway: it redirects to ${location}`);
  const fault = reply.status === 200 ? faultInBody(reply, modelList) : `it answered ${quote(reply)}`;
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
    throw new CommandError(tooLittle(figures, cost) + asGuest);
  }
  // Models are always listed. Another free request meets any further obstacle before quota is spent.
  const empty = await ask({
    method: 'POST',
    path: countTokensPath,
    headers: { 'x-api-key': key },
    body: '{}',
  });
  if (empty.status === 503) throw new CommandError(`the gateway is not ready: ${messageIn(empty)}`);
  return { models: [text, visionOf(text)], headerPrefix, figures };
}

const visionOf = (model: string): string => `${model}-vision`;

function tooLittle({ remaining, limit, reset }: Figures, cost: number): string {
  const more = Number.isNaN(reset) ? '' : `; more in ${Math.ceil(reset / 60)} minutes`;
  return `this takes ${cost} requests, and the key has ${remaining} of ${limit} left${more}`;
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
