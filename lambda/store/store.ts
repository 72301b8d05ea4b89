import type { NetworkLink } from '../identity/identify.ts';
import type { KeyRecord, KeyRequest } from '../identity/issued-keys.ts';
import type { Counters, GlobalCounters, ScannedCounters } from './counters.ts';
import type { DeviceFlowStore, MemberStore } from './sign-in.ts';

/** The store on the request path: keys, counters, the stop switch. */
export interface Store {
  readonly keys: KeyReader;
  readonly counters: Counters;
  readonly globalCounters: GlobalCounters;
  /** Undefined unless an operator has stopped the deployment. */
  readStop(): Promise<Stop | undefined>;
  /** Aborts all running and future calls, because the process is about to end. */
  giveUp(): void;
}

/** The store for the account pages and the operator's commands. No inference request waits for it. */
export interface AdminStore {
  readonly keys: KeyStore;
  readonly members: MemberStore;
  readonly deviceFlow: DeviceFlowStore;
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

export interface StoredKey {
  readonly hash: string;
  readonly record: KeyRecord;
}

/** What can be changed about an issued key. */
export type KeyChanges = Partial<Omit<KeyRequest, 'member' | 'label'>>;

/** Keys and linked networks. */
export interface KeyStore extends KeyReader {
  put(hash: string, record: KeyRecord): Promise<void>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** All keys, or those of one member, newest first. */
  list(member?: string): Promise<readonly KeyRecord[]>;
  /** All keys with their hashes, to be put into another store. */
  listStored(): Promise<readonly StoredKey[]>;
  /** Idempotent: a revoked key keeps its first date. Returns undefined if there is no such key. */
  revoke(id: string, now: number): Promise<KeyRecord | undefined>;
  /** An undefined value removes the field. Returns undefined if there is no such key. */
  change(id: string, changes: KeyChanges): Promise<KeyRecord | undefined>;
  /** Replaces the network's previous link. */
  link(networkId: string, link: NetworkLink): Promise<void>;
  /** Returns the removed link, if there was one. */
  unlink(networkId: string): Promise<NetworkLink | undefined>;
}

export interface Stop {
  /** In ISO 8601; empty if an operator created the item by hand without it. */
  readonly at: string;
  /** Shown to callers. */
  readonly reason?: string | undefined;
  /** Earlier stops that were not lifted in between, oldest first. */
  readonly earlier?: readonly Stop[] | undefined;
}

/** Stops and resumes the whole deployment. */
export interface StopSwitch {
  read(): Promise<Stop | undefined>;
  /** Returns the new stop, with the earlier ones. Without a reason, it takes over the latest one. */
  stop(stop: Stop): Promise<Stop>;
  /** Returns the lifted stop, if there was one. */
  resume(): Promise<Stop | undefined>;
}

/** Counters for operators, who view them and release what lost requests had reserved. */
export interface AdminCounters extends Pick<Counters, 'read' | 'settle'> {
  /** Reads all callers' counters as of a point in time, page by page. Awaits `onPause` between two pages. */
  scan(now: number, onPause: () => Promise<void>): AsyncGenerator<ScannedCounters>;
}
