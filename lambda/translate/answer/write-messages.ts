import {
  type Call,
  createGrowingText,
  decode,
  type Facts,
  type Finish,
  type GrowingText,
  type Literal,
} from './facts.ts';
import { createMessageEvents } from './messages-events.ts';
import { type AnswerWriter, countTokens, createCallIds, type Writing } from './writer.ts';

export interface MessagesWriting extends Writing {
  /** Whether the client wants to see the thoughts, or only to send them back. */
  readonly showsThoughts: boolean;
}

interface TextBlock {
  readonly kind: 'thinking' | 'text' | 'refusal';
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

const createTextBlock = (kind: TextBlock['kind']): TextBlock => ({
  ...{ kind, pieces: createGrowingText() },
  ...(kind === 'thinking' && { thought: createGrowingText() }),
});

/**
 * Writes Anthropic messages. One block is open at a time, and is never opened again: what belongs to later blocks waits until the
 * open one is complete.
 */
export function createMessagesWriter(writing: MessagesWriting): AnswerWriter {
  const { live, tools } = writing;
  const events = createMessageEvents(live);
  const idOf = createCallIds('toolu_', writing.newHex);
  const id = `msg_${writing.newHex()}`;
  const waiting: Block[] = []; // the first is open
  const calls = new Map<Call, CallBlock>();
  const content: string[] = []; // of a plain answer
  let answer = '';
  let hasCalled = false;
  let hasRefused = false;

  const messageOf = (rest: string) =>
    `{"id":"${id}","type":"message","role":"assistant","model":${JSON.stringify(writing.model)},"content":[${content.join(',')}],${rest}}`;

  function open(block: Block): void {
    if (block.kind === 'tool_use') {
      events.open(`{"type":"tool_use",${block.start},"input":{}}`, 'input_json_delta', 'partial_json');
      showArguments(block);
      return;
    }
    const isThinking = block.kind === 'thinking';
    if (isThinking) events.open('{"type":"thinking","thinking":"","signature":""}', 'thinking_delta', 'thinking');
    else events.open('{"type":"text","text":""}', 'text_delta', 'text');
    if (!live || block.pieces.isEmpty) return;
    events.add(block.pieces.literal);
    block.pieces = createGrowingText();
  }

  /** From the first on that shows that they are an object. */
  function showArguments(block: CallBlock): void {
    if (!block.call.arguments.isObject) return;
    events.add(block.call.arguments.literal);
    block.isShown = true;
  }

  /** `finish` is why the answer ends, if it does. */
  function close(block: Block, finish?: Finish): void {
    if (block.kind === 'tool_use') {
      calls.delete(block.call);
      const input = inputOf(block.call, finish);
      if (input !== undefined && !live) content.push(`{"type":"tool_use",${block.start},"input":${input}}`);
    } else if (block.kind === 'thinking') {
      const seal = block.thought && writing.seal(decode(block.thought.literal));
      const signature = JSON.stringify(seal ?? '');
      if (seal !== undefined) events.addOnce('signature_delta', 'signature', signature);
      if (!live) content.push(`{"type":"thinking","thinking":${block.pieces.literal},"signature":${signature}}`);
    } else if (!live) content.push(`{"type":"text","text":${block.pieces.literal}}`);
    events.close();
  }

  function begin(block: Block): void {
    waiting.push(block);
    if (waiting.length === 1) open(block);
    else advance();
  }

  /** Closes the first blocks while they are complete and others wait. A text is, as soon as something else comes. */
  function advance(): void {
    for (let [first, next] = waiting; first && next; [first, next] = waiting) {
      if (first.kind === 'tool_use' && !first.call.arguments.isClosed) return;
      close(first);
      waiting.shift();
      open(next);
    }
  }

  function addText(kind: TextBlock['kind'], text: Literal): TextBlock {
    const last = waiting.at(-1);
    const block: TextBlock = last?.kind === kind ? last : createTextBlock(kind);
    if (block !== last) begin(block);
    if (live && block === waiting[0]) events.add(text);
    else block.pieces.add(text);
    return block;
  }

  function finish(reason: Finish, stop: string | undefined): void {
    for (let [block] = waiting; block; [block] = waiting) {
      close(block, reason);
      waiting.shift();
      // What was cut off before it was shown is not begun.
      while (waiting[0]?.kind === 'tool_use' && isCutOff(waiting[0].call, reason)) waiting.shift();
      if (waiting[0]) open(waiting[0]);
    }
    const why = stopReason(reason, stop);
    const counts = `"usage":${usageOf(writing)}`;
    answer = messageOf(`${why},${counts}`);
    events.write('message_delta', `"delta":{${why}},${counts}`);
    events.write('message_stop');
  }

  function stopReason(reason: Finish, stop: string | undefined): string {
    const told = (name: string, text = 'null') => `"stop_reason":"${name}","stop_sequence":${text}`;
    if (reason === 'length') return told('max_tokens');
    if (reason === 'filtered' || hasRefused) return told('refusal');
    if (hasCalled) return told('tool_use');
    return stop === undefined ? told('end_turn') : told('stop_sequence', JSON.stringify(stop));
  }

  const facts: Facts = {
    begin() {
      const nothing = JSON.stringify(counts({ input: 0, read: 0, written: 0, output: 0 }));
      events.write(
        'message_start',
        `"message":${messageOf(`"stop_reason":null,"stop_sequence":null,"usage":${nothing}`)}`,
      );
      events.write('ping');
    },
    thought(text) {
      const block = addText('thinking', writing.showsThoughts ? text : '""');
      block.thought?.add(writing.takeThought());
    },
    said: (text) => addText('text', text),
    refused(text) {
      hasRefused = true;
      addText('refusal', text);
    },
    called(call) {
      hasCalled = true;
      const start = `"id":${JSON.stringify(idOf(call))},"name":${JSON.stringify(tools.find(call.name).name)}`;
      const block: CallBlock = { kind: 'tool_use', call, start, isShown: false };
      calls.set(call, block);
      begin(block);
    },
    argued(call, text) {
      const block = calls.get(call);
      if (block === undefined) return;
      if (block === waiting[0] && block.isShown) events.add(text);
      else if (block === waiting[0]) showArguments(block);
      advance();
    },
    finished: finish,
  };
  return {
    ...facts,
    take: events.take,
    nextSequence: 0,
    get answer() {
      return answer;
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

const counts = (told: { input: number; read: number; written: number; output: number }) => ({
  input_tokens: told.input - told.read - told.written,
  cache_creation_input_tokens: told.written,
  cache_read_input_tokens: told.read,
  output_tokens: told.output,
});

const usageOf = ({ usage }: Writing): string => JSON.stringify(counts(countTokens(usage)));
