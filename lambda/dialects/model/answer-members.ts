import { excerpt, longestPath } from '../../json/quoting.ts';
import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import { recordVendorMembers } from './envelope.ts';
import type { ExpectedAnswer } from './expected-answer.ts';
import { type Findings, kindsOfTokens, type TokenCounts } from './findings.ts';
import type { UsagePlaces } from './usage-places.ts';

/** Records what the `usage` of an object counts, and returns it. */
export function recordUsage(json: Json, holder: Node, places: UsagePlaces, found: Findings): TokenCounts {
  const counts: Record<string, number> = {};
  const usage = presentMember(json, holder, 'usage');
  if (usage === undefined) return counts;
  recordVendorMembers(json, usage, places.members, found);
  for (const kind of kindsOfTokens) {
    for (const [name, inner] of places.counted[kind] ?? []) {
      const [object, member] = inner === undefined ? [usage, name] : [json.member(usage, name), inner];
      const count = numberMember(json, object, member);
      // A negative count would spoil every sum.
      if (count === undefined || count < 0) continue;
      counts[kind] = count;
      found.tokens(kind, count);
      break;
    }
  }
  return counts;
}

/**
 * An upstream's error message, in any of the forms that providers use: `{error: {message}}`,
 * `{error: "…"}`, `{message}`, `{errors: [{message}]}`, `{detail}`, `{detail: [{loc, msg}]}`, or one of these in a list.
 */
export function readErrorMessage(json: Json): string | undefined {
  const body = elements(json, json.root)[0] ?? json.root;
  const first = (name: string) => elements(json, presentMember(json, body, name))[0];
  return (
    stringMember(json, presentMember(json, body, 'error'), 'message') ??
    stringMember(json, body, 'error') ??
    stringMember(json, body, 'message') ??
    stringMember(json, first('errors'), 'message') ??
    stringMember(json, body, 'detail') ??
    readDetail(json, first('detail'))
  );
}

/** A validation error: its message, after the place in the body if it names one. */
function readDetail(json: Json, detail: Node | undefined): string | undefined {
  const message = stringMember(json, detail, 'msg');
  const steps = elements(json, presentMember(json, detail, 'loc')).map((step) =>
    json.kind(step) === 'string' ? `.${json.string(step)}` : `[${json.raw(step)}]`,
  );
  const place = steps
    .join('')
    .replace(/^\.body(?=[.[]|$)/, '')
    .replace(/^\./, '');
  return message !== undefined && place !== '' ? `${excerpt(place, longestPath)}: ${message}` : message;
}

/** Leaves the stop sequence at which the model stopped unchanged, if it is one of the caller's. */
export function keepStop(
  json: Json,
  holder: Node | undefined,
  name: string,
  { stops }: ExpectedAnswer,
  found: Findings,
): void {
  const stop = stops.size > 0 ? presentMember(json, holder, name) : undefined;
  if (stop !== undefined && json.kind(stop) === 'string' && stops.has(json.string(stop))) found.keep(stop);
}
