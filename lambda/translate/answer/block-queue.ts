import {
  type Call,
  createGrowingText,
  decode,
  type Finish,
  type GrowingText,
  type Literal,
  type TextKind,
} from './facts.ts';
import type { MessageEvents } from './messages-events.ts';

interface TextBlock {
  readonly kind: TextKind;
  /** What is not written yet; in a plain answer everything. */
  pieces: GrowingText;
  /** Everything as the upstream sent it, whether or not it is shown. */
  readonly thought?: GrowingText;
}

interface CallBlock {
  readonly kind: 'tool_use';
  readonly call: Call;
  readonly start: string;
  /** Whether its arguments are written as they come. */
  isShown: boolean;
}

type Block = TextBlock | CallBlock;

const createTextBlock = (kind: TextKind): TextBlock => ({
  ...{ kind, pieces: createGrowingText() },
  ...(kind === 'thought' && { thought: createGrowingText() }),
});

interface BlockDependencies {
  /** Whether anyone reads the events; else the blocks are gathered as the content of a plain answer. */
  readonly live: boolean;
  readonly events: MessageEvents;
  readonly seal: (thought: string) => string | undefined;
}

/**
 * The blocks of a message. One is open at a time, and is never opened again: what belongs to later blocks waits until the open one is
 * complete.
 */
export function createBlockQueue({ live, events, seal }: BlockDependencies) {
  const waiting: Block[] = []; // the first is open
  const calls = new Map<Call, CallBlock>();
  const blocks = createBlockWriter({ live, events, seal });

  function begin(block: Block): void {
    waiting.push(block);
    if (waiting.length === 1) blocks.open(block);
    else advance();
  }

  /** `finish` is why the answer ends, if it does. */
  function close(block: Block, finish?: Finish): void {
    waiting.shift();
    if (block.kind === 'tool_use') calls.delete(block.call);
    blocks.close(block, finish);
  }

  /** Closes the first blocks while they are complete and others wait. A text is, as soon as something else comes. */
  function advance(): void {
    for (let [first, next] = waiting; first && next; [first, next] = waiting) {
      if (first.kind === 'tool_use' && !first.call.arguments.isClosed) return;
      close(first);
      blocks.open(next);
    }
  }

  return {
    /** The blocks of a plain answer that are closed. */
    content: blocks.content,
    /** Adds to the last block, or begins one. */
    addText(kind: TextKind, text: Literal): TextBlock {
      const last = waiting.at(-1);
      const block: TextBlock = last?.kind === kind ? last : createTextBlock(kind);
      if (block !== last) begin(block);
      if (live && block === waiting[0]) events.add(text);
      else block.pieces.add(text);
      return block;
    },
    /** `start` holds the first members of its block. */
    addCall(call: Call, start: string): void {
      const block: CallBlock = { kind: 'tool_use', call, start, isShown: false };
      calls.set(call, block);
      begin(block);
    },
    addArguments(call: Call, text: Literal): void {
      const block = calls.get(call);
      if (block === undefined) return;
      if (block === waiting[0] && block.isShown) events.add(text);
      else if (block === waiting[0]) blocks.showArguments(block);
      advance();
    },
    closeAll(reason: Finish): void {
      for (let [block] = waiting; block; [block] = waiting) {
        close(block, reason);
        // What was cut off before it was shown is not begun.
        while (waiting[0]?.kind === 'tool_use' && isCutOff(waiting[0].call, reason)) waiting.shift();
        if (waiting[0]) blocks.open(waiting[0]);
      }
    },
  };
}

/** Writes a block as events, or into the content of a plain answer. */
function createBlockWriter({ live, events, seal }: BlockDependencies) {
  const content: string[] = [];

  /** From the first on that shows that they are an object. */
  function showArguments(block: CallBlock): void {
    if (!block.call.arguments.isObject) return;
    events.add(block.call.arguments.literal);
    block.isShown = true;
  }

  return {
    content,
    showArguments,
    open(block: Block): void {
      if (block.kind === 'tool_use') {
        events.open(`{"type":"tool_use",${block.start},"input":{}}`, 'input_json_delta', 'partial_json');
        showArguments(block);
        return;
      }
      if (block.kind === 'thought')
        events.open('{"type":"thinking","thinking":"","signature":""}', 'thinking_delta', 'thinking');
      else events.open('{"type":"text","text":""}', 'text_delta', 'text');
      if (!live || block.pieces.isEmpty) return;
      events.add(block.pieces.literal);
      block.pieces = createGrowingText();
    },
    close(block: Block, finish?: Finish): void {
      if (block.kind === 'tool_use') {
        const input = inputOf(block.call, finish);
        if (input !== undefined && !live) content.push(`{"type":"tool_use",${block.start},"input":${input}}`);
      } else if (block.kind === 'thought') {
        const sealed = block.thought && seal(decode(block.thought.literal));
        const signature = JSON.stringify(sealed ?? '');
        if (sealed !== undefined) events.addOnce('signature_delta', 'signature', signature);
        if (!live) content.push(`{"type":"thinking","thinking":${block.pieces.literal},"signature":${signature}}`);
      } else if (!live) content.push(`{"type":"text","text":${block.pieces.literal}}`);
      events.close();
    },
  };
}

const isCutOff = (call: Call, finish: Finish | undefined): boolean => finish !== 'done' && !call.arguments.isClosed;

/** The input that a call's arguments are; undefined if the end of the answer cut them off. */
function inputOf(call: Call, finish: Finish | undefined): string | undefined {
  const { text } = call.arguments;
  if (finish !== undefined && isCutOff(call, finish)) return undefined;
  if (/^\s*(null|"")?\s*$/.test(text)) return '{}';
  if (!isObject(text)) throw new TypeError('the arguments of a call are not a JSON object');
  return text;
}

function isObject(text: string): boolean {
  try {
    return text.trimStart().startsWith('{') && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
