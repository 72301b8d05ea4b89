import type { BilledTokens } from '../../budget/prices.ts';
import type { Node } from '../../json/scan.ts';

/** Where a text stands. Pieces of one `channel` follow one another; `family` names the channels whose texts a client may join. */
export interface TextPlace {
  readonly channel: string;
  readonly family: string;
  /** Whether it is certainly the model's own: of other strings in a delta some may tell who the upstream is. */
  readonly isGenerated: boolean;
}

export interface FoundText extends TextPlace {
  readonly value: Node;
  /** Becomes null if the text is changed. */
  readonly logprobs: Node | undefined;
}

/** Signs a thought over all that came before it. A `block` may have it in several pieces. */
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

/** The highest count of each kind so far: in a stream they grow. */
export type Usage = { -readonly [Kind in keyof TokenCounts]: TokenCounts[Kind] };

/** No honest answer holds so many, and each takes more memory than what it stands for. */
const mostFindings = 100_000;
export const kindsOfTokens = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

const nothingYet = {
  /** The number that counts the events of the stream. */
  sequence: undefined as Node | undefined,
  /** It does not name the model, as it should among its other members. */
  lacksModel: false,
  /** An event that only shows that the upstream is alive. It does not count as a first event. */
  isAlive: false,
  /** An event that the client did not ask for: it is read, but not sent. */
  isWithheld: false,
  /** The stream ends with this event. */
  ends: false,
  /** The answer is complete: if the upstream stops after this, that is not a break. */
  mayEnd: false,
  /** The upstream reports that it failed; `forward` if this event is the dialect's own way to say so. */
  failure: undefined as { readonly message: string; readonly forward?: boolean } | undefined,
  /** How many things were found. */
  size: 0,
};

/**
 * What a dialect finds in one answer or event. It knows the structure; replacing, holding back and dropping work alike for all
 * dialects, in hiding/ and stream/.
 */
export type Findings = ReturnType<typeof createFindings>;

/** Token counts go to `usage`. */
export function createFindings(usage: Usage) {
  const lists = {
    models: [] as Node[],
    ids: [] as { readonly value: Node; readonly prefix: string }[],
    errorMessages: [] as Node[],
    drops: [] as { readonly object: Node; readonly key: Node }[],
    /** Values and dropped keys in which nothing more is to be replaced. */
    handled: [] as Node[],
    deltas: [] as FoundText[],
    wholeTexts: [] as FoundText[],
    allToolArguments: [] as FoundToolArguments[],
    logprobs: [] as FoundLogprobs[],
    /** What later thoughts are signed over, where that matters. */
    content: [] as Node[],
    signatures: [] as FoundSignature[],
    /** Prefixes of channels that end with this event: empty, one to four steps with their slashes (`0/`), or a whole channel. */
    ended: [] as string[],
    /** Prefixes under which one channel adds text now: what the others hold back leaves before this event. */
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
    ...nothingYet,
    /** The value that names the model. */
    model: (value: Node) => addHandled(lists.models, value, value),
    /** An id in a vendor's form, and how it is to begin. */
    id: (value: Node, prefix: string) => addHandled(lists.ids, { value, prefix }, value),
    /** The upstream's error message, in an event that is forwarded. */
    errorMessage: (value: Node) => addHandled(lists.errorMessages, value, value),
    /** A member that would reveal who answered. */
    drop(object: Node, key: Node) {
      addHandled(lists.drops, { object, key }, key);
      lists.handled.push(key + 1);
    },
    /** A value that a program reads back: it stays unchanged, with everything inside it. */
    keep: (value: Node) => add(lists.handled, value),
    /**
     * What the model wrote for a program, or signed: it stays unchanged, and counts like text. `isWhole` is said of what may only
     * repeat pieces that came before.
     */
    program: (value: Node, isWhole: boolean) => addHandled(lists.allToolArguments, { value, isWhole }, value),
    /** The content of an answer, or a block of it, or a piece of one: later thoughts are signed over it. */
    signedOver: (value: Node) => add(lists.content, value),
    signature: (value: Node, block: number) => add(lists.signatures, { value, block }),
    /** A piece of text. */
    textDelta: (text: FoundText) => addHandled(lists.deltas, text, text.value),
    /** All the text of a channel, whether or not its pieces came before. */
    wholeText: (text: FoundText) => addHandled(lists.wholeTexts, text, text.value),
    /** Token probabilities, which spell a text of their own: they become null if that contains a name. */
    probabilities: (channel: string, value: Node, isWhole: boolean) => add(lists.logprobs, { channel, value, isWhole }),
    /** The channels with this prefix end: what they hold back leaves before this event or in it. */
    endTexts: (prefix: string) => add(lists.ended, prefix),
    flushOthers: (prefix: string) => add(lists.flushed, prefix),
    /** Tokens as the upstream counts them up to now: the highest count of each kind stays. */
    tokens(kind: keyof TokenCounts, count: number) {
      usage[kind] = Math.max(count, usage[kind] ?? 0);
    },
    fail(message: string) {
      found.failure = { message };
    },
    /** Forgets everything before the next event. */
    clear() {
      for (const list of Object.values(lists)) list.length = 0;
      Object.assign(found, nothingYet);
    },
  };
  return found;
}
