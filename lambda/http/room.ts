/** The memory that one request holds for bodies and whole answers, out of what all requests of a process share. */
export interface Room {
  /** Says on whose account it is, before anything is taken. */
  claim(network: string): void;
  /** Takes so many bytes more, or throws what the request is refused with. */
  take(bytes: number): void;
  /** Gives so many bytes back; all of them where no number is given. */
  leave(bytes?: number): void;
}

/** For a platform that gives each request a process of its own. */
export const unlimitedRoom: Room = { claim: () => {}, take: () => {}, leave: () => {} };
