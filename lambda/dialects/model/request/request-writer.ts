import type { Node } from '../../../json/scan.ts';
import { createToolTable, type ToolNames, type ToolTable } from '../tools.ts';
import { firstOf, type LeftOut, namePlaces } from './left-out.ts';
import type { ModelRequest, Raw } from './model-request.ts';
import { refuse } from './refuse-item.ts';

/** The state of writing one request. */
export interface RequestWriter {
  readonly request: ModelRequest;
  readonly upstream: UpstreamOptions;
  readonly names: ToolTable;
  readonly body: BodyText;
  /** Records a place that is left out, because the upstream has nothing like it. */
  readonly leaveOut: (at: Node) => void;
  /** Records that the body replays reasoning. */
  readonly noteReasoning: () => void;
}

export interface WrittenRequest extends LeftOut {
  /** The body in pieces, so that a long one need never be joined. */
  readonly pieces: readonly string[];
  readonly leftOutNodes: ReadonlySet<Node>;
  /** Maps upstream tool names back to the client's tools. */
  readonly tools: ToolNames;
  /** Whether it replays reasoning to the model. */
  readonly hasReasoning: boolean;
}

interface WriterParts extends Pick<RequestWriter, 'request' | 'upstream'> {
  /** The limit for a tool's name, in characters. */
  readonly longestName: number;
}

/** Writes a body, and records what it leaves out. */
export function writeRequest(
  { request, upstream, longestName }: WriterParts,
  write: (writer: RequestWriter) => void,
): WrittenRequest {
  const { json, unknown } = request;
  const [first] = unknown;
  if (upstream.unknown === 'refuse' && first !== undefined) {
    refuse(request, first, 'is not supported with this model. Leave it out.');
  }
  const leftOut: Node[] = [...request.leftOut, ...unknown];
  const body = createBodyText();
  const tools = createToolTable(longestName);
  let hasReasoning = false;
  const noteReasoning = () => {
    hasReasoning = true;
  };
  write({ request, upstream, names: tools, body, leaveOut: (at) => leftOut.push(at), noteReasoning });
  const named = firstOf(leftOut);
  const unnamed = new Set(firstOf(unknown));
  return {
    pieces: body.finish(),
    leftOut: namePlaces(json, named, leftOut.length),
    leftOutForLog: namePlaces(json, named, leftOut.length, unnamed),
    leftOutNodes: new Set(leftOut),
    tools: tools.renamed,
    hasReasoning,
  };
}

/** In characters. Shorter pieces are joined, because each costs a write of its own. */
const [shortPiece, longestJoined] = [4_096, 65_536];

export type BodyText = ReturnType<typeof createBodyText>;

/** Builds the text of a body. */
function createBodyText() {
  const pieces: string[] = [];
  let short: Raw[] = [];
  let shortLength = 0;
  // Not with `+=`: V8 would put the text of many small additions together only when it is first read, all of it at once.
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
    /** The text in pieces: long ones from the client's body, and what stands between them. */
    finish(): readonly string[] {
      join();
      return pieces;
    },
  };
}

/** What an operator configures for an upstream that requests are translated for, because the gateway can't know it. */
export interface UpstreamOptions {
  /** Its name for the output limit. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens';
  /** The output limit for a request without one. */
  readonly limit?: number | undefined;
  /** Its member for how much to reason. */
  readonly reasoning: 'none' | 'reasoning_effort' | 'thinking' | 'enable_thinking' | 'chat_template_kwargs';
  /** Its levels of `reasoning_effort`. */
  readonly levels: readonly string[];
  /** Whether to replay earlier reasoning, as `reasoning_content` or as `reasoning`. */
  readonly replay: 'back' | 'back-as-reasoning' | 'never';
  /** Whether to fold system messages after the first user message into the message before. */
  readonly systemTurns: 'fold' | 'keep';
  /** Where images in a tool's output go: into a user message after it, or into the tool's message. */
  readonly toolImages: 'after' | 'inline' | 'refuse';
  /** What to do with members that the gateway does not know. */
  readonly unknown: 'leave-out' | 'refuse';
  /** Whether to ask an upstream of messages to cache prompts. */
  readonly cacheMarks: boolean;
  /** Whether to ask streams for their usage. Some vendors refuse the option, and send the usage anyway. */
  readonly streamOptions: 'send' | 'omit';
}
