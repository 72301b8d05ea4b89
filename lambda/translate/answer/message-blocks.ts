import type { Events } from './events.ts';
import { type Call, createGrowingText, decode, type Finish, type Literal, type TextKind } from './facts.ts';
import type { Writing } from './writer.ts';

interface Block {
  /** The block as it starts. */
  readonly start: string;
  /** The type and the member of a piece of its text. */
  readonly delta: string;
  /** Whether nothing more belongs to it, now that another block waits. */
  isComplete(): boolean;
  /** Shows what came before it was open. */
  show(): void;
  /** The whole block; undefined if the end of the answer cut it off. `finish` is why the answer ends, if it does. */
  close(finish?: Finish): string | undefined;
}

interface TextBlock extends Block {
  readonly kind: TextKind;
  /** `raw` is a thought as the upstream sent it, whether or not it is shown. */
  add(text: Literal, raw: Literal): void;
}

interface CallBlock extends Block {
  readonly call: Call;
  add(text: Literal): void;
}

const text = { start: '{"type":"text","text":""}', delta: '"type":"text_delta","text":' };
const thinking = {
  start: '{"type":"thinking","thinking":"","signature":""}',
  delta: '"type":"thinking_delta","thinking":',
};

/**
 * The blocks of a message. One is open at a time, and is never opened again: what belongs to later blocks waits until the open one is
 * complete.
 */
export function createMessageBlocks({ live, seal }: Pick<Writing, 'live' | 'seal'>, events: Events) {
  const content: string[] = [];
  const waiting: Block[] = []; // the first is open
  const calls = new Map<Call, CallBlock>();
  let index = 0;
  let last: TextBlock | undefined; // if nothing has come after it
  let write = prepare('');

  function prepare(delta: string) {
    const writeDelta = events.prepare('content_block_delta', `"index":${index},"delta":{${delta}`);
    return (piece: Literal): void => {
      if (piece.length > 2) writeDelta(piece, '}');
    };
  }

  function open(block: Block): void {
    events.write('content_block_start', `"index":${index},"content_block":${block.start}`);
    write = prepare(block.delta);
    block.show();
  }

  function begin(block: Block): void {
    waiting.push(block);
    if (waiting.length === 1) open(block);
    else advance();
  }

  function close(block: Block, finish?: Finish): void {
    waiting.shift();
    const whole = block.close(finish);
    if (!live && whole !== undefined) content.push(whole);
    events.write('content_block_stop', `"index":${index}`);
    index += 1;
  }

  /** Closes the first blocks while they are complete and others wait. */
  function advance(): void {
    for (let [first, next] = waiting; first && next && first.isComplete(); [first, next] = waiting) {
      close(first);
      open(next);
    }
  }

  function createTextBlock(kind: TextKind): TextBlock {
    let held = createGrowingText(); // what is not written yet; in a plain answer everything
    const thought = createGrowingText();
    const block: TextBlock = {
      kind,
      ...(kind === 'thought' ? thinking : text),
      isComplete: () => true,
      add(piece, raw) {
        if (live && block === waiting[0]) write(piece);
        else held.add(piece);
        thought.add(raw);
      },
      show() {
        if (!live) return;
        write(held.literal);
        held = createGrowingText();
      },
      close() {
        if (kind !== 'thought') return `{"type":"text","text":${held.literal}}`;
        const signature = JSON.stringify(seal(decode(thought.literal)) ?? '');
        prepare('"type":"signature_delta","signature":')(signature);
        return `{"type":"thinking","thinking":${held.literal},"signature":${signature}}`;
      },
    };
    return block;
  }

  function createCallBlock(call: Call, members: string): CallBlock {
    const given = call.arguments;
    let isShown = false;
    const block: CallBlock = {
      call,
      start: `{"type":"tool_use",${members},"input":{}}`,
      delta: '"type":"input_json_delta","partial_json":',
      isComplete: () => given.isClosed,
      add(piece) {
        if (block === waiting[0] && isShown) write(piece);
        else if (block === waiting[0]) block.show();
        advance();
      },
      /** From the first on that shows that they are an object. */
      show() {
        if (given.isObject) write(given.literal);
        isShown = given.isObject;
      },
      close(finish) {
        calls.delete(call);
        const input = isCutOff(call, finish) ? undefined : inputOf(call);
        return input === undefined ? undefined : `{"type":"tool_use",${members},"input":${input}}`;
      },
    };
    return block;
  }

  return {
    /** The blocks of a plain answer that are closed. */
    content,
    /** Adds to the last block, or begins one. */
    addText(kind: TextKind, piece: Literal, raw: Literal): void {
      const block = last?.kind === kind ? last : createTextBlock(kind);
      if (block !== last) begin(block);
      last = block;
      block.add(piece, raw);
    },
    /** `members` are the first ones of its block. */
    addCall(call: Call, members: string): void {
      const block = createCallBlock(call, members);
      last = undefined;
      calls.set(call, block);
      begin(block);
    },
    // What comes after the end of a call's arguments is no part of them.
    addArguments: (call: Call, piece: Literal): void => calls.get(call)?.add(piece),
    closeAll(finish: Finish): void {
      for (let [block] = waiting; block; [block] = waiting) {
        close(block, finish);
        // What was cut off before it was shown is not begun.
        while (waiting[0] && !waiting[0].isComplete() && finish !== 'done') waiting.shift();
        if (waiting[0]) open(waiting[0]);
      }
    },
  };
}

const isCutOff = (call: Call, finish: Finish | undefined): boolean =>
  finish !== undefined && finish !== 'done' && !call.arguments.isClosed;

/** The input that a call's arguments are. */
function inputOf(call: Call): string {
  const { text } = call.arguments;
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
