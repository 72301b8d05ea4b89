import { type Fact, isForeign, isHeadLate, isLateIn } from '../facts.ts';
import { isPriced, isRecorded } from '../plan.ts';
import { readStream } from '../read-answer.ts';
import { joined, withoutNames } from '../speech.ts';
import type { Try } from '../upstream.ts';
import type { History } from '../world.ts';
import { type Invariants, isCalm, isPeaceful, lostTime } from './invariant.ts';

/** What clients get. */
export const answers: Invariants = {
  'a legal stream': {
    sentence: 'A stream is a legal one of its dialect, and ends by its end or by an error event.',
    *breaches({ facts, history }) {
      for (const { number, understood, tries, plan, text, seen } of facts) {
        if (understood?.end === 'open') yield `the answer to ${number} has no end`;
        const last = tries.at(-1);
        // Recorded streams show what upstreams do, which is not always legal.
        if (!understood || !last || last.answer.isRecorded) continue;
        for (const fault of understood.faults) yield `the answer to ${number} ${fault}`;
        if (understood.end === 'whole' && last.completeAt === undefined) {
          yield `the answer to ${number} is taken for whole, which it was not`;
        }
        // Vectors end with their connection's message, not before.
        const isToldEnd = plan.stream || (last.doneAt !== undefined && last.failedAt === undefined);
        const isBetween =
          isToldEnd &&
          understood.end === 'error' &&
          last.completeAt !== undefined &&
          last.turn.says === 'an answer' &&
          plan.pausesAt < 0 &&
          !isHeadLate(seen, history.plan, last);
        if (isBetween && isPeaceful(history.plan) && !isLateIn(history.plan, seen))
          yield `the end of ${number} is told as a failure`;
        if (!isRecorded(plan) && isUsageUnasked(plan, text))
          yield `the answer to ${number} has a usage that nobody asked for`;
      }
    },
  },

  'the same words': {
    sentence: 'What a client reads is what the upstream said, from its beginning, with the names hidden.',
    *breaches({ facts, history }) {
      for (const fact of facts) {
        const last = fact.tries.at(-1);
        if (!fact.understood || !last || last.answer.isRecorded) continue;
        for (const [place, text] of fact.understood.texts) yield* otherWords(place, text, last, fact, history);
        if (breaksOff(last, fact, history)) yield* lostWords(last, fact);
      }
    },
  },

  'the status that is due': {
    sentence: 'The status is the one that the promises name for what the upstream or the client did.',
    *breaches({ facts, history }) {
      for (const fact of facts) {
        const { number, seen, tries, plan } = fact;
        const { status, end } = seen;
        if (status === undefined || end === 'left' || !isPriced(plan)) continue;
        if (plan.wrong !== 'nothing' && status < 400) yield `${number} is answered in spite of its ${plan.wrong}`;
        // A dialect with one answer can't give two.
        const isPossible = plan.choices === 1 || history.plan.speaks !== 'messages';
        const isSound = plan.wrong === 'nothing' && !isRecorded(plan) && isPossible;
        if (isSound && tries.length === 0 && [400, 404, 405, 413, 415, 422].includes(status))
          yield `${number} is refused by a ${status}, though nothing is wrong with it`;
        const last = tries.at(-1);
        if (!last) yield* withoutUpstream(history, number, seen);
        // It may have been silent for too long before.
        if (!last || !isPeaceful(history.plan) || isLateIn(history.plan, seen) || (plan.stream && status === 504))
          continue;
        const isTranslated = last.dialect === 'chat' && plan.dialect !== 'chat';
        if (last.turn.says === 'one choice more' && isTranslated && !plan.stream && status === 200) {
          yield `${number} is given one of two choices`;
        }
        if (last.turn.stopsAfter >= 0 || last.turn.framing === 'too long' || history.plan.outages.length > 0) continue;
        // A reference to what is not there is the caller's.
        const isReference = last.turn.status === 404 && isRecorded(plan);
        const due = isReference || isForeign(fact) ? undefined : statusFor(last.turn.status);
        if (due !== undefined && status !== due && status !== 200)
          yield `${number} is answered ${status}, due is ${due}`;
      }
    },
  },

  'nobody is taken for another': {
    sentence: 'Who shows no key, or an unknown one, gets no answer.',
    *breaches({ facts }) {
      for (const { number, seen, caller } of facts) {
        const isKnown = caller.kind !== 'unknown key' && caller.kind !== 'no key';
        if (!isKnown && seen.status !== undefined && seen.status < 400)
          yield `${number} is answered, with ${caller.kind}`;
      }
    },
  },
};

