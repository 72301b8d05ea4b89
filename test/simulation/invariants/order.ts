import { type Fact, idleIn, isLateIn, type Line, timeIn } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { Try } from '../upstream.ts';
import type { History } from '../world.ts';
import { type Invariants, isCalm, isPeaceful, lostTime } from './invariant.ts';

/** That everything comes to its end, and is told of. */
export const order: Invariants = {
  'one line a request': {
    sentence: 'A request has one line in the log, in time, with the outcome that its client saw.',
    *breaches({ facts, history: { plan } }) {
      for (const fact of facts) {
        const [line, ...more] = fact.lines.filter(({ message }) => message === 'answered' || message === 'refused');
        if (fact.seen.status === undefined || (plan.diesAt >= 0 && !line)) continue;
        if (!line || more.length > 0) yield `request ${fact.number} has ${line ? 1 + more.length : 'no'} lines`;
        else yield* untrueLine(line, fact, plan);
      }
    },
  },

  'everybody is answered': {
    sentence: 'Whoever stays is answered in time, by no fault of the gateway.',
    *breaches({ facts, history: { plan, escaped, log } }) {
      for (const { number, seen, plan: request } of facts) {
        if (isPeaceful(plan) && seen.end === 'cut') yield `the answer to ${number} breaks off`;
        if (isPeaceful(plan) && seen.end === 'not connected') yield `client ${number} finds nobody`;
        if (seen.headers['x-svc-error'] === 'internal_error') yield `${number} is answered internal_error`;
        const time = (seen.ended ?? 0) - seen.begun;
        const longest = timeIn(plan) + 10_000 + request.pauses + lostTime(plan);
        if (time > longest) yield `${number} waits for ${time} ms`;
      }
      for (const error of escaped) yield `nobody caught ${error instanceof Error ? error.stack : error}`;
      for (const line of log) if (line.includes('fault past the app')) yield `a fault past the app: ${line}`;
    },
  },

  'nobody waits in silence': {
    sentence:
      'A client of a stream hears something at every interval, and an upstream is given up that is silent for too long, and no other before a grace is over.',
    *breaches({ facts, history }) {
      const { plan } = history;
      for (const fact of facts) {
        if (fact.tries.some((one) => isGivenUpEarly(one, fact, history)))
          yield `an upstream of ${fact.number} is given up that was not silent for long`;
      }
      if (plan.engine !== 'web') return;
      const interval = 1_000 * Number(plan.settings.KEEP_ALIVE_INTERVAL ?? 15);
      const idle = idleIn(plan);
      for (const { number, seen, plan: request, tries } of facts) {
        const isHeard =
          request.stream && request.asks === 'for an answer' && seen.end === 'whole' && request.pausesAt < 0;
        if (!isHeard) continue;
        if (seen.status === 200 && seen.silence > interval + patience + lostTime(plan))
          yield `client ${number} hears nothing for long`;
        const since = (seen.ended ?? 0) - Math.max(seen.begun, ...tries.map(({ lastSentAt }) => lastSentAt));
        if (since > idle + patience + lostTime(plan))
          yield `client ${number} waits for ${since} ms after its upstream's last word`;
      }
    },
  },

  'memory comes back': {
    sentence: 'What a request takes of the memory for bodies, it gives back.',
    *breaches({ history: { plan, left } }) {
      // A process that must end doesn't wait for a thread that hangs.
      const isTorn = plan.diesAt >= 0 || (plan.threads === 'hangs' && plan.stopsAt >= 0);
      if (!isTorn && left.bytes !== 0) yield `${left.bytes} bytes are held`;
    },
  },

  'nothing is left': {
    sentence: 'When all is over no timer, no promise and no listener is left, and the process can stop, in time.',
    *breaches({ history: { plan, left, stops } }) {
      for (const what of left.unfinished) yield `${what} waits for ever`;
      for (const { delay } of left.timers) yield `a timer of ${delay} ms is left`;
      for (const count of left.listeners) if (count > mostListeners) yield `an idle connection has ${count} listeners`;
      for (const { told, over = Number.POSITIVE_INFINITY } of stops) {
        if (over - told > plan.grace + lastWords) yield `the process ends after ${over - told} ms`;
      }
    },
  },
};

/** What connecting, and a store that is slow, may take. */
const patience = 9_000;
/** What a process may take to end answers and to give up their refunds, after the grace. */
const lastWords = 700;
/** Node's own, and those that close a connection on which something comes unasked. */
const mostListeners = 9;

function* untrueLine(line: Line, { number, seen, understood, charge, lines }: Fact, plan: Plan): Generator<string> {
  const { status, end, refunded, writtenAt, duration } = line;
  const longest = timeIn(plan) + patience + lostTime(plan);
  if (Number(duration) > longest) yield `request ${number} is logged with ${duration} ms`;
  if (plan.engine === 'function' && Number(writtenAt) > (seen.ended ?? 0)) {
    yield `the line of ${number} comes after its environment is frozen`;
  }
  const hasLeft = status === 499 && seen.end === 'left';
  if (status !== seen.status && !hasLeft) yield `request ${number} is logged with ${status}`;
  if (understood && end !== (understood.end === 'whole' ? 'complete' : 'failed')) {
    yield `request ${number} is logged as ${end}, its client saw ${understood.end}`;
  }
  if (refunded === true && charge === 'charged') yield `request ${number} is logged as refunded, and is charged`;
  const isOwnedUp = lines.some(
    ({ message, operation }) => message === 'charge left standing' && operation === 'refund',
  );
  if (refunded === true && isOwnedUp) yield `request ${number} is logged as refunded, and as not`;
  const isFree = charge === 'free' && (seen.status ?? 0) >= 500 && plan.storeFaults.length === 0;
  if (refunded === false && isFree) yield `request ${number} is logged as not refunded, and is free`;
}

/** Whether the gateway has cut a sound answer before its time. */
function isGivenUpEarly(one: Try, { plan, seen, tries }: Fact, { plan: world, stops }: History): boolean {
  const { turn, answer, completeAt, failedAt, doneAt, closedAt, time, sending, lastSentAt } = one;
  const { settings, threads, stopsAt } = world;
  // Half a head, or half of a chunk's length, is no sign of life.
  const isWhole = turn.pieces === 'events' || turn.pieces === 'joined';
  const isAnswer = turn.status === 200 && turn.says === 'an answer' && !answer.isRecorded;
  const isSound = isWhole && isAnswer && completeAt === undefined && failedAt === undefined;
  const isCut = isSound && closedAt !== undefined && doneAt === undefined;
  const isStill = seen.end === 'whole' && seen.pausedAt === undefined && threads === 'works';
  if (!isCut || !isStill || isLateIn(world, seen) || !isCalm({ ...world, stopsAt: -1 })) return false;
  const graceEnds = stopsAt < 0 ? Number.POSITIVE_INFINITY : (stops[0]?.told ?? 0) + world.grace;
  const mayMoveOn = plan.stream && one !== tries.at(-1);
  const longest = Math.min(
    plan.stream ? idleIn(world) : Number.POSITIVE_INFINITY,
    mayMoveOn ? 1_000 * Number(settings.UPSTREAM_FIRST_EVENT_TIMEOUT ?? 900) : Number.POSITIVE_INFINITY,
  );
  // A connection that ends without a byte is tried again in the time of the first.
  const begun = tries.find(({ sending, upstream }) => sending.length === 0 && upstream === one.upstream)?.time ?? time;
  const since = mayMoveOn || sending.length === 0 ? Math.min(begun, time) : lastSentAt;
  return closedAt - since < longest - 400 && closedAt < graceEnds - 50;
}
