import { gzipSync } from 'node:zlib';
import { json } from '../../../local/upstream/script.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { PRICES } from '../../support/prices.ts';
import { longestTurn } from './longest-turn.ts';

interface Sent {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

const environment = { PRICES, MEMBER_LIMIT: '1000', BURST_LIMIT: '1000' };

/**
 * Sends requests of a caller with a budget over HTTP to the server, whose client and upstream are in this process too. The function does
 * not share its loop: an instance serves one request at a time.
 */
export async function tickOnServer(requests: readonly Sent[]) {
  const ticks: { readonly name: string; readonly ms: number }[] = [];
  for (const dialects of ['chat,responses,messages', 'chat']) {
    const settings = { ...environment, UPSTREAM_DIALECTS: dialects };
    await using gateway = await startTestGateway({ engine: 'web', environment: settings });
    gateway.upstream.otherwise(json(500, { error: {} }));
    const key = await gateway.issueKey({ budget: 1e12, budgetWindow: 'month' });
    for (const { name, path, text } of requests) {
      const body = gzipSync(text);
      let ms = Number.POSITIVE_INFINITY;
      for (let time = 0; time < 3; time += 1) {
        const headers = { 'content-encoding': 'gzip', 'x-api-key': key };
        const ask = async () => (await fetch(gateway.url + path, { method: 'POST', headers, body })).text();
        ms = Math.min(ms, await longestTurn(ask));
      }
      ticks.push({ name: `an upstream of ${dialects}: ${name}`, ms });
    }
  }
  return ticks;
}
