import { createServer } from 'node:http';
import { listenLocally } from '../../local/listen-locally.ts';

/** A port for a gateway whose address must be known before it listens, as providers send browsers back to that only. */
export async function findFreePort(): Promise<number> {
  const { url, close } = await listenLocally(createServer());
  await close();
  return Number(new URL(url).port);
}
