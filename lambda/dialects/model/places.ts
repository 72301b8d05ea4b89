import { eachMember, elements, numberMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Findings } from './findings.ts';
import { keepSealed, sealed, sealedType } from './sealed.ts';

/** Escapes a name as one step of a channel: never empty, and without slashes, as in a JSON pointer (https://www.rfc-editor.org/rfc/rfc6901). */
export function toStep(name: string): string {
  if (name === '') return '~2';
  return /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
}

export function namesIn(channel: string): string[] {
  return channel.split('/').map((step) => {
    if (step === '~2') return '';
    return step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step;
  });
}

/** Members that are always text: `content`, `text`, `reasoning_content`, `thought`. Providers have many names for reasoning. */
export const textual = /^(content|refusal|transcript|(text|summary|thoughts?|thinking|reasoning)(_content|_text)?)$/;

/** `role`, `finish_reason`, `tool_call_id`, `created_at`; not `reason_text`. */
const neverText =
  /^(name|role|author|recipient|channel|phase|status|object|voice)$|(^|_)(id|type|index|format|at|reason)$/;
/** `data`, `image_url`, `b64_json`. */
const bytes = /^(audio|image|data)$|(^|_)(url|b64|json)$/;

/** Members with longer names don't count as text, which bounds the memory that channels take. */
const longestName = 200;

/** Whether an unknown string may be a delta of a text. Labels and binary data are not, as they arrive whole. */
function mayBeText(json: Json, name: string, value: Node): boolean {
  if (neverText.test(name) || bytes.test(name) || name.length > longestName) return false;
  return !json.text.startsWith('"data:', json.start(value));
}

/** Members whose contents arrive whole, not in deltas. */
const wholes = /^(annotations|images)$/;

/** What the model streams of a tool call: not a name, nor audio. */
const streamed = /^(arguments|input)$/;

/** In characters. Text at a longer place counts as whole, which bounds the memory that channels take. */
const longestPlace = 200;

/** Receives a text with its place in a member (`/0/thinking/1/text`), and whether the model certainly wrote it. */
export type VisitText = (place: string, text: Node, isGenerated: boolean) => void;

/**
 * Finds every text in a member of a delta, however deep it is nested. Encrypted values and places that match `toolArguments` pass through
 * unchanged.
 */
export function eachText(
  json: Json,
  member: {
    readonly name: string;
    readonly value: Node;
    readonly toolArguments?: RegExp | undefined;
    readonly isWhole?: boolean;
  },
  found: Findings,
  visit: VisitText,
): void {
  const search = (name: string, value: Node, place: string): void => {
    const kind = json.kind(value);
    if (kind === 'string' && textual.test(name)) visit(place, value, true);
    else if (sealed.test(name)) found.keep(value);
    else if (member.toolArguments?.test(place)) {
      if (streamed.test(name)) found.toolArguments(value, member.isWhole ?? false);
      else found.keep(value);
    } else if (kind === 'string') {
      if (mayBeText(json, name, value)) visit(place, value, false);
    } else if (place.length > longestPlace || wholes.test(name)) keepSealed(json, value, found);
    else if (kind === 'object') {
      const isSealed = sealedType.test(stringMember(json, value, 'type') ?? '');
      eachMember(json, value, (inner, node) => {
        if (isSealed && inner === 'data') found.keep(node);
        else search(inner, node, `${place}/${toStep(inner)}`);
      });
    } else {
      for (const [position, element] of elements(json, value).entries()) {
        search(name, element, `${place}/${numberMember(json, element, 'index') ?? position}`);
      }
    }
  };
  search(member.name, member.value, '');
}

const labels = ['type', 'id', 'format', 'index'];

/**
 * Returns a function that copies a value with only `text` at the end of the path, and the labels on the way. For several texts of one
 * value, its arrays are indexed only once.
 */
export function createNarrow() {
  const parts = new Map<readonly unknown[], ReadonlyMap<string, unknown>>();
  const narrow = (value: unknown, [step, ...rest]: readonly string[], text: string): unknown => {
    if (step === undefined) return text;
    if (Array.isArray(value)) {
      const elements = parts.get(value) ?? byIndex(value, (at) => at);
      parts.set(value, elements);
      return [narrow(elements.get(step), rest, text)];
    }
    const own = (name: string): [string, unknown][] =>
      Object.hasOwn(Object(value), name) ? [[name, Object(value)[name]]] : [];
    const [member] = own(step);
    return { ...Object.fromEntries(labels.flatMap(own)), [step]: narrow(member?.[1], rest, text) };
  };
  return narrow;
}

/** The elements of an array by their `index`. If several have the same, the first counts. */
export function byIndex(array: readonly unknown[], absent: (at: number) => number): ReadonlyMap<string, unknown> {
  const entries = array.map((element, at): [string, unknown] => {
    const { index } = Object(element);
    return [String(Number.isSafeInteger(index) ? index : absent(at)), element];
  });
  return new Map(entries.reverse());
}
