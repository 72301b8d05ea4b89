import { type Fact, isLateIn } from '../facts.ts';
import { isPriced, isRecorded, type Plan } from '../plan.ts';
import type { Try } from '../upstream.ts';
import { type Invariants, isPeaceful } from './invariant.ts';

/** Which upstreams are asked. */
export const asking: Invariants = {
  'no answer is missed': {
    sentence:
      'Nobody is refused while another key or upstream could have answered, and none is asked again once it has begun.',
    *breaches({ facts, history: { plan } }) {
      for (const fact of facts) {
        const { number, seen, tries } = fact;
        const isAgain = (one: Try, at: number) => hasBegun(one, fact) && tries[at + 1]?.upstream === one.upstream;
        if (!plan.settings.UPSTREAM_FIRST_EVENT_TIMEOUT && tries.some(isAgain)) {
          yield `request ${number} is sent again although its answer had begun`;
        }
        if (!isPeaceful(plan) || seen.end === 'left' || isLateIn(plan, seen)) continue;
        if (isNobodyAsked(fact, plan)) yield `nobody is asked for ${number}, although one can be reached`;
        if (plan.outages.length > 0 || !(movesOn(fact) || isLate(fact, plan))) continue;
        const asked = new Set(tries.map(({ upstream }) => upstream)).size;
        if (asked < plan.upstreams) yield `only ${asked} upstreams are asked for ${number}`;
        const keys = new Set(tries.map(({ head }) => head.headers.authorization)).size;
        const isOfKeys = tries.every(({ turn }) => [401, 402, 429].includes(turn.status));
        if (isOfKeys && keys < plan.keys) yield `only ${keys} keys are tried for ${number}`;
      }
    },
  },

  'nobody is asked in vain': {
    sentence:
      'What is refused reaches no upstream, what one refuses for good no other, and who has left is let go of, or read on for a budget.',
    *breaches({ facts, history: { plan } }) {
      for (const fact of facts) {
        const { number, seen, caller, tries, plan: request } = fact;
        if (request.wrong !== 'nothing' && tries.length > 0)
          yield `request ${number} reaches an upstream, though wrong`;
        for (const one of askedInVain(fact, plan)) yield `${number} is asked again after a ${one.turn.status}`;
        if (seen.end !== 'left' || !isPriced(request) || plan.engine !== 'web') continue;
        if (caller.kind === 'budget') yield* notReadOn(fact, plan);
        else yield* notLetGo(fact, plan);
      }
    },
  },
};

/** Whether bytes of an answer had come, other than a whole head that says that there is none. */
const hasBegun = ({ turn, sent, sending, hasHead }: Try, { plan }: Fact): boolean =>
  sending.length > 0 && (!hasHead || (turn.status === 200 && sent > turn.comments && plan.stream));

/** Whether one upstream could not be reached, and that was all. A stream's idle time may end before that of connecting. */
function isNobodyAsked(
  { tries, seen, understood }: Fact,
  { upstreams, outages, storeFaults, settings }: Plan,
): boolean {
  const isFailed = seen.status === 502 || seen.status === 504 || (seen.status === 200 && understood?.end === 'error');
  const isAlone = upstreams > 1 && outages.length === 1 && storeFaults.length === 0;
  const isPatient = outages[0]?.how === 'refused' || settings.UPSTREAM_IDLE_TIMEOUT === undefined;
  return isAlone && isPatient && tries.length === 0 && isFailed;
}

/** Whether the last upstream did not begin in time, and was given up for that. */
function isLate({ plan, tries, seen: { ended = 0 } }: Fact, { settings }: Plan): boolean {
  const last = tries.at(-1);
  const isLimited =
    plan.stream && settings.UPSTREAM_FIRST_EVENT_TIMEOUT !== undefined && settings.UPSTREAM_IDLE_TIMEOUT !== '1';
  return isLimited && last !== undefined && last.turn.thinks > 1_500 && ended - last.time < 1_500;
}

/** Whether the last upstream answered in a way that another one should have been asked. */
function movesOn({ seen, tries, understood }: Fact): boolean {
  const { turn } = tries.at(-1) ?? {};
  const wasSilent = seen.status === 504 || /in time|stopped coming/.test(understood?.errorMessage ?? '');
  return (
    turn !== undefined && turn.stopsAfter < 0 && !wasSilent && [401, 402, 429, 500, 502, 503, 529].includes(turn.status)
  );
}

/** The tries after which there should have been none, or none at the same upstream, or only one more. */
function askedInVain({ tries, plan }: Fact, { settings }: Plan): Try[] {
  // A refusal that takes its time is late for a first event.
  if (isRecorded(plan) || (plan.stream && settings.UPSTREAM_FIRST_EVENT_TIMEOUT)) return [];
  const refusals = tries.filter(({ turn }) => turn.status === 403);
  return tries.slice(0, -1).filter((one, at) => {
    const { turn, hasHead, upstream } = one;
    if (!hasHead || turn.stopsAfter >= 0) return false;
    if (turn.status >= 500) return tries[at + 1]?.upstream === upstream;
    return [400, 404, 408, 413, 422].includes(turn.status) || one === refusals[1];
  });
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
    const isEarly = closedAt < ended + 500 && !isLateIn(plan, { ...seen, ended: closedAt + 50 });
    return isSound && time < ended && sent < answer.pieces.length && closedAt >= ended && isEarly;
  };
  if (isPeaceful(plan) && tries.some(isCut)) {
    yield `the answer to ${number} is not read on for its budget`;
  }
}
