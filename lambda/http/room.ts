/** One request's part of the memory that a process has for bodies and whole answers. */
export interface Room {
  /** Names the network that it counts for. Must be called before anything is taken. */
  claim(network: string): void;
  /** Takes this many more bytes, or throws the error to refuse the request with. */
  take(bytes: number): void;
  /** Gives bytes back; all of them if no number is given. */
  leave(bytes?: number): void;
}

/** For a platform that gives each request a process of its own. */
export const unlimitedRoom: Room = { claim: () => {}, take: () => {}, leave: () => {} };
