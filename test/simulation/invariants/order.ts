import { type Fact, isLateIn, type Line } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { Try } from '../upstream.ts';
import { type Invariants, isPeaceful, lostTime } from './invariant.ts';

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
        const longest = 1_000 * Number(plan.settings.REQUEST_TIMEOUT ?? 870) + 10_000 + request.pauses + lostTime(plan);
        if (time > longest) yield `${number} waits for ${time} ms`;
      }
      for (const error of escaped) yield `nobody caught ${error instanceof Error ? error.stack : error}`;
      for (const line of log) if (line.includes('fault past the app')) yield `a fault past the app: ${line}`;
    },
  },

  'nobody waits in silence': {
    sentence:
      'A client of a stream hears something at every interval, and an upstream that is silent for too long is given up.',
    *breaches({ facts, history: { plan } }) {
      if (plan.engine !== 'web') return;
      const interval = 1_000 * Number(plan.settings.KEEP_ALIVE_INTERVAL ?? 15);
      const idle = 1_000 * Number(plan.settings.UPSTREAM_IDLE_TIMEOUT ?? 300);
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

  'nobody is asked in vain': {
    sentence:
      'What is refused reaches no upstream, and one whose client has left is let go of, or read on for a budget.',
    *breaches({ facts, history: { plan } }) {
      for (const fact of facts) {
        const { number, seen, caller, tries, plan: request } = fact;
        if (request.wrong !== 'nothing' && tries.length > 0)
          yield `request ${number} reaches an upstream, though wrong`;
        if (seen.end !== 'left' || request.asks !== 'for an answer' || plan.engine !== 'web') continue;
        if (caller.kind === 'budget') yield* notReadOn(fact, plan);
        else yield* notLetGo(fact, plan);
      }
    },
  },

  'memory comes back': {
    sentence: 'What a request takes of the memory for bodies, it gives back.',
    *breaches({ history: { plan, left } }) {
      if (plan.diesAt < 0 && left.bytes !== 0) yield `${left.bytes} bytes are held`;
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
  const { status, end, refunded, writtenAt } = line;
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

/** Of a client without a budget. */
function* notLetGo({ number, seen: { ended = 0 }, tries }: Fact, plan: Plan): Generator<string> {
  for (const { time, doneAt, closedAt = Number.POSITIVE_INFINITY } of tries) {
    const isKept = time < ended && doneAt === undefined && closedAt > ended + 7_000;
    if (isKept) yield `the upstream of ${number} is kept after its client has left`;
    if (time > ended + 5 * plan.latency + 50)
      yield `an upstream is asked for ${number}, which left ${time - ended} ms before`;
  }
}

function* notReadOn({ number, seen, tries }: Fact, plan: Plan): Generator<string> {
  const { ended = 0 } = seen;
  const isCut = ({ time, turn, answer, sent, closedAt = 0 }: Try) => {
    const isSound = turn.status === 200 && turn.says === 'an answer' && turn.stopsAfter < 0 && !answer.isRecorded;
    return isSound && time < ended && sent < answer.pieces.length && closedAt >= ended && closedAt < ended + 500;
  };
  if (isPeaceful(plan) && !isLateIn(plan, seen) && tries.some(isCut)) {
    yield `the answer to ${number} is not read on for its budget`;
  }
}
