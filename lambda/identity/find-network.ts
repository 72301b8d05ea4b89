import type { KeyObject } from 'node:crypto';
import type { RequestHeaders } from './credentials.ts';
import { networkId, networkOf, siteOf } from './network.ts';
import type { LocateViewer } from './viewer-address.ts';

export interface Network {
  /** As it is stored and logged: a keyed hash. */
  readonly id: string;
  /** In plain form: an IPv4 address, or the /64 of an IPv6 address. Shown only to its owner, and not kept. */
  readonly name: string;
  /** What memory is shared by, in plain form, and kept as long as the request: an IPv4 address, or the /48 of an IPv6 address. */
  readonly site: string;
}

/** Finds the network that a request came from. Throws if its address or the salt is missing. */
export type FindNetwork = (headers: RequestHeaders, sourceAddress: string) => Promise<Network>;

interface Dependencies {
  readonly locateViewer: LocateViewer;
  readonly networkKey: () => Promise<KeyObject>;
}

export function createFindNetwork({ locateViewer, networkKey }: Dependencies): FindNetwork {
  return async (headers, sourceAddress) => {
    const [address, key] = await Promise.all([locateViewer(headers, sourceAddress), networkKey()]);
    const name = networkOf(address) ?? address;
    return { id: networkId(name, key), name, site: siteOf(name) };
  };
}
