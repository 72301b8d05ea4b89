import { readFileSync } from 'node:fs';

/** What Lambda gives, and what is assumed where the system does not say. */
const fewest = 1_024;
/** For the tables, the secrets, files and pipes. */
const reserved = 256;

/** How many connections there may be to clients and to upstreams, so that the process never runs out of descriptors. */
export function shareDescriptors(limit = descriptorLimit()): { readonly clients: number; readonly upstreams: number } {
  // Each request has one connection of either kind.
  const half = Math.floor((limit - reserved) / 2);
  return { clients: half, upstreams: half };
}

/** Node raises its own limit to the most that the system allows. */
function descriptorLimit(): number {
  try {
    const [, most = ''] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(most) || fewest;
  } catch {
    return fewest; // not Linux
  }
}
