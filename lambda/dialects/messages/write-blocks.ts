import {
  createGrowingText,
  decode,
  type Finish,
  type Literal,
  type TextKind,
  type ToolCall,
} from '../model/answer/answer-sink.ts';
import type { AnswerOptions, Events } from '../model/answer/answer-writer.ts';

interface TextBlock {
  readonly kind: TextKind;
  /** What is not written yet. In a plain answer, everything. */
  held: ReturnType<typeof createGrowingText>;
  /** Reasoning as the upstream sent it, whether or not it is shown. */
  readonly raw: ReturnType<typeof createGrowingText>;
}

interface CallBlock {
  readonly kind: 'call';
  readonly call: ToolCall;
  /** The block's first members, as JSON. */
  readonly members: string;
  isShown: boolean;
}

type Block = TextBlock | CallBlock;

/** The blocks of `content_block_start`. */
const starts = {
  reasoning: '{"type":"thinking","thinking":"","signature":""}',
  text: '{"type":"text","text":""}',
  call: (members: string) => `{"type":"tool_use",${members},"input":{}}`,
};
/** The beginnings of deltas. */
const deltas = {
  reasoning: '"type":"thinking_delta","thinking":',
  signature: '"type":"signature_delta","signature":',
  text: '"type":"text_delta","text":',
  refusal: '"type":"text_delta","text":',
  call: '"type":"input_json_delta","partial_json":',
};

/** Whether a block is complete, now that another one is waiting. */
const isComplete = (block: Block): boolean => block.kind !== 'call' || block.call.arguments.isClosed;

/** The blocks of a message. Only one can be open at a time, and none can be reopened, so later blocks wait until it is complete. */
export function createMessageBlocks({ live, seal }: Pick<AnswerOptions, 'live' | 'seal'>, events: Events) {
  const waiting: Block[] = []; // the first is open
  const calls = new Map<ToolCall, CallBlock>();
  const writer = createBlockWriter({ live, seal }, events);
  let last: TextBlock | undefined; // only if no call came after it

  function begin(block: Block): void {
    waiting.push(block);
    if (waiting.length === 1) writer.open(block);
    else advance();
  }

  /** Closes the first blocks while they are complete and others wait. */
  function advance(): void {
    for (let [first, next] = waiting; first && next && isComplete(first); [first, next] = waiting) {
      close(first);
      writer.open(next);
    }
  }

  /** `finish`: set if the answer ends. */
  function close(block: Block, finish?: Finish): void {
    waiting.shift();
    if (block.kind === 'call') calls.delete(block.call);
    writer.close(block, finish);
  }

  return {
    /** The closed blocks of a plain answer. */
    content: writer.content,
    /** Adds to the last block, or begins one. `raw`: reasoning as the upstream sent it. */
    addText(kind: TextKind, piece: Literal, raw: Literal): void {
      const block: TextBlock =
        last?.kind === kind ? last : { kind, held: createGrowingText(), raw: createGrowingText() };
      if (block !== last) begin(block);
      last = block;
      if (live && block === waiting[0]) writer.write(piece);
      else block.held.add(piece);
      block.raw.add(raw);
    },
    addCall(call: ToolCall, members: string): void {
      const block: CallBlock = { kind: 'call', call, members, isShown: false };
      last = undefined;
      calls.set(call, block);
      begin(block);
    },
    addArguments(call: ToolCall, piece: Literal): void {
      const block = calls.get(call);
      // Ignores what comes after the end of a call's arguments.
      if (block === undefined) return;
      if (block === waiting[0]) {
        if (block.isShown) writer.write(piece);
        else writer.show(block);
      }
      advance();
    },
    closeAll(finish: Finish): void {
      for (let [block] = waiting; block; [block] = waiting) {
        close(block, finish);
        // Drops calls that were cut off before they were shown.
        while (waiting[0] && !isComplete(waiting[0]) && finish !== 'done') waiting.shift();
        if (waiting[0]) writer.open(waiting[0]);
      }
    },
  };
}

/** Writes one block after another, as events or whole for a plain answer. */
function createBlockWriter({ live, seal }: Pick<AnswerOptions, 'live' | 'seal'>, events: Events) {
  const content: string[] = [];
  let index = 0;
  let write = prepare('text');

  /** Prepares to write deltas of the open block. */
  function prepare(delta: keyof typeof deltas) {
    const writeDelta = events.prepare('content_block_delta', `"index":${index},"delta":{${deltas[delta]}`);
    return (piece: Literal): void => {
      if (piece.length > 2) writeDelta(piece, '}');
    };
  }

  /** Writes what the open block holds. Arguments are written only once they turn out to be an object. */
  function show(block: Block): void {
    if (block.kind !== 'call') {
      if (!live) return;
      write(block.held.literal);
      block.held = createGrowingText();
    } else if (block.call.arguments.isObject) {
      write(block.call.arguments.literal);
      block.isShown = true;
    }
  }

  function endText({ kind, held, raw }: TextBlock): string {
    if (kind !== 'reasoning') return `{"type":"text","text":${held.literal}}`;
    const signature = JSON.stringify(seal(decode(raw.literal)) ?? '');
    prepare('signature')(signature);
    return `{"type":"thinking","thinking":${held.literal},"signature":${signature}}`;
  }

  return {
    content,
    open(block: Block): void {
      const { kind } = block;
      const start = kind === 'call' ? starts.call(block.members) : starts[kind === 'reasoning' ? kind : 'text'];
      events.write('content_block_start', `"index":${index},"content_block":${start}`);
      write = prepare(kind);
      show(block);
    },
    /** Adds a piece to the open block. */
    write: (piece: Literal): void => write(piece),
    show,
    close(block: Block, finish: Finish | undefined): void {
      const whole = block.kind === 'call' ? wholeCall(block, finish) : endText(block);
      if (!live && whole !== undefined) content.push(whole);
      events.write('content_block_stop', `"index":${index}`);
      index += 1;
    },
  };
}

/** The whole block; undefined if the end of the answer cut it off. */
function wholeCall({ call, members }: CallBlock, finish: Finish | undefined): string | undefined {
  const isCutOff = finish !== undefined && finish !== 'done' && !call.arguments.isClosed;
  return isCutOff ? undefined : `{"type":"tool_use",${members},"input":${inputOf(call)}}`;
}

/** The arguments of a call as an object. */
function inputOf({ arguments: { text, isObject, isJson } }: ToolCall): string {
  if (/^\s*(null|"")?\s*$/.test(text)) return '{}';
  if (!isObject || !isJson) throw new TypeError('the arguments of a call are not a JSON object');
  return text;
}
