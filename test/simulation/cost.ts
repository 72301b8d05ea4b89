import { type Fact, isLateIn } from './facts.ts';
import { isRecorded, type Plan } from './plan.ts';
import { bodyOf } from './request.ts';
import { prices } from './settings.ts';
import type { Try } from './upstream.ts';

/** In micros. */
interface Cost {
  readonly least: number;
  readonly most: number;
}

const exactly = (cost: number): Cost => ({ least: cost, most: cost });
const upTo = (most: number): Cost => ({ least: 0, most });

const roundedUp = (micros: number) => Math.ceil(Number(micros.toFixed(9)));
const priceOf = (input: number, output: number) => roundedUp(input * prices.input + output * prices.output);
const tokensIn = (text: string) => Math.ceil(Buffer.byteLength(text) / 3);

/** What a request of a caller with a budget may have cost. */
export function costOf(fact: Fact, world: Plan): Cost {
  const { charge, plan, number, tries } = fact;
  const last = tries.at(-1);
  if (charge === 'free') return exactly(0);
  const inputTokens = tokensIn(bodyOf(plan, number));
  const reserved = priceOf(inputTokens, 0) + priceOf(0, plan.outputLimit * plan.choices);
  if (last?.turn.status !== 200) return upTo(charge === 'either' ? reserved : 0);
  if (last.answer.isRecorded || isRecorded(plan)) return upTo(Number.POSITIVE_INFINITY);
  const { input, output } = last.spoken.usage;
  const reported = priceOf(input, output);
  const written = last.spoken.parts.flatMap(({ pieces }) => pieces).join('');
  if (isRead(fact, last, world)) {
    if (isReported(last, plan.stream)) return exactly(reported);
    if (isEstimated(last, fact)) return exactly(priceOf(inputTokens, tokensIn(written)));
  }
  return { least: charge === 'charged' ? 1 : 0, most: priceOf(0, tokensIn(written) + 2) + reserved + reported };
}

/** Whether all of an answer was certainly read, also what follows its end. */
function isRead({ charge, understood, seen }: Fact, { sent, answer }: Try, world: Plan): boolean {
  const isWhole = charge === 'charged' && understood?.end === 'whole' && sent === answer.pieces.length;
  return isWhole && world.stopsAt < 0 && world.diesAt < 0 && !isLateIn(world, seen);
}

/** Only streams of chats may keep silent about it. */
const isReported = ({ turn, dialect }: Try, stream: boolean): boolean =>
  turn.reports === 'usage' || (turn.reports === 'nothing' && !(stream && dialect === 'chat'));

/** Whether the estimate is by all of what was said: whole chats say nothing beside calls, and messages count one token ahead. */
const isEstimated = ({ turn, dialect }: Try, { plan }: Fact): boolean =>
  dialect === plan.dialect && dialect !== 'messages' && turn.says === 'an answer' && (plan.stream || !turn.calls);
