import { itemOf } from './callers.ts';
import type { Seen } from './client.ts';
import { type CallerPlan, callersOf, isPriced, isRecorded, type RequestPlan, requestsOf } from './plan.ts';
import { readStream, readWhole, type Understood } from './read-answer.ts';
import type { Try } from './upstream.ts';
import type { History } from './world.ts';

export type Line = Readonly<Record<string, unknown>>;

/** All that is known of one request, from every side. */
export interface Fact {
  readonly number: number;
  readonly plan: RequestPlan;
  readonly caller: CallerPlan;
  readonly seen: Seen;
  readonly text: string;
  /** Absent unless it is an answer. */
  readonly understood?: Understood;
  readonly tries: readonly Try[];
  /** The lines of the log that name it. */
  readonly lines: readonly Line[];
  readonly charge: Charge;
}

/** What section 5 of the promises says of it; `either` where two things happened too close to each other to tell. */
type Charge = 'charged' | 'free' | 'either';

export function factsOf(history: History): Fact[] {
  const { plan, seen, tries } = history;
  const callers = callersOf(plan);
  const lines = history.log.flatMap((line, at): Line[] =>
    line.startsWith('{') ? [{ ...JSON.parse(line), writtenAt: history.logTimes[at] }] : [],
  );
  return requestsOf(plan).map((request, number) => {
    const view = seen[number] as Seen;
    const text = Buffer.concat(view.body).toString();
    const isAnswer = view.status === 200 && isPriced(request);
    const read = request.stream ? readStream : readWhole;
    const part = {
      ...{ number, plan: request, text, seen: view },
      caller: (callers[request.caller] ?? callers[0]) as CallerPlan,
      tries: tries.filter((one) => one.request === number),
      lines: lines.filter(({ requestId }) => requestId !== undefined && requestId === view.headers['x-request-id']),
      ...(isAnswer && view.end === 'whole' && { understood: read(text, request) }),
    };
    return { ...part, charge: chargeOf(part, history, lines) };
  });
}

const isStanding = ({ message }: Line) => message === 'charge left standing';

function chargeOf(fact: Omit<Fact, 'charge'>, { plan: world, stops }: History, lines: readonly Line[]): Charge {
  const { plan, seen, tries, understood } = fact;
  const { status = 0, end } = seen;
  if (!isPriced(plan) || end === 'not connected') return 'free';
  // The log owns up to charges that nobody should pay.
  if (fact.lines.some(isStanding) || (status === 0 && lines.some(isStanding))) return 'either';
  if (end === 'cut') return 'either';
  const last = tries.at(-1);
  if (end === 'left' && (status === 0 || status === 200)) {
    // What it left upon may have been the error.
    if (isLateIn(world, seen) || (plan.stream && readStream(fact.text, plan).end === 'error')) return 'either';
    const failed = last?.failedAt ?? Number.POSITIVE_INFINITY;
    const isTorn = world.outages.length + world.storeFaults.length + stops.length > 1 || world.stopsAt >= 0;
    const asked = last !== undefined && last.time < (seen.ended ?? 0);
    const isSound = last?.turn.status === 200 && last.turn.says === 'an answer' && !last.answer.isRecorded;
    const isCertain = asked && isSound && failed > (seen.ended ?? 0);
    return isCertain && !isTorn ? 'charged' : 'either';
  }
  if (status === 200) {
    if (understood?.end === 'whole') return 'charged';
    if (understood?.end !== 'error') return 'either';
    // Reading slowly buys no refund, and neither does a long answer.
    if (isHeldBack(plan, seen, last)) return 'charged';
    if (isCutByDeadline(fact, world, last)) return 'charged';
    if (seen.pausedAt !== undefined || isLateIn(world, seen) || isHeadLate(seen, world, last)) return 'either';
    // What it refers to may be missing by its own mistake.
    if (last?.turn.status === 404 && isRecorded(plan)) return 'either';
    if (isForeign(fact)) return 'either';
    if (!last?.hasHead || !isCallersFault(last.turn.status)) return 'free';
    // Its first event was due by then.
    const endsLater = last.turn.framing === 'end' || last.turn.stopsAfter >= 0;
    const until = last.doneAt ?? (endsLater ? Number.POSITIVE_INFINITY : last.lastSentAt + last.turn.gap);
    if (until > last.time + idleIn(world) - 100) return 'either';
    return last.sent === last.answer.pieces.length && world.stopsAt < 0 ? 'charged' : 'either';
  }
  // What takes too long to rewrite stays charged, unless it was the request.
  if (status >= 500 && world.threads !== 'works' && tries.length > 0) return 'either';
  if (status >= 500 || [401, 403, 404, 405, 413, 415, 426, 429].includes(status)) {
    const isUpstreams = last?.hasHead && last.turn.status === status && status < 500;
    return isUpstreams ? 'charged' : 'free';
  }
  if (tries.length === 0 && world.settings.REFUND_REFUSALS === 'true') return 'free';
  // One that continues a thread is refused for nothing.
  if (tries.length === 0 && isRecorded(plan)) return 'either';
  return 'charged';
}

