import { charactersPerSlice } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { ToolTable } from '../tools.ts';
import type { ModelRequest, Raw } from './model-request.ts';

/** One request while it is written. */
export interface RequestWriter {
  readonly request: ModelRequest;
  readonly upstream: ChatUpstream;
  readonly names: ToolTable;
  readonly body: BodyText;
  /** Notes a place that the upstream has nothing for. */
  readonly leaveOut: (at: Node) => void;
}

/** In characters. A shorter piece is joined with its neighbours, because each piece is written by itself. */
const [shortPiece, longestJoined] = [4_096, 65_536];
/** What a piece costs besides its characters. */
const costOfPiece = 16;

export type BodyText = ReturnType<typeof createBodyText>;

/** A body's text while it is written. */
export function createBodyText() {
  const pieces: string[] = [];
  let short = '';
  let work = 0;
  const join = () => {
    if (short !== '') pieces.push(short);
    short = '';
  };
  return {
    /** Adds JSON text. */
    add(...raws: readonly Raw[]): void {
      for (const raw of raws) {
        const isLong = raw.length >= shortPiece;
        work += Math.min(raw.length, shortPiece) + costOfPiece;
        if (isLong || short.length >= longestJoined) join();
        if (isLong) pieces.push(raw);
        else short += raw;
      }
    },
    /** Whether so much was done since the last pause that one is due. `cost`: of what was done besides writing, in characters. */
    isPauseDue(cost = 0): boolean {
      work += cost;
      if (work < charactersPerSlice) return false;
      work = 0;
      return true;
    },
    /** The text in pieces: long ones of the client's body, and what stands between them. */
    finish(): readonly string[] {
      join();
      return pieces;
    },
  };
}

/** What an operator says of an upstream that speaks chat, because no gateway could guess it. */
export interface ChatUpstream {
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
  /** Whether streams are asked for their usage. Some vendors refuse the question, and tell it anyway. */
  readonly streamOptions: 'send' | 'omit';
}
