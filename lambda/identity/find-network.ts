import type { RequestHeaders } from './credentials.ts';
import { networkId, networkOf } from './network.ts';
import type { LocateViewer } from './viewer-address.ts';

export interface Network {
  /** As it is stored and logged: a keyed hash. */
  readonly id: string;
  /** In plain form: an IPv4 address, or the /64 of an IPv6 address. Shown only to its owner, and not kept. */
  readonly name: string;
}

/** Finds the network that a request came from. Throws if its address or the salt is missing. */
export type FindNetwork = (headers: RequestHeaders, sourceAddress: string) => Promise<Network>;

interface Dependencies {
  readonly locateViewer: LocateViewer;
  readonly networkSalt: () => Promise<string>;
}

export function createFindNetwork({ locateViewer, networkSalt }: Dependencies): FindNetwork {
  return async (headers, sourceAddress) => {
    const [address, salt] = await Promise.all([locateViewer(headers, sourceAddress), networkSalt()]);
    const name = networkOf(address) ?? address;
    return { id: networkId(name, salt), name };
  };
}
