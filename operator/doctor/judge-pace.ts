import { type Finding, fail, ok, untested } from '../examination/row.ts';
import type { TimedEvent } from './judge-stream.ts';

/** Milliseconds, and numbers of events that bring text. */
const atOnce = 10;
const noticeable = 40;
const held = 100;
const heldEvents = 4;
const fewestEvents = 12;
const fewestBursts = 8;
const fewestCuts = 2;

interface Burst {
  readonly at: number;
  /** The pause before it, without any text; for the first, since the request. */
  readonly pause: number;
  events: number;
}

/**
 * Whether text came piece by piece, as a model writes it. If something on the way buffers it, by time, by size or to the end,
 * many events arrive at once after a pause; no model writes like that. There is no verdict if a stream is too short or too
 * fast, or if text comes two or three pieces at a time, as some models send it.
 */
export function judgePace(text: readonly TimedEvent[]): Finding {
  const longer = 'ask for a longer answer with --length 400';
  if (text.length < fewestEvents) return untested(`${text.length} pieces of text are too few to tell; ${longer}`);
  const bursts = findBursts(text);
  const share = (pause: number, events: number) =>
    bursts.reduce((sum, burst) => sum + (burst.pause >= pause && burst.events >= events ? burst.events : 0), 0) /
    text.length;
  const spread = (text.at(-1)?.at ?? 0) - (text[0]?.at ?? 0);
  const facts = `${text.length} pieces of text in ${bursts.length} steps over ${Math.round(spread)} ms`;
  if (share(held, heldEvents) >= 0.5) {
    const longest = Math.max(...bursts.map(({ pause }) => pause));
    return fail(`${facts}, after pauses of up to ${Math.round(longest)} ms: ${suspect}`);
  }
  const cuts = text.filter(({ at, begunAt }) => at - begunAt >= noticeable).length;
  if (cuts >= fewestCuts)
    return fail(`${cuts} events came in two halves, far apart: something on the way cuts the stream`);
  if (bursts.length < fewestBursts) return untested(`${facts} are too fast to tell; ${longer}`);
  if (share(noticeable, 2) >= 0.3) return untested(`${facts} are too uneven to tell; run it again, or ${longer}`);
  return ok(facts);
}

const suspect = 'something on the way holds the stream back, or the upstream writes like that (ask it directly to see)';

function findBursts(events: readonly TimedEvent[]): readonly Burst[] {
  const bursts: Burst[] = [];
  let lastAt = 0;
  for (const { at } of events) {
    const burst = bursts.at(-1);
    if (burst && at - burst.at <= atOnce) burst.events += 1;
    else bursts.push({ at, pause: at - lastAt, events: 1 });
    lastAt = at;
  }
  return bursts;
}
