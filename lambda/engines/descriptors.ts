import { readFileSync } from 'node:fs';

/** Lambda's limit, and the one assumed if the system does not tell. */
const fewest = 1_024;
/** For connections to tables and secrets, files and pipes. */
const reserved = 256;

/** The connections allowed to clients and to upstreams, so that the process never runs out of descriptors. */
export function shareDescriptors(limit = descriptorLimit()): { readonly clients: number; readonly upstreams: number } {
  // Each request has one connection of either kind.
  const half = Math.floor((limit - reserved) / 2);
  return { clients: half, upstreams: half };
}

/** The hard limit, to which Node raises its own. */
function descriptorLimit(): number {
  try {
    const [, most = ''] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(most) || fewest;
  } catch {
    return fewest; // not Linux
  }
}
