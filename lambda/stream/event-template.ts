import type { Findings, TextPlace } from '../dialects/model/findings.ts';
import type { Scrubber } from '../hiding/scrub.ts';
import { type Edit, editPart } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { codeAt, quote, skipDigits, trySkipString } from '../json/tokens.ts';
import { openEvent, type SseEvent } from './sse.ts';

/**
 * A template of an event. Most events of a stream differ from the previous one only in a text, a sequence number and padding. So only
 * these are parsed anew and put into the template's holes. For example, from
 *
 *     {"model":"thunder","n":7,"delta":"Hel"}   {"model":"thunder","n":8,"delta":"lo"}
 *
 * comes a template of three parts. The first comes in as `{"model":"thunder","n":`, goes out as `{"model":"svc","n":`, and is followed
 * by a hole for the `sequence`.
 */
export interface EventTemplate {
  /** The event type as it comes in. */
  readonly type: string | undefined;
  /** The channel of its only text. */
  readonly text: TextPlace;
  readonly parts: readonly Part[];
}

/** The fixed text up to the next hole or the end of the event. */
interface Part {
  /** As it comes in. */
  readonly raw: string;
  /** As it goes out. */
  readonly out: string;
  /** The hole after it. */
  readonly hole: HoleKind | undefined;
}

type HoleKind = 'text' | 'sequence' | 'padding';

interface PlacedHole {
  readonly kind: HoleKind;
  readonly node: Node;
}

/** Members that upstreams fill with random letters, so that an event's length does not reveal its text. */
const paddings = ['obfuscation', 'p'];

/** The template of an event that carries a single text; undefined for any other. `edits` and `type` are what changes on the way out. */
export function makeTemplate(
  json: Json,
  found: Findings,
  event: SseEvent,
  type: string | undefined,
  edits: readonly Edit[],
): EventTemplate | undefined {
  const [text, second] = found.deltas.filter(({ value }) => json.end(value) - json.start(value) > 2);
  if (text === undefined || second !== undefined || !saysOnlyDeltas(json, found)) return undefined;
  const holes: PlacedHole[] = [{ kind: 'text', node: text.value }];
  if (found.sequence !== undefined) holes.push({ kind: 'sequence', node: found.sequence });
  for (const name of paddings) {
    const node = json.member(json.root, name);
    if (node !== undefined) holes.push({ kind: 'padding', node });
  }
  const isEdited = ({ node }: PlacedHole) =>
    edits.some(({ start, end }) => start < json.end(node) && end > json.start(node));
  if (holes.some(isEdited)) return undefined;
  holes.sort((a, b) => a.node - b.node);
  return {
    type: event.type,
    text,
    parts: cutAt(holes, json, { raw: openEvent(event.type), out: openEvent(type) }, edits),
  };
}

/** Whether the event carries deltas and nothing else. */
function saysOnlyDeltas({ text }: Json, { wholeTexts, allToolArguments, logprobs, ended, ends }: Findings): boolean {
  if (ends || text.includes('\n')) return false; // a line break means several `data:` lines
  return wholeTexts.length + allToolArguments.length + logprobs.length + ended.length === 0;
}

function cutAt(
  holes: readonly PlacedHole[],
  json: Json,
  head: Omit<Part, 'hole'>,
  edits: readonly Edit[],
): readonly Part[] {
  const { text } = json;
  const parts: Part[] = [];
  let { raw, out } = head;
  let start = 0;
  const add = (end: number) => {
    raw += text.slice(start, end);
    out += editPart(text, { start, end }, edits);
  };
  for (const { kind, node } of holes) {
    add(json.start(node));
    parts.push({ raw, out, hole: kind });
    start = json.end(node);
    raw = out = '';
  }
  add(text.length);
  parts.push({ raw: `${raw}\n\n`, out: `${out}\n\n`, hole: undefined });
  return parts;
}

/** Matches the event at `start` against a template. Returns the fillings of its holes and its end, or undefined. */
export function readAlike(
  { parts }: EventTemplate,
  source: string,
  start: number,
  scrubber: Scrubber,
): { readonly fillings: readonly string[]; readonly end: number } | undefined {
  const fillings: string[] = [];
  let at = start;
  for (const { raw, hole } of parts) {
    const begin = at + raw.length;
    if (source.slice(at, begin) !== raw) return undefined;
    at = hole === undefined ? begin : endOf(hole, source, begin);
    if (at < 0) return undefined;
    const filling = source.slice(begin, at);
    if (hole === 'padding' && scrubber.find(filling)) return undefined;
    fillings.push(filling);
  }
  return { fillings, end: at };
}

/** Longer numbers could lose precision. */
const mostDigits = 15;
/** No dots or hyphens, so no host names. */
const padding = /"\w*"/y;

/** Where the filling of a hole ends; negative if there is none. An empty text does not match: its event is read in full. */
function endOf(kind: HoleKind, text: string, at: number): number {
  if (kind === 'text') {
    const end = codeAt(text, at) === quote ? trySkipString(text, at) >> 2 : -1; // negative if it is incomplete
    return end - at <= 2 ? -1 : end;
  }
  if (kind === 'padding') {
    padding.lastIndex = at;
    return padding.test(text) ? padding.lastIndex : -1;
  }
  const end = skipDigits(text, at);
  const hasZero = text.charAt(at) === '0' && end > at + 1;
  return end > at && end - at <= mostDigits && !hasZero ? end : -1;
}
