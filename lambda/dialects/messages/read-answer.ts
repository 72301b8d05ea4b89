import type { Piece } from '../../json/pieces.ts';
import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { AnswerDialect, AnswerReader } from '../model/answer/answer-reader.ts';
import { type AnswerSink, type Finish, type TextKind, UpstreamFault } from '../model/answer/answer-sink.ts';
import { createBlockReader, type OpenBlock } from './answer-blocks.ts';
import { createSignedReasoning } from './signed-reasoning.ts';

/** Reads messages from an upstream. */
export const messagesAnswers: AnswerDialect = {
  open(stops, changes) {
    const reasoning = createSignedReasoning(changes);
    return { reasoning, createReader: (sink) => createMessagesReader(sink, stops, reasoning.endBlock) };
  },
};

/**
 * Reads the events of a message, or a plain one. `stops`: the caller's stop sequences. `endReasoningBlock` is called at the end of each
 * reasoning block.
 */
function createMessagesReader(
  sink: AnswerSink,
  stops: ReadonlySet<string>,
  endReasoningBlock: () => void,
): AnswerReader {
  const blocks = createBlockReader(sink, endReasoningBlock);
  const openBlock = createOpenBlock(blocks);
  let hasBegun = false;
  let isOver = false;
  let end: End | undefined;
  let last: TextKind | undefined; // only if the last event held nothing but a text

  function begin(): void {
    if (hasBegun) throw new UpstreamFault('the message begins twice');
    hasBegun = true;
    sink.begin();
  }

  function finish(): readonly Piece[] {
    isOver = true;
    if (end === undefined) throw new UpstreamFault('the message does not say why it ends');
    return sink.finish(end.reason, end.stop);
  }

  const readers: Readonly<Record<string, (json: Json) => void>> = {
    message_start: begin,
    content_block_start: openBlock.begin,
    content_block_delta(json) {
      last = openBlock.addDelta(json);
    },
    content_block_stop: openBlock.end,
    message_delta(json) {
      end = readEnd(json, presentMember(json, json.root, 'delta'), stops) ?? end;
    },
    message_stop: () => void finish(),
  };

  return {
    readEvent(json) {
      last = undefined;
      if (isOver) return;
      const type = stringMember(json, json.root, 'type') ?? '';
      const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
      if (read === undefined) return; // pings, and events that don't exist yet
      if (!hasBegun && type !== 'message_start') throw new UpstreamFault('the message has not begun');
      read(json);
    },
    readAnswer(json) {
      const content = presentMember(json, json.root, 'content');
      if (content === undefined || json.kind(content) !== 'array') throw new UpstreamFault('the answer has no content');
      begin();
      for (const block of elements(json, content)) {
        const begun = blocks.begin(json, block);
        blocks.end(begun);
      }
      end = readEnd(json, json.root, stops);
      return finish();
    },
    repeat(text) {
      if (last === undefined || isOver) return false;
      blocks.addText(last, text);
      return true;
    },
    end() {
      if (!isOver) finish();
    },
    get isOver() {
      return isOver;
    },
  };
}

/** The open block of a stream. There is only one at a time. */
function createOpenBlock(blocks: ReturnType<typeof createBlockReader>) {
  let open: { readonly index: number; readonly block: OpenBlock } | undefined;
  return {
    begin(json: Json): void {
      const block = presentMember(json, json.root, 'content_block');
      if (open !== undefined || block === undefined) throw new UpstreamFault('a block begins within another');
      open = { index: numberMember(json, json.root, 'index') ?? 0, block: blocks.begin(json, block) };
    },
    /** Returns the kind of text, if the next event may continue it. */
    addDelta(json: Json): TextKind | undefined {
      // Text that was held back past the end of its block, as a name might begin in it, comes in an event with a null index.
      const at = json.member(json.root, 'index');
      if (at !== undefined && json.kind(at) === 'null') {
        blocks.addDelta(json, { type: 'text' });
        return undefined;
      }
      if (open?.index !== (numberMember(json, json.root, 'index') ?? 0)) {
        throw new UpstreamFault('a delta belongs to no block');
      }
      return blocks.addDelta(json, open.block);
    },
    end(): void {
      if (open === undefined) throw new UpstreamFault('a block ends that has not begun');
      blocks.end(open.block);
      open = undefined;
    },
  };
}

/** Why a message ends, and at which of the caller's stop sequences. */
interface End {
  readonly reason: Finish;
  readonly stop: string | undefined;
}

function readEnd(json: Json, holder: Node | undefined, stops: ReadonlySet<string>): End | undefined {
  const reason = stringMember(json, holder, 'stop_reason');
  if (reason === undefined) return undefined;
  const stop = stringMember(json, holder, 'stop_sequence');
  return { reason: toFinish(reason), stop: stop !== undefined && stops.has(stop) ? stop : undefined };
}

const finishes: Readonly<Record<string, Finish>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
};

function toFinish(reason: string): Finish {
  // Only the vendor's hosted tools pause a turn, and none was offered.
  if (reason === 'pause_turn') throw new UpstreamFault('the message pauses');
  return Object.hasOwn(finishes, reason) ? (finishes[reason] ?? 'done') : 'done';
}
