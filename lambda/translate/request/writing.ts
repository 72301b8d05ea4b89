import { charactersPerSlice } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { ChatUpstream } from '../options.ts';
import type { ToolTable } from '../tools.ts';
import type { Asking, Raw } from './asking.ts';

/** One request while it is written. */
export interface Writing {
  readonly asking: Asking;
  readonly upstream: ChatUpstream;
  readonly names: ToolTable;
  readonly body: BodyText;
  /** Notes a place that the upstream has nothing for. */
  readonly leaveOut: (at: Node) => void;
}

/** A body's text while it is written. */
export interface BodyText {
  /** Adds JSON text. */
  add(...raws: readonly Raw[]): void;
  /** Whether so much was written since the last pause that one is due. */
  isPauseDue(): boolean;
  /** The text in pieces: long ones of the client's body, and what stands between them. */
  finish(): readonly string[];
}

/** In characters. A shorter piece is joined with its neighbours, because each piece is written by itself. */
const [shortPiece, longestJoined] = [4_096, 65_536];
/** What a piece costs besides its characters. */
const costOfPiece = 16;

export function createBodyText(): BodyText {
  const pieces: string[] = [];
  const short: string[] = [];
  let length = 0;
  let work = 0;
  const join = () => {
    if (length > 0) pieces.push(short.join(''));
    short.length = 0;
    length = 0;
  };
  const addPiece = (piece: string) => {
    work += Math.min(piece.length, shortPiece) + costOfPiece;
    if (piece.length >= shortPiece || length >= longestJoined) join();
    if (piece.length >= shortPiece) pieces.push(piece);
    else {
      short.push(piece);
      length += piece.length;
    }
  };
  return {
    add(...raws) {
      for (const raw of raws) {
        if (typeof raw === 'string') addPiece(raw);
        else for (const piece of raw) addPiece(piece);
      }
    },
    isPauseDue() {
      if (work < charactersPerSlice) return false;
      work = 0;
      return true;
    },
    finish() {
      join();
      return pieces;
    },
  };
}
