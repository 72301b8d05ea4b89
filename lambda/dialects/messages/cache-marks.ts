import type { Part, Raw, Said, ToolCall, ToolDefinition, ToolResult } from '../model/request/model-request.ts';
import type { RequestWriter } from '../model/request/request-writer.ts';
import type { Selection } from '../model/request/select-tools.ts';
import { isBlank, type Message } from './arrange-turns.ts';

/** Always asks for the shortest TTL, whatever the client asks: the operator would pay more for a longer one. */
const mark = ',"cache_control":{"type":"ephemeral"}';
/** Upstreams refuse more. */
const mostMarks = 4;

/** The source of a block in the prompt. */
type Block = Part | Said | ToolCall | ToolResult | ToolDefinition;

/** Returns the cache mark of a block, or an empty text. */
export type MarkOf = (block: Block | undefined) => Raw;

/** Chooses the blocks up to which the upstream caches the prompt: the client's marks, or else the ends of tools, instructions and messages. */
export function chooseMarks({ upstream }: RequestWriter, { tools }: Selection, messages: readonly Message[]): MarkOf {
  if (!upstream.cacheMarks) return () => '';
  const own: Block[] = [];
  let last: Block | undefined;
  for (const block of blocksOf(tools, messages)) {
    last = block;
    if (block.isMarked && !('text' in block && isBlank(block.text))) own.push(block);
    if (own.length > mostMarks) own.shift();
  }
  const instructions = messages[0]?.role === 'system' ? messages[0].parts : [];
  const marked = new Set(own.length > 0 ? own : [tools.at(-1)?.[1], instructions.at(-1), last]);
  return (block) => (block !== undefined && marked.has(block) ? mark : '');
}

/** All blocks, in the order of the prompt. */
function* blocksOf(tools: Selection['tools'], messages: readonly Message[]): Generator<Block, void> {
  for (const [, tool] of tools) yield tool;
  for (const message of messages) {
    if (message.role === 'assistant') yield* message.turn.content;
    else {
      if (message.role === 'user') for (const { result } of message.results) if (result !== undefined) yield result;
      yield* message.parts;
    }
  }
}
