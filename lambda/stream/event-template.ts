import { unreadIn } from '../dialects/answer.ts';
import { isMachine } from '../dialects/envelope.ts';
import type { Findings, TokenCounts } from '../dialects/findings.ts';
import { type Edit, editPart } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { codeAt, quote, skipDigits, trySkipNumber, trySkipString } from '../json/tokens.ts';
import { type Hiding, passes } from './hide.ts';
import type { Scrubber } from './scrub.ts';
import { openEvent, type SseEvent } from './sse.ts';

/**
 * An event with holes. Most events of a stream differ from the one before only in a text, a number that counts them, and perhaps
 * some padding or a running usage. Those alone need another look, and go where they stood. For example, of
 *
 *     {"model":"thunder","n":7,"delta":"Hel"}   {"model":"thunder","n":8,"delta":"lo"}
 *
 * the template has two holes, of a `sequence` and of a `text`. Before the first stands `{"model":"thunder","n":` as `raw`, which is
 * how the next event must begin, and `{"model":"svc","n":` as `out`.
 */
export interface EventTemplate extends Part {
  /** The type as it comes in. */
  readonly type: string | undefined;
  readonly holes: readonly Hole[];
  /** Which of them is the only one with a text in which names are hidden, if there is one such. */
  readonly hidden: number | undefined;
  /** Whether such events tell a reader nothing new but one text. What they count is read here. */
  readonly saysOneText: boolean;
}

/** What stands before the first hole, or between a hole and the next: as it comes in, and as it goes out. */
interface Part {
  readonly raw: string;
  readonly out: string;
  /** Whether that is the same. */
  readonly isKept: boolean;
}

/** A hole and the part that follows it, of which nothing goes out unless the hole is shown. */
export interface Hole extends Part {
  readonly place: Place;
  /** Whether what fills it goes out. */
  readonly isShown: boolean;
}

/** What stands at a hole: a text of a channel, which `passes` if no name is hidden in it, the number of the event, a number of tokens, or what no dialect looks at. */
type Place =
  | { readonly kind: 'text'; readonly channel: string; readonly family: string; readonly passes: boolean }
  | { readonly kind: 'count'; readonly of: keyof TokenCounts }
  | { readonly kind: 'sequence' | 'string' | 'number' };

interface Slot {
  readonly node: Node;
  readonly place: Place;
}

const mostHoles = 32;
const mostEdits = 100;

/** Makes templates of a stream's events: holes for texts and the number, and for other values as soon as two events differ in them. */
export function createMakeTemplate(hiding: Hiding) {
  let before: readonly { readonly name: string; readonly raw: string; readonly varies: boolean }[] = [];

  /** Those of the values in which events were seen to differ. */
  const varying = (json: Json, values: readonly Slot[]): Slot[] => {
    const nameOf = (node: Node): string => (json.isKey(node - 1) ? json.raw(node - 1) : '');
    const isSameKind =
      before.length === values.length && values.every(({ node }, at) => before[at]?.name === nameOf(node));
    before = values.map(({ node }, at) => {
      const raw = json.raw(node);
      const last = isSameKind ? before[at] : undefined;
      return { name: nameOf(node), raw, varies: last !== undefined && (last.varies || last.raw !== raw) };
    });
    return values.filter((_, at) => before[at]?.varies);
  };

  /** `edits` make the event what goes out, under this `type`, but for its texts and its number. */
  return (
    json: Json,
    found: Findings,
    event: SseEvent,
    { type, edits }: { type: string | undefined; edits: readonly Edit[] },
  ): EventTemplate | undefined => {
    if (!isRepeatable(json, found) || edits.length > mostEdits) return undefined;
    const texts = found.deltas.filter(({ value }) => json.end(value) - json.start(value) > 2);
    if (texts.length === 0 || texts.length > mostHoles) return undefined;
    const values = unreadIn(json);
    const others = [
      ...found.counts.map(({ kind, value }): Slot => ({ node: value, place: { kind: 'count', of: kind } })),
      ...(values.length > mostHoles ? [] : values).map(
        (node): Slot => ({ node, place: { kind: json.kind(node) === 'string' ? 'string' : 'number' } }),
      ),
    ];
    const slots: Slot[] = [
      ...texts.map((text): Slot => {
        const { value: node, channel, family } = text;
        return { node, place: { kind: 'text', channel, family, passes: passes(text, hiding) } };
      }),
      ...(found.sequence === undefined ? [] : [{ node: found.sequence, place: { kind: 'sequence' } } as const]),
      ...varying(json, others),
    ];
    const { raw, out, ...rest } = cutHoles(json, slots, edits);
    return { type: event.type, ...rest, ...toPart(openEvent(event.type) + raw, openEvent(type) + out) };
  };
}

