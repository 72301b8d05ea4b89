import type { Findings, TextPlace } from '../dialects/model/findings.ts';
import type { Scrubber } from '../hiding/scrub.ts';
import { type Edit, editPart } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { codeAt, quote, skipDigits, trySkipString } from '../json/tokens.ts';
import { openEvent, type SseEvent } from './sse.ts';

/**
 * An event with holes. Most events of a stream differ from the one before only in a text, a number that counts them, and padding.
 * Those alone need another look, and go where they stood. For example, of
 *
 *     {"model":"thunder","n":7,"delta":"Hel"}   {"model":"thunder","n":8,"delta":"lo"}
 *
 * the template has three parts. The first comes in as `{"model":"thunder","n":` and goes out as `{"model":"svc","n":`, and behind it
 * is the hole of a `sequence`.
 */
export interface EventTemplate {
  /** The type as it comes in. */
  readonly type: string | undefined;
  /** Where its only text belongs. */
  readonly text: TextPlace;
  readonly parts: readonly Part[];
}

/** What all events like this one have in common, up to the next hole or the end. */
interface Part {
  /** As it comes in. */
  readonly raw: string;
  /** As it goes out. */
  readonly out: string;
  /** What fills the hole behind it. */
  readonly hole: HoleKind | undefined;
}

type HoleKind = 'text' | 'sequence' | 'padding';

interface PlacedHole {
  readonly kind: HoleKind;
  readonly node: Node;
}

/** Members in which upstreams send random letters, so that an event's length tells nothing of its text. */
const paddings = ['obfuscation', 'p'];

/** The template of an event that says nothing but one text. `edits` make it what goes out, under this `type`, but for its holes. */
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

/** Whether an event like this one changes nothing but what its deltas say. */
function saysOnlyDeltas({ text }: Json, { wholeTexts, allToolArguments, logprobs, ended, ends }: Findings): boolean {
  if (ends || text.includes('\n')) return false; // or it came in several lines
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

/** What stands behind each part in the event at `start`, and where that ends, if it is complete and like the template. */
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

/** Longer numbers could lose a digit. */
const mostDigits = 15;
/** Names of machines have dots or hyphens. */
const padding = /"\w*"/y;

/** The end of what may fill a hole of this kind; negative if nothing of the kind stands there. An empty text is another event. */
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
