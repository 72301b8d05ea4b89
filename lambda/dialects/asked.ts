import type { Json, Node } from '../json/scan.ts';
import type { Asked, Marks } from './dialect.ts';
import { numberMember, presentMember } from './envelope.ts';

/** Reads what a body asks for, under the names that its dialect uses. */
export function readAsked(body: Json, names: { readonly choices?: string; readonly stops?: string }): Asked {
  const stops = names.stops ? presentMember(body, body.root, names.stops) : undefined;
  return {
    choices: (names.choices && numberMember(body, body.root, names.choices)) || 1,
    stops: new Set(stops === undefined ? [] : readStops(body, stops)),
  };
}

// No upstream takes more or longer ones, and they are kept in memory until the answer is over.
const [mostStops, longestStop] = [64, 1_000];

function* readStops(body: Json, stops: Node): Generator<string> {
  let read = 0;
  for (const stop of body.kind(stops) === 'string' ? [stops] : body.elements(stops)) {
    if (++read > mostStops) return;
    const isShort = body.end(stop) - body.start(stop) <= longestStop;
    // A copy, because a slice would keep the whole body in memory.
    if (isShort && body.kind(stop) === 'string') yield JSON.parse(body.raw(stop));
  }
}

/** Leaves the text at which the model stopped unchanged if the caller asked for that stop. */
export function passStop(json: Json, holder: Node | undefined, name: string, { stops }: Asked, marks: Marks): void {
  const stop = stops.size > 0 ? presentMember(json, holder, name) : undefined;
  if (stop !== undefined && json.kind(stop) === 'string' && stops.has(json.string(stop))) marks.pass(stop);
}