/** Whether an event like this one changes nothing but what its texts say. */
function isRepeatable({ text }: Json, { wholeTexts, programs, logprobs, ended, ends }: Findings): boolean {
  if (ends || text.includes('\n')) return false; // or it came in several lines
  return wholeTexts.length + programs.length + logprobs.length + ended.length === 0;
}

const toPart = (raw: string, out: string): Part => ({ raw, out, isKept: raw === out });

function cutHoles(json: Json, slots: readonly Slot[], edits: readonly Edit[]): Omit<EventTemplate, 'type' | 'isKept'> {
  const { text } = json;
  const written = (start: number, end: number): string =>
    editPart(text, { start, end }, edits) + (end === text.length ? '\n\n' : '');
  const places = slots
    .map(({ node, place }) => ({ place, start: json.start(node), end: json.end(node) }))
    .sort((a, b) => a.start - b.start)
    // What stands in a member that is dropped, or in a value that is replaced, does not go out.
    .map((one) => ({ ...one, isShown: !edits.some(({ start, end }) => start < one.start && end >= one.end) }));
  const shown = places.filter(({ isShown }) => isShown);
  const shownFrom = (at: number): number => shown.find(({ start }) => start >= at)?.start ?? text.length;
  const holes = places.map(({ place, isShown, end }, at): Hole => {
    const next = places[at + 1]?.start;
    const raw = next === undefined ? `${text.slice(end)}\n\n` : text.slice(end, next);
    return { place, isShown, ...toPart(raw, isShown ? written(end, shownFrom(end)) : '') };
  });
  const hidden = holes.flatMap(({ place }, at) => (place.kind === 'text' && !place.passes ? at : []));
  const meaningful = shown.filter(({ place }) => place.kind !== 'count');
  return {
    saysOneText: meaningful.length === 1 && meaningful[0]?.place.kind === 'text',
    raw: text.slice(0, places[0]?.start),
    out: written(0, shownFrom(0)),
    holes,
    hidden: hidden.length === 1 ? hidden[0] : undefined,
  };
}

/**
 * The ends of the events from `start` on that are like the template and complete, at most so many. `spans` then says where what
 * fills the holes of each begins and ends. Nothing else is made, as there are very many events.
 */
export function readAlike(
  template: EventTemplate,
  source: string,
  start: number,
  scrubber: Scrubber,
  spans: number[],
  most: number,
): number[] {
  const ends: number[] = [];
  spans.length = 0;
  for (let at = start; ends.length < most; ) {
    const end = readHoles(template, source, at, scrubber, spans);
    if (end === undefined) break;
    ends.push(end);
    at = end;
  }
  return ends;
}

function readHoles(
  { raw: head, holes }: EventTemplate,
  source: string,
  start: number,
  scrubber: Scrubber,
  spans: number[],
): number | undefined {
  let at = start + head.length;
  if (source.slice(start, at) !== head) return undefined;
  for (const { place, isShown, raw } of holes) {
    const end = endOf(place.kind, source, at);
    if (end < 0) return undefined;
    if (place.kind === 'string' && isShown) {
      const value = source.slice(at, end);
      if (value.includes('\\') || scrubber.find(value) || isMachine(value.slice(1, -1))) return undefined;
    }
    spans.push(at, end);
    at = end + raw.length;
    if (source.slice(end, at) !== raw) return undefined;
  }
  return at;
}

/** Longer numbers could lose a digit. */
const mostDigits = 15;

/** The end of what may fill a hole of this kind; negative if nothing of the kind stands there. An empty text is another event. */
function endOf(kind: Place['kind'], text: string, at: number): number {
  if (kind === 'text' || kind === 'string') {
    const end = codeAt(text, at) === quote ? trySkipString(text, at) >> 2 : -1; // negative if it is incomplete
    return kind === 'text' && end - at <= 2 ? -1 : end;
  }
  const end = trySkipNumber(text, at);
  if (kind === 'number') return end;
  return end - at <= mostDigits && skipDigits(text, at) === end ? end : -1;
}
