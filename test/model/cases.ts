import { type DialectName, dialectNames } from '../support/fixtures.ts';
import type { Random } from '../support/random.ts';
import { wire } from '../support/wire.ts';
import type { Sending } from './client.ts';
import { type Outcome, type Outcomes, outcomesOf } from './outcomes.ts';
import type { Caller } from './rules.ts';

/** How a request counts: charged, counted under the burst limit alone, or free. */
type Kind = 'inference' | 'tokens' | 'free';

/** The response if the caller is known and has quota, and no upstream is involved. */
interface Fixed {
  readonly status: number;
  readonly code?: string;
  /** Whether it needs no key, so that the quota headers are those of the network's guest. */
  readonly open?: boolean;
}

/** One request, drawn completely in advance. */
export interface Case {
  readonly id: number;
  readonly caller: Caller;
  readonly kind: Kind;
  readonly sending: Sending;
  /** Absent if the response depends on the upstream. */
  readonly fixed?: Fixed;
  /** What each upstream does if it gets the request. */
  readonly plan: readonly Planned[];
  /** The output limit that a budget reserves for, if the body has one. */
  readonly outputLimit?: number | undefined;
}

interface Planned extends Outcome {
  readonly name: string;
}

const free: readonly (Fixed & { readonly method: string; readonly path: string })[] = [
  { method: 'GET', path: '/v1/models', status: 200 },
  { method: 'GET', path: '/v1/models/svc-vision', status: 200 },
  { method: 'GET', path: '/v1/usage', status: 200 },
  { method: 'GET', path: '/v1/models/constructor', status: 404, code: 'model_not_found' },
  { method: 'POST', path: '/v1/__proto__', status: 404, code: 'not_found', open: true },
  { method: 'PUT', path: '/v1/messages', status: 405, code: 'method_not_allowed', open: true },
];

const badBodies: readonly (Fixed & { readonly body: string })[] = [
  { body: 'no JSON', status: 400, code: 'invalid_request' },
  { body: '[]', status: 400, code: 'invalid_request' },
  { body: '{"messages":[]}', status: 400, code: 'invalid_request' },
  { body: '{"model":"constructor","messages":[],"input":""}', status: 400, code: 'invalid_model' },
];

const limitNames = {
  chat: ['max_tokens', 'max_completion_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
};
/** Values that limit no answer, although an upstream may treat them as limits. */
const noLimits = [-1, 0, 0.5, '5', null];

/** Upstreams recognize a request by this member, which is passed through like all others. */
export const caseIn = (body: Buffer): number => Number(/"user":"case (\d+)"/.exec(body.toString())?.[1]);

/** The names of outcomes without a failure. */
const plain = /^(answered|streamed|counted)$/;

export function drawCase(id: number, caller: Caller, random: Random): Case {
  const headers = caller.shows === undefined ? {} : credentialHeader(caller.shows, random);
  const base = { id, caller, plan: [] };
  const dice = random.below(100);
  if (dice < 8) {
    const { method, path, ...fixed } = random.pick(free);
    return { ...base, kind: 'free', fixed, sending: { method, path, headers, from: caller.address } };
  }
  const isTokens = dice < 14;
  const kind = isTokens ? 'tokens' : 'inference';
  const dialect = isTokens ? 'messages' : random.pick(dialectNames);
  const path = isTokens ? '/v1/messages/count_tokens' : wire[dialect].path;
  const sending = { method: 'POST', path, headers, from: caller.address };
  if (random.once(12)) {
    const { body, ...fixed } = random.pick(badBodies);
    return { ...base, kind, fixed, sending: { ...sending, body } };
  }
  const stream = !isTokens && random.once(2);
  const { members, outputLimit } = drawLimit(dialect, random);
  const body = JSON.stringify({ ...wire[dialect].question, ...members, stream, user: `case ${id}` });
  const outcomes = outcomesOf(dialect, isTokens ? 'tokens' : stream ? 'stream' : 'whole');
  const plan = [drawOutcome(outcomes, random), drawOutcome(outcomes, random)];
  return { ...base, kind, sending: { ...sending, body }, plan, outputLimit };
}

function drawLimit(dialect: DialectName, random: Random) {
  const name = random.pick(limitNames[dialect]);
  if (random.once(3)) return { members: { [name]: random.pick(noLimits) }, outputLimit: undefined };
  const outputLimit = 1 + random.below(100);
  return { members: { [name]: outputLimit }, outputLimit };
}

function drawOutcome(outcomes: Outcomes, random: Random): Planned {
  const all = Object.entries(outcomes);
  const [name, outcome] = random.pick(random.once(4) ? all.filter(([name]) => plain.test(name)) : all);
  return { name, ...outcome };
}

function credentialHeader(text: string, random: Random): Record<string, string> {
  const name = random.pick(['x-api-key', 'api-key', 'authorization']);
  if (name !== 'authorization') return { [name]: text };
  return { authorization: `${random.pick(['Bearer', 'bearer'])} ${text}` };
}
