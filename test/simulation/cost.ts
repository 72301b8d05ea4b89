import { type Fact, isLateIn } from './facts.ts';
import { isCalm } from './invariants/invariant.ts';
import { isRecorded, type Plan } from './plan.ts';
import { bodyOf } from './request.ts';
import { prices } from './settings.ts';
import type { Try } from './upstream.ts';

/** In micros. */
interface Cost {
  readonly least: number;
  readonly most: number;
}

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const exactly = (cost: number): Cost => ({ least: cost, most: cost });
const upTo = (most: number): Cost => ({ least: 0, most });

const roundedUp = (micros: number) => Math.ceil(Number(micros.toFixed(9)));
const priceOf = (input: number, output: number) => roundedUp(input * prices.input + output * prices.output);
const tokensIn = (text: string) => Math.ceil(Buffer.byteLength(text) / 3);

const inputOf = ({ plan, number }: Fact): number => tokensIn(bodyOf(plan, number));

/** What is set aside for a request until its cost is known; recorded ones have limits of their own. */
export function reservedFor(fact: Fact): number {
  const { plan } = fact;
  if (isRecorded(plan)) return Number.POSITIVE_INFINITY;
  if (plan.asks === 'for vectors') return priceOf(inputOf(fact), 0);
  return priceOf(inputOf(fact), 0) + priceOf(0, plan.outputLimit * plan.choices);
}

/** What a request may have cost. */
export function costOf(fact: Fact, world: Plan): Cost {
  const { charge, plan, tries } = fact;
  const last = tries.at(-1);
  if (charge === 'free') return exactly(0);
  const [inputTokens, reserved] = [inputOf(fact), reservedFor(fact)];
  if (last?.turn.status !== 200) return upTo(charge === 'either' ? reserved : 0);
  if (last.answer.isRecorded || isRecorded(plan)) return upTo(Number.POSITIVE_INFINITY);
  const { input, output } = last.spoken.usage;
  const reported = priceOf(input, output);
  const written = plan.asks === 'for vectors' ? '' : last.spoken.parts.flatMap(({ pieces }) => pieces).join('');
  if (isRead(fact, last, world)) {
    if (isReported(last, plan)) return exactly(reported);
    if (isEstimated(last, fact)) return exactly(priceOf(inputTokens, tokensIn(written)));
  }
  // All of an answer counts as text if it could not be rewritten.
  const longest = world.threads === 'works' ? written : Buffer.concat(last.answer.pieces).toString();
  const choices = last.turn.says === 'one choice more' ? 2 : 1;
  const most = priceOf(0, choices * tokensIn(longest) + 2) + reserved + reported;
  return { least: charge === 'charged' ? 1 : 0, most };
}

/** Whether all of an answer was certainly read, also what follows its end. */
function isRead(
  { charge, understood, seen, caller }: Fact,
  { sent, answer, doneAt, failedAt }: Try,
  world: Plan,
): boolean {
  // For a budget it is read on when its client has left.
  const isLeft = seen.end === 'left' && caller.kind === 'budget';
  const isSound = world.threads === 'works' && failedAt === undefined && isCalm(world);
  const isReadOn = isLeft && isSound && doneAt !== undefined && !isLateIn(world, { ...seen, ended: doneAt + 100 });
  const isWhole = charge === 'charged' && (understood?.end === 'whole' || isReadOn) && sent === answer.pieces.length;
  return isWhole && world.stopsAt < 0 && world.diesAt < 0 && !isLateIn(world, seen);
}

/** Only streams of chats and vectors may keep silent about it, and those of chats do unless they are asked. */
function isReported({ turn, dialect, body }: Try, { asks, stream }: Fact['plan']): boolean {
  if (turn.reports === 'zeros') return false;
  if (asks === 'for vectors') return turn.reports === 'usage';
  return !(stream && dialect === 'chat') || (turn.reports === 'usage' && body.includes('"include_usage":true'));
}

/** Whether the estimate is by all of what was said: whole chats say nothing beside calls, and messages count one token ahead. */
const isEstimated = ({ turn, dialect }: Try, { plan }: Fact): boolean =>
  dialect === plan.dialect && dialect !== 'messages' && turn.says === 'an answer' && (plan.stream || !turn.calls);
