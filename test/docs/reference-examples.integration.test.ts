import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makePages } from '../../lib/reference/render-reference.ts';
import { startRoomyDemoGateway } from '../sdk/sdk-gateway.ts';
import { readEvents } from '../support/client-view.ts';
import type { TestGateway } from '../support/gateway.ts';
import { readContract } from './contract.ts';
import { shapeOf } from './shape.ts';

const page = (await makePages()).get('docs/index.html') ?? '';

/** The blocks of each endpoint in their order, as a person copies them. */
const examples = [
  ...page.matchAll(/<section class="card endpoint" aria-labelledby="(\w+)-title">(.*?)<\/section>/gs),
].flatMap(([, id = '', section = '']) => {
  const blocks = [...section.matchAll(/<p>(Request|Answer)<\/p><\/div><pre[^>]*>([^<]*)<\/pre>/g)];
  return blocks.flatMap(([, title, text = ''], index) => {
    if (title !== 'Request') return [];
    const [, next, answer = ''] = blocks[index + 1] ?? [];
    return [{ id, request: toText(text), answer: next === 'Answer' ? toText(answer) : '' }];
  });
});

function toText(html: string): string {
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&' } as const;
  const plain = html.replace(/&(lt|gt|quot|amp);/g, (_, name: keyof typeof entities) => entities[name]);
  return plain.replaceAll('{{service}}', 'svc');
}

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startRoomyDemoGateway();
  key = await gateway.issueKey({ label: 'laptop' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('every endpoint has a request with its answer, and where it streams a stream too', () => {
  const operations = readContract().operations.filter(({ method }) => method !== 'OPTIONS');
  for (const { id, keepAlive } of operations) {
    const answers = examples.filter((example) => example.id === id).map(({ answer }) => answer);
    expect([id, answers[0]]).toEqual([id, expect.stringMatching(/^\{/)]);
    expect([id, answers.some((answer) => /^(data|event): /.test(answer))]).toEqual([id, keepAlive !== undefined]);
  }
});

test.each(examples)('$id: $request', async ({ request, answer }) => {
  const command = request.replaceAll('{{gateway}}', gateway.url).replaceAll('YOUR_KEY', key);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `${command} -sS --fail-with-body`]);
  if (answer.startsWith('{')) {
    expect(shapeOf(JSON.parse(stdout))).toEqual(expect.arrayContaining(shapeOf(JSON.parse(answer))));
    return;
  }
  // Each event of the example is one that the gateway sends, in this order, though there may be others in between.
  const sent = readEvents(stdout).map(({ data, value }) => (data === '[DONE]' ? [data] : shapeOf(value)));
  let from = 0;
  for (const { data, value } of readEvents(answer)) {
    const shape = data === '[DONE]' ? [data] : shapeOf(value);
    const found = sent.findIndex((other, index) => index >= from && shape.every((part) => other.includes(part)));
    expect([data, found]).toEqual([data, expect.any(Number)]);
    expect(found).toBeGreaterThanOrEqual(from);
    from = found + 1;
  }
});
