import type { NetworkLink } from '../identity/identify.ts';
import type { KeyRecord, KeyRequest } from '../identity/issued-keys.ts';
import type { Counters, GlobalCounters, ScannedCounters } from './counters.ts';
import type { DeviceFlowStore, MemberStore } from './sign-in.ts';

/** What requests read and count. */
export interface Store {
  readonly keys: KeyReader;
  readonly counters: Counters;
  readonly globalCounters: GlobalCounters;
  /** The stop that operators have ordered, if they have. */
  readStop(): Promise<Stop | undefined>;
  /** Gives up what is under way, and all that is asked from now on: the process ends. */
  giveUp(): void;
}

/** What people and operators read and write. No inference request waits for it. */
export interface AdminStore {
  readonly keys: KeyStore;
  readonly members: MemberStore;
  readonly terminals: DeviceFlowStore;
  readonly counters: AdminCounters;
  readonly stopSwitch: StopSwitch;
}

/** Keys and linked networks, as requests read them. */
export interface KeyReader {
  findKey(hash: string): Promise<KeyRecord | undefined>;
  findLink(networkId: string): Promise<NetworkLink | undefined>;
  /** Whether any key was ever issued. */
  anyKeyIssued(): Promise<boolean>;
}

/** What can be changed about a key. */
export type KeyChanges = Partial<Omit<KeyRequest, 'member' | 'label'>>;

/** Keys and linked networks. */
export interface KeyStore extends KeyReader {
  put(hash: string, record: KeyRecord): Promise<void>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** All of them, or those of one member, newest first. */
  list(member?: string): Promise<readonly KeyRecord[]>;
  /** Undefined if there is no such key. A key that was revoked before keeps its first date. */
  revoke(id: string, now: number): Promise<KeyRecord | undefined>;
  /** A change to undefined removes what the key was issued with. Undefined if there is no such key. */
  change(id: string, changes: KeyChanges): Promise<KeyRecord | undefined>;
  /** Replaces an earlier link of the network. */
  link(networkId: string, link: NetworkLink): Promise<void>;
  /** The link that there was; undefined if there was none. */
  unlink(networkId: string): Promise<NetworkLink | undefined>;
}

export interface Stop {
  /** When it was stopped, in ISO 8601; empty if the item was put by hand without it. */
  readonly at: string;
  /** Shown to callers. */
  readonly reason?: string | undefined;
  /** The stops before this one that nobody had lifted, the oldest first. */
  readonly earlier?: readonly Stop[] | undefined;
}

/** Stops the whole deployment, and lets it go on. */
export interface StopSwitch {
  read(): Promise<Stop | undefined>;
  /** Returns the stop as it now stands, with those before it, whose last reason holds where there is no new one. */
  stop(stop: Stop): Promise<Stop>;
  /** The stop that was lifted; undefined if there was none. */
  resume(): Promise<Stop | undefined>;
}

/** What is counted, for operators: they look at it, and give back what lost requests had reserved. */
export interface AdminCounters extends Pick<Counters, 'read' | 'settle'> {
  /** Reads what is used at a time from everybody's counters, page by page; awaits `onPause` between two pages. */
  scan(now: number, onPause: () => Promise<void>): AsyncGenerator<ScannedCounters>;
}
