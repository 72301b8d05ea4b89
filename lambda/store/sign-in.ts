/** A message that waits to be signed. Times are epoch milliseconds. */
export interface Challenge {
  /** Of the message. */
  readonly digest: string;
  readonly purpose: string;
  readonly expiresAt: number;
}

/** To approve a device, or for anything else. */
export type SessionPurpose = 'terminal' | 'account';

export interface Session {
  readonly member: string;
  /** The only purpose that the session is valid for; absent if it is valid for all. */
  readonly purpose?: SessionPurpose;
  readonly expiresAt: number;
}

/** One of a member's places for live keys, taken before the key is stored. */
export interface Slot {
  readonly hash: string;
  readonly takenAt: number;
}

/** Members' sign-ins, sessions and live keys. An idempotency token marks the one write that takes something. */
export interface MemberStore {
  putChallenge(nonce: string, challenge: Challenge): Promise<void>;
  /** Uses up a challenge; false if there is none. */
  takeChallenge(nonce: string, challenge: Omit<Challenge, 'expiresAt'>, now: number, token: string): Promise<boolean>;
  putSession(hash: string, session: Session): Promise<void>;
  findSession(hash: string): Promise<Session | undefined>;
  /** Ends all sessions, and device flows that are approved but have no key yet. */
  signOut(member: string, now: number): Promise<void>;
  /** Whether the member was signed out at this time or later. */
  wasSignedOut(member: string, since: number): Promise<boolean>;
  /** False if all slots are taken. */
  takeSlot(member: string, slot: Slot, limit: number): Promise<boolean>;
  freeSlots(member: string, slots: readonly Slot[]): Promise<void>;
  readSlots(member: string): Promise<readonly Slot[]>;
  /** Changes when a member's key expires, unless it is expired, revoked or not renewable. */
  renewKey(hash: string, member: string, expiresAt: number, now: number): Promise<void>;
  /** Revokes a member's key. Idempotent: a revoked key keeps its first date. */
  revokeKey(hash: string, member: string, now: number): Promise<void>;
}

/** A device flow in progress. Times are epoch milliseconds. */
export interface PendingDevice {
  /** The hash of the device code, which only the device knows. */
  readonly device: string;
  /** Where the device flow was started. */
  readonly networkId: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Undefined until a person decides. */
  readonly decision?: 'approved' | 'denied';
  readonly decidedAt?: number;
  /** The member who approved it. */
  readonly approvedBy?: string;
  /** The device's latest poll. */
  readonly polledAt?: number;
}

/** Pending devices, by the hash of their device code or of the user code that a person types. */
export interface DeviceFlowStore {
  /** False if the user code is already in use. */
  put(userCode: string, pending: PendingDevice, now: number): Promise<boolean>;
  /** Finds a device by user code and counts the try. Undefined if there is none, or it was tried too often. */
  findByUserCode(userCode: string, mostTries: number): Promise<PendingDevice | undefined>;
  find(device: string): Promise<PendingDevice | undefined>;
  /** Records when the device polled. */
  notePoll(device: string, now: number): Promise<void>;
  /** Approves the device, or denies it if `approvedBy` is undefined. The first decision counts; false for any later one. */
  decide(device: string, approvedBy: string | undefined, now: number, token: string): Promise<boolean>;
  /** Claims the key of an approved device: true for one caller only. */
  take(device: string, now: number, token: string): Promise<boolean>;
}
