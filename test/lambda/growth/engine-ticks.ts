import { gzipSync } from 'node:zlib';
import { json } from '../../../local/upstream/script.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { PRICES } from '../../support/prices.ts';

interface Sent {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** The longest time that passes between two turns of the event loop, in milliseconds, until it is asked. */
export function watchTurns(): () => number {
  let longest = 0;
  let isOver = false;
  let [at, used] = [performance.now(), process.threadCpuUsage()];
  const turn = () => {
    const { user, system } = process.threadCpuUsage(used);
    // Neighbours on the machine do not count.
    longest = Math.max(longest, Math.min(performance.now() - at, (user + system) / 1000));
    [at, used] = [performance.now(), process.threadCpuUsage()];
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return longest;
  };
}

const environment = { PRICES, MEMBER_LIMIT: '1000', BURST_LIMIT: '1000' };

/** Sends requests of a caller with a budget over HTTP, whose client and upstream are in this process too. */
export async function tickOnEngines(requests: readonly Sent[]) {
  const ticks: { readonly name: string; readonly ms: number }[] = [];
  for (const engine of ['function-url', 'web'] as const) {
    for (const dialects of ['chat,responses,messages', 'chat']) {
      const settings = { ...environment, UPSTREAM_DIALECTS: dialects };
      await using gateway = await startTestGateway({ engine, environment: settings });
      gateway.upstream.otherwise(json(500, { error: {} }));
      const key = await gateway.issueKey({ budget: 1e12, budgetWindow: 'month' });
      for (const { name, path, text } of requests) {
        const body = gzipSync(text);
        let ms = Number.POSITIVE_INFINITY;
        for (let time = 0; time < 3; time += 1) {
          const stop = watchTurns();
          const headers = { 'content-encoding': 'gzip', 'x-api-key': key };
          await (await fetch(gateway.url + path, { method: 'POST', headers, body })).text();
          ms = Math.min(ms, stop());
        }
        ticks.push({ name: `${engine}, an upstream of ${dialects}: ${name}`, ms });
      }
    }
  }
  return ticks;
}
