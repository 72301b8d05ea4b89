/** A message that waits for its signature. Times are epoch milliseconds. */
export interface Challenge {
  /** The hash of the message. */
  readonly digest: string;
  readonly purpose: string;
  readonly expiresAt: number;
}

/** To let a terminal in, or for everything else. */
export type SessionPurpose = 'terminal' | 'account';

/** A person who is signed in for a while. */
export interface Session {
  readonly member: string;
  /** What alone the member has signed for; absent where that was not said. */
  readonly purpose?: SessionPurpose;
  readonly expiresAt: number;
}

/** A live key's place among those of its member, taken before the key is stored. */
export interface Slot {
  readonly hash: string;
  readonly takenAt: number;
}

/** Members' sign-ins, sessions and live keys. A token marks the one write that takes something. */
export interface MemberStore {
  putChallenge(nonce: string, challenge: Challenge): Promise<void>;
  /** Takes a waiting challenge; false if there is none. */
  takeChallenge(nonce: string, challenge: Omit<Challenge, 'expiresAt'>, now: number, token: string): Promise<boolean>;
  putSession(hash: string, session: Session): Promise<void>;
  findSession(hash: string): Promise<Session | undefined>;
  /** Ends what the member has begun by signing in: sessions, and terminals that were let in and have no key yet. */
  signOut(member: string, now: number): Promise<void>;
  /** Whether the member was signed out at this time or later. */
  wasSignedOut(member: string, since: number): Promise<boolean>;
  /** False if the member has as many keys as it may have. */
  takeSlot(member: string, slot: Slot, limit: number): Promise<boolean>;
  freeSlots(member: string, slots: readonly Slot[]): Promise<void>;
  readSlots(member: string): Promise<readonly Slot[]>;
  /** Gives a key of this member another end, unless it has ended already or its end is fixed. */
  renewKey(hash: string, member: string, expiresAt: number, now: number): Promise<void>;
  /** Revokes a key of this member; one that was revoked before keeps its first date. */
  revokeKey(hash: string, member: string, now: number): Promise<void>;
}

/** A terminal that waits to be signed in. Times are epoch milliseconds. */
export interface PendingDevice {
  /** The hashed device code, which only the terminal knows. */
  readonly device: string;
  /** The network that it asked from. */
  readonly networkId: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** What a person has decided; undefined until then. */
  readonly decision?: 'approved' | 'denied';
  readonly decidedAt?: number;
  /** The member who has approved it. */
  readonly approvedBy?: string;
  /** When it last asked for its key. */
  readonly polledAt?: number;
}

/** The terminals that wait, by the hash of the device code, and of the user code that a person types. */
export interface DeviceFlowStore {
  /** False if the user code belongs to another terminal that waits. */
  put(userCode: string, terminal: PendingDevice, now: number): Promise<boolean>;
  /** Finds the terminal with this user code, and counts the try; undefined if there is none, or it was tried too often. */
  findByUserCode(userCode: string, mostTries: number): Promise<PendingDevice | undefined>;
  find(device: string): Promise<PendingDevice | undefined>;
  /** Notes when the terminal asked for its key. */
  notePoll(device: string, now: number): Promise<void>;
  /** Whether the decision was taken, which is a refusal if nobody approves: the first one counts. */
  decide(device: string, approvedBy: string | undefined, now: number, token: string): Promise<boolean>;
  /** Takes the key that was approved: true for one caller only. */
  take(device: string, now: number, token: string): Promise<boolean>;
}
