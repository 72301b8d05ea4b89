/** One request's part of the memory that a process has for bodies and whole answers. */
export interface Memory {
  /** Names the network that it counts for. Must be called before anything is taken. */
  claim(network: string): void;
  /**
   * Takes this many more bytes, for a text that then has `whole` of them. If there is not enough, gives back all that was taken
   * and throws the error to refuse the request with.
   */
  take(bytes: number, whole?: number): void;
  /** Gives bytes back; all of them if no number is given. */
  leave(bytes?: number): void;
  /** Gives back all but this many bytes. */
  leaveAllBut(bytes: number): void;
}

/** For a platform that gives each request a process of its own. */
export const unlimitedMemory: Memory = {
  claim: () => {},
  take: () => {},
  leave: () => {},
  leaveAllBut: () => {},
};
