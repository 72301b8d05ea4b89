import type { BilledTokens } from '../../budget/prices.ts';
import type { Node } from '../../json/scan.ts';

/** Where a text belongs. The pieces of one `channel` make one text; a client may join the texts of all channels of a `family`. */
export interface TextPlace {
  readonly channel: string;
  readonly family: string;
  /** Whether the model certainly wrote it. Other strings in a delta may reveal the upstream. */
  readonly isGenerated: boolean;
}

export interface FoundText extends TextPlace {
  readonly value: Node;
  /** Becomes null if the text is changed. */
  readonly logprobs: Node | undefined;
}

/** The signature of a reasoning block over everything before it. A `block` may have it in several pieces. */
interface FoundSignature {
  readonly value: Node;
  readonly block: number;
}

interface FoundToolArguments {
  readonly value: Node;
  readonly isWhole: boolean;
}

export interface FoundLogprobs {
  readonly channel: string;
  readonly value: Node;
  readonly isWhole: boolean;
}

/** Tokens as the upstream bills them, with the same meaning in all dialects. */
export interface TokenCounts extends BilledTokens {
  /** Included in the output. */
  readonly reasoning?: number | undefined;
}

/** The highest count of each kind so far. In a stream, counts grow. */
export type Usage = { -readonly [Kind in keyof TokenCounts]: TokenCounts[Kind] };

/** No honest answer or event has more, and each takes more memory than the JSON it points to. */
const mostFindings = 100_000;
export const kindsOfTokens = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

const nothingFound = {
  /** The event's sequence number. */
  sequence: undefined as Node | undefined,
  /** Whether the member that should name the model is missing. */
  lacksModel: false,
  /** Whether the event is a keep-alive, which does not count as a first event. */
  isAlive: false,
  /** Whether the client did not ask for this event: it is read, but not sent. */
  isWithheld: false,
  /** Whether the stream ends with this event. */
  ends: false,
  /** Whether the answer is complete, so that the stream may end here without being broken. */
  mayEnd: false,
  /** Set if the upstream reports that it failed. `forward`: the dialect has this event for failures, so it is sent. */
  failure: undefined as { readonly message: string; readonly forward?: boolean } | undefined,
  /** The number of findings. */
  size: 0,
};

/**
 * What a dialect finds in one answer or event. The dialect knows the structure. Replacing, holding back and dropping are the same for all
 * dialects, and live in hiding/ and stream/.
 */
export type Findings = ReturnType<typeof createFindings>;

/** Token counts go to `usage`. */
export function createFindings(usage: Usage) {
  const lists = {
    models: [] as Node[],
    ids: [] as { readonly value: Node; readonly prefix: string }[],
    errorMessages: [] as Node[],
    drops: [] as { readonly object: Node; readonly key: Node }[],
    /** Values and dropped keys in which nothing else is replaced. */
    handled: [] as Node[],
    deltas: [] as FoundText[],
    wholeTexts: [] as FoundText[],
    allToolArguments: [] as FoundToolArguments[],
    logprobs: [] as FoundLogprobs[],
    /** What later reasoning is signed over, if the upstream signs it. */
    content: [] as Node[],
    signatures: [] as FoundSignature[],
    /** Prefixes of the channels that end with this event: empty, one to four steps with their slashes (`0/`), or a whole channel. */
    ended: [] as string[],
    /** Prefixes under which one channel gets text now: text that is held back for the others is sent before this event. */
    flushed: [] as string[],
  };

  function add<T>(list: T[], one: T): void {
    found.size += 1;
    if (found.size > mostFindings) throw new RangeError(`more than ${mostFindings} things to note at a time`);
    list.push(one);
  }

  function addHandled<T>(list: T[], one: T, value: Node): void {
    list.push(one);
    add(lists.handled, value);
  }

  const found = {
    ...lists,
    ...nothingFound,
    /** The model's name. */
    model: (value: Node) => addHandled(lists.models, value, value),
    /** An id in a vendor's form, and the prefix that it should have. */
    id: (value: Node, prefix: string) => addHandled(lists.ids, { value, prefix }, value),
    /** The upstream's error message, in an event that is forwarded. */
    errorMessage: (value: Node) => addHandled(lists.errorMessages, value, value),
    /** A member that would reveal the provider. */
    drop(object: Node, key: Node) {
      addHandled(lists.drops, { object, key }, key);
      lists.handled.push(key + 1);
    },
    /** A value that the client or its tools depend on: passed through unchanged, with everything inside it. */
    keep: (value: Node) => add(lists.handled, value),
    /**
     * Arguments of a tool call, or signed text: passed through unchanged, but counted as text. `isWhole`: may only repeat what earlier
     * deltas brought.
     */
    toolArguments: (value: Node, isWhole: boolean) => addHandled(lists.allToolArguments, { value, isWhole }, value),
    /** Content of an answer, a block or a delta, which later reasoning is signed over. */
    signedOver: (value: Node) => add(lists.content, value),
    signature: (value: Node, block: number) => add(lists.signatures, { value, block }),
    textDelta: (text: FoundText) => addHandled(lists.deltas, text, text.value),
    /** The whole text of a channel, whether or not its deltas came before. */
    wholeText: (text: FoundText) => addHandled(lists.wholeTexts, text, text.value),
    /** Token probabilities. Their tokens spell out the text, so they become null if that contains a name. */
    probabilities: (channel: string, value: Node, isWhole: boolean) => add(lists.logprobs, { channel, value, isWhole }),
    /** The channels with this prefix end: text that is held back for them is sent before this event or in it. */
    endTexts: (prefix: string) => add(lists.ended, prefix),
    flushOthers: (prefix: string) => add(lists.flushed, prefix),
    /** The upstream's counts so far. The highest of each kind wins. */
    tokens(kind: keyof TokenCounts, count: number) {
      usage[kind] = Math.max(count, usage[kind] ?? 0);
    },
    fail(message: string) {
      found.failure = { message };
    },
    /** Resets everything before the next event. */
    clear() {
      for (const list of Object.values(lists)) list.length = 0;
      Object.assign(found, nothingFound);
    },
  };
  return found;
}
