import type { Room } from './room.ts';

/** A body as its engine has it: text where the platform has decoded it already, else bytes. */
export type Body = string | Uint8Array;

/** One request as it reaches an app, whatever platform took it: an engine makes it, and writes the response. */
export interface Call {
  readonly method: string;
  /** Percent-encoded as it came, without the query. */
  readonly path: string;
  /** By lower-case name; the values of a repeated one are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The host that was called, with its port where that isn't the usual one. */
  readonly host: string;
  /** Who holds the other end of the connection. */
  readonly sourceAddress: string;
  /** The size of the body in bytes, as it came. Rejects where it doesn't come, or finds no room. */
  bodySize(): number | Promise<number>;
  /** The same of a body that nobody will take: it is not kept. */
  dropBody(): number | Promise<number>;
  /** The body, once: whoever takes it holds the only reference. */
  takeBody(): Promise<Body>;
  /** What the request may hold in memory; all of it is given back when its answer is over. */
  readonly room: Room;
  /** Milliseconds until the platform gives up. */
  timeLeft(): number;
  /** Aborts when the client goes away, where the platform tells. */
  readonly clientGone: AbortSignal | undefined;
  /** Where the process may be told to stop: aborts, with the error that is left to say, when it can't wait for the answer. */
  readonly cutShort: AbortSignal | undefined;
  /** Whether the process takes requests, where others have to ask it for that; undefined where the platform knows. */
  readonly health?: 'serving' | 'stopping';
}