const isUsageUnasked = ({ dialect, stream, wantsUsage }: Fact['plan'], text: string): boolean =>
  dialect === 'chat' && stream && !wantsUsage && /"choices":\[\]/.test(text);

/** A text of an answer that the upstream did not say. */
function* otherWords(
  place: string,
  text: string,
  last: Try,
  { number, understood, plan }: Fact,
  history: History,
): Generator<string> {
  const [kind = '', choice] = place.split(' ');
  // A choice more than was asked for passes.
  if (choice === '7') return;
  const parts = last.spoken.parts.filter((part) => part.kind === kind && (part.choice ?? 0) === Number(choice));
  const isSigned = history.plan.signs && plan.dialect === 'messages' && last.dialect === 'messages';
  const read = kind === 'call' || (kind === 'reasoning' && isSigned) ? (whole: string) => whole : withoutNames;
  const pieces = parts.flatMap((part) => part.pieces);
  if (isBeginning(text, pieces, read, understood?.end === 'whole')) return;
  yield `the ${kind} of ${number} is ${JSON.stringify(text)}, due is ${JSON.stringify(read(joined(last.spoken, kind, Number(choice))))}`;
}

/** What comes early to its end may end with what would have become a name, so each piece counts as an end. */
function isBeginning(
  text: string,
  pieces: readonly string[],
  read: (text: string) => string,
  isWhole: boolean,
): boolean {
  const whole = read(pieces.join(''));
  if (isWhole) return text === whole;
  return whole.startsWith(text) || pieces.some((_, at) => read(pieces.slice(0, at + 1).join('')).startsWith(text));
}

/** Whether a stream in the client's own dialect breaks off behind a whole event. */
function breaksOff(
  { turn, doneAt, dialect, sent, answer }: Try,
  { plan, seen }: Fact,
  { plan: world }: History,
): boolean {
  const isPlain = turn.status === 200 && turn.stops === 'end' && turn.pieces === 'events' && turn.framing === 'chunked';
  const isCut = isPlain && doneAt !== undefined && sent < answer.pieces.length;
  return (
    isCut && plan.stream && dialect === plan.dialect && plan.pausesAt < 0 && isPeaceful(world) && !isLateIn(world, seen)
  );
}

/** What had come of such a stream, and was kept from the client. */
function* lostWords({ answer, sent }: Try, { number, understood, plan }: Fact): Generator<string> {
  const arrived = Buffer.concat(answer.pieces.slice(0, sent)).toString();
  for (const [place, text] of readStream(arrived, plan).texts) {
    if (!place.startsWith('text') || understood?.texts.get(place) === withoutNames(text)) continue;
    if (text !== '') yield `of ${number} has come ${JSON.stringify(text)}, which its client does not get`;
  }
}

function* withoutUpstream({ plan }: History, number: number, seen: Fact['seen']): Generator<string> {
  if (seen.status !== 502 && seen.status !== 504) return;
  if (isCalm(plan) && !isLateIn(plan, seen))
    yield `${number} is answered ${seen.status}, although no upstream was asked`;
  if (seen.status === 504 && (seen.ended ?? 0) - seen.begun > 20_000 + lostTime(plan))
    yield `${number} waits for a connection`;
}

/** For a status of the upstream. */
function statusFor(status: number): number | undefined {
  if (status === 200) return undefined;
  if (status >= 500) return status;
  return { 401: 502, 402: 502, 403: 502, 404: 502, 408: 504, 429: 503 }[status] ?? status;
}