/** How long an upstream's stream may be silent, in milliseconds. */
export const idleIn = ({ settings }: History['plan']): number => 1000 * Number(settings.UPSTREAM_IDLE_TIMEOUT ?? 300);

/** Whether a stream that had begun, and still ran, took longer than a request may. */
function isCutByDeadline({ seen, understood }: Omit<Fact, 'charge'>, world: History['plan'], last?: Try): boolean {
  const { ended = 0, pausedAt } = seen;
  const isRunning = last?.doneAt === undefined && last?.failedAt === undefined && pausedAt === undefined;
  const hasBegun =
    last?.turn.says === 'an answer' && [...(understood?.texts.values() ?? [])].some((text) => text !== '');
  const isCalm = world.storeFaults.length === 0 && world.stopsAt < 0 && world.outages.length === 0;
  return (
    isCalm && isRunning && hasBegun && isLateIn(world, seen) && (last?.lastSentAt ?? 0) > ended - idleIn(world) + 500
  );
}

/** What an upstream refuses because of what the client sent. */
const isCallersFault = (status: number) => [400, 413, 422].includes(status);

/** Whether the store, asked again after midnight, had the head wait: then the answer is held back as by a client that does not read. */
export const isHeadLate = ({ answeredAt = 0 }: Seen, { storeFaults, latency }: History['plan'], last?: Try): boolean =>
  storeFaults.length > 0 && answeredAt > (last?.sending[0]?.time ?? Number.POSITIVE_INFINITY) + 4 * latency + 100;

/** Whether it may hold what only another key can read: if that is refused, its own key's failure is the one to tell. */
export const isForeign = ({ plan, tries }: Pick<Fact, 'plan' | 'tries'>): boolean =>
  isRecorded(plan) && tries.length > 1 && [400, 422].includes(tries.at(-1)?.turn.status ?? 0);

/** More than all buffers between an upstream and a client that does not read hold together, beside one event. */
const allBuffers = 260_000;

/** Whether the upstream broke off while its client, who does not read, had it wait for long. */
function isHeldBack(
  { pauses }: RequestPlan,
  { pausedAt = Number.POSITIVE_INFINITY, bytesBefore = 0 }: Seen,
  last: Try | undefined,
): boolean {
  const { sending = [], failedAt = 0, turn, answer } = last ?? {};
  // That it is silent shows when its client reads on.
  const breaksOff = turn?.status === 200 && turn.stopsAfter >= 0 && turn.stops !== 'silence';
  const isMidway = breaksOff && failedAt > pausedAt + 300 && failedAt < pausedAt + pauses - 100;
  const sent = sending.findLast(({ time }) => time < failedAt - 200)?.bytes ?? 0;
  const atOnce = sending.map(({ bytes }, at) => bytes - (sending[at - 1]?.bytes ?? 0));
  const longest = Math.max(0, ...(answer?.pieces ?? []).map(({ length }) => length), ...atOnce);
  return isMidway && sent > bytesBefore + allBuffers + longest;
}

/** How long a request may take, in milliseconds. */
export const timeIn = ({ settings }: History['plan']): number => 1_000 * Number(settings.REQUEST_TIMEOUT ?? 870);

/** Whether its time was up. */
export const isLateIn = (plan: History['plan'], seen: Seen): boolean => (seen.ended ?? 0) - seen.begun >= timeIn(plan);

/** What a caller's counter says. */
export interface Account {
  readonly item: string;
  readonly facts: readonly Fact[];
  readonly caller: CallerPlan;
  /** What was counted before. */
  readonly before: number;
}

export function accountsOf(history: History, facts: readonly Fact[]): Account[] {
  const counted = facts.filter(({ caller: { kind } }) => kind !== 'unknown key' && kind !== 'no key');
  const groups = Map.groupBy(counted, ({ caller }) => itemOf(caller));
  return [...groups].flatMap(([item, group]) => {
    const caller = group[0]?.caller;
    return caller ? [{ item, facts: group, caller, before: sumOf(history.store.initial, item, /^u/) }] : [];
  });
}

/** What all attributes of an item add up to whose names match. */
export const sumIn = ({ store }: History, item: string, pattern: RegExp): number =>
  sumOf(store.counters, item, pattern);

/** The largest of them. */
export const mostIn = ({ store }: History, item: string, pattern: RegExp): number =>
  Math.max(0, ...numbersIn(store.counters, item, pattern));

const sumOf = (...given: Parameters<typeof numbersIn>): number =>
  numbersIn(...given).reduce((sum, number) => sum + number, 0);

function numbersIn(counters: History['store']['counters'], item: string, pattern: RegExp): number[] {
  const found = counters.get(item) ?? {};
  return Object.entries(found).flatMap(([name, { N = 0 }]) => (pattern.test(name) ? [Number(N)] : []));
}
