import type { Node } from '../../../json/scan.ts';
import { createToolTable, type ToolNames, type ToolTable } from '../tools.ts';
import { firstOf, type LeftOut, namePlaces } from './left-out.ts';
import type { ModelRequest, Raw } from './model-request.ts';
import { refuse } from './refuse-item.ts';

/** One request while it is written. */
export interface RequestWriter {
  readonly request: ModelRequest;
  readonly upstream: UpstreamOptions;
  readonly names: ToolTable;
  readonly body: BodyText;
  /** Notes a place that the upstream has nothing for. */
  readonly leaveOut: (at: Node) => void;
  /** Notes that the body has a thought of the model. */
  readonly noteReasoning: () => void;
}

export interface WrittenRequest extends LeftOut {
  /** The body's text in pieces, so that a long one need never be joined. */
  readonly pieces: readonly string[];
  readonly leftOutNodes: ReadonlySet<Node>;
  /** The way back from the names of its tools. */
  readonly tools: ToolNames;
  /** Whether the model is shown thoughts of its own again. */
  readonly hasReasoning: boolean;
}

interface WriterParts extends Pick<RequestWriter, 'request' | 'upstream'> {
  /** How many characters the name of a tool may have. */
  readonly longestName: number;
}

/** Writes a body, and keeps a record of what it leaves out. */
export function writeRequest(
  { request, upstream, longestName }: WriterParts,
  write: (writer: RequestWriter) => void,
): WrittenRequest {
  const { json, unread } = request;
  const [unknown] = unread;
  if (upstream.unknown === 'refuse' && unknown !== undefined) {
    refuse(request, unknown, 'is not supported with this model. Leave it out.');
  }
  const leftOut: Node[] = [...request.leftOut, ...unread];
  const body = createBodyText();
  const tools = createToolTable(longestName);
  let hasReasoning = false;
  const noteReasoning = () => {
    hasReasoning = true;
  };
  write({ request, upstream, names: tools, body, leaveOut: (at) => leftOut.push(at), noteReasoning });
  const named = firstOf(leftOut);
  const unnamed = new Set(firstOf(unread));
  return {
    pieces: body.finish(),
    leftOut: namePlaces(json, named, leftOut.length),
    leftOutForLog: namePlaces(json, named, leftOut.length, unnamed),
    leftOutNodes: new Set(leftOut),
    tools: tools.renamed,
    hasReasoning,
  };
}

/** In characters. A shorter piece is joined with its neighbours, because each piece is written by itself. */
const [shortPiece, longestJoined] = [4_096, 65_536];

export type BodyText = ReturnType<typeof createBodyText>;

/** A body's text while it is written. */
function createBodyText() {
  const pieces: string[] = [];
  let short: Raw[] = [];
  let shortLength = 0;
  // Not one by one: the text of many small additions is put together when it is first read, all pieces at once by then.
  const join = () => {
    if (shortLength > 0) pieces.push(short.join(''));
    [short, shortLength] = [[], 0];
  };
  return {
    /** Adds JSON text. */
    add(...raws: readonly Raw[]): void {
      for (const raw of raws) {
        const isLong = raw.length >= shortPiece;
        if (isLong || shortLength >= longestJoined) join();
        if (isLong) pieces.push(raw);
        else {
          short.push(raw);
          shortLength += raw.length;
        }
      }
    },
    /** The text in pieces: long ones of the client's body, and what stands between them. */
    finish(): readonly string[] {
      join();
      return pieces;
    },
  };
}

/** What an operator says of an upstream that requests are translated for, because no gateway could guess it. */
export interface UpstreamOptions {
  /** What it calls the limit of an answer. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens';
  /** The limit of an answer whose client names none. */
  readonly limit?: number | undefined;
  /** The member by which it is told how much to reason. */
  readonly reasoning: 'none' | 'reasoning_effort' | 'thinking' | 'enable_thinking' | 'chat_template_kwargs';
  /** The levels that it knows, for `reasoning_effort`. */
  readonly levels: readonly string[];
  /** Whether the model's earlier reasoning goes back to it, as `reasoning_content` or as `reasoning`. */
  readonly replay: 'back' | 'back-as-reasoning' | 'never';
  /** System messages after the first user message: folded into the one before, or kept as they are. */
  readonly systemTurns: 'fold' | 'keep';
  /** Where images of a tool's output go: into a user message after it, or into the tool's message. */
  readonly toolImages: 'after' | 'inline' | 'refuse';
  /** What becomes of members that the gateway does not know. */
  readonly unknown: 'leave-out' | 'refuse';
  /** Whether an upstream of messages is asked to cache prompts. */
  readonly cacheMarks: boolean;
  /** Whether streams are asked for their usage. Some vendors refuse the question, and tell it anyway. */
  readonly streamOptions: 'send' | 'omit';
}
