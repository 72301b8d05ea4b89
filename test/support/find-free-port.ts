import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import { listenLocally } from '../../local/listen-locally.ts';

/**
 * A port for a gateway whose address must be known before it listens, because providers redirect browsers only to that. It is
 * outside the ephemeral range, from which other tests open thousands of connections meanwhile.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const found = await listenLocally(createServer(), port).catch(() => undefined);
    if (!found) continue;
    await found.close();
    return port;
  }
}
