/** One request's share of the process's memory for buffered bodies and responses. */
export interface Memory {
  /** Says which site's network the memory counts for: of an IPv6 address its /48. Must come before any `take`. */
  claim(site: string): void;
  /**
   * Reserves this many more bytes, for a buffer that will then have `whole` of them. If there is not enough, releases everything
   * and throws the error to refuse the request with.
   */
  take(bytes: number, whole?: number): void;
  /** Releases this many bytes, or all of them. */
  leave(bytes?: number): void;
  /** Releases all but this many bytes. */
  leaveAllBut(bytes: number): void;
}

/** For platforms that give each request its own process. */
export const unlimitedMemory: Memory = {
  claim: () => {},
  take: () => {},
  leave: () => {},
  leaveAllBut: () => {},
};
