import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { startDemoGateway } from '../support/demo-gateway.ts';
import { readProse } from './markdown.ts';

/** Of Logs Insights: commands, functions and what stands between fields. */
const words = new Set(
  'filter stats sort display in as by and or not like asc desc count sum avg pct min max ispresent bin'.split(' '),
);

/** The fields that a query names, but for those that it has made itself. */
function fieldsIn(query: string): string[] {
  const made = [...query.matchAll(/\bas (\w+)/g)].map(([, name = '']) => name);
  const named = query.replace(/#.*|"[^"]*"/g, '').match(/\b[a-z]\w*/gi) ?? [];
  return named.filter((name) => !words.has(name) && !made.includes(name));
}

const prices =
  '{"svc": {"input": 1, "output": 2}, "svc-vision": {"input": 1, "output": 2}, "svc-embedding": {"input": 1}}';

test('the queries of docs/logs.md name fields that lines have', async () => {
  const page = readProse(readFileSync('docs/logs.md', 'utf8'));
  const queries = page.match(/(?:^ {4}.+\n)+/gm) ?? [];
  expect(queries.length).toBeGreaterThanOrEqual(5);
  await using gateway = await startDemoGateway({ environment: { UPSTREAM_DIALECTS: 'chat', PRICES: prices } });
  const key = await gateway.issueKey({ limit: 1 });
  const headers = { 'x-api-key': key, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const body = { model: 'svc', max_tokens: 9, future: 1, stream: true, messages: [{ role: 'user', content: 'Hi' }] };
  for (const status of [200, 429]) {
    const response = await gateway.post('/v1/messages', body, headers);
    expect([response.status, typeof (await response.text())]).toEqual([status, 'string']);
  }
  const fields = new Set(gateway.log.flatMap((line) => Object.keys(line)));
  expect(queries.flatMap(fieldsIn).filter((name) => !fields.has(name))).toEqual([]);
});
