import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hashKey } from '../../lambda/identity/issued-keys.ts';
import { keyOf } from '../../lambda/store/dynamodb/keys.ts';
import { readGatewayFile } from '../../local/gateway-file.ts';
import { listenLocally } from '../../local/listen-locally.ts';
import { type GatewayProcess, startGatewayProcess } from '../local/gateway-process.ts';
import { startBrowser } from './session.ts';

const { openPage } = startBrowser();
const parts = new AsyncDisposableStack();
let gateway: GatewayProcess;
let foreignPage = '';
beforeAll(async () => {
  gateway = parts.use(await startGatewayProcess({ ACCESS: 'keys' }));
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  const { url, close } = await listenLocally(server);
  parts.defer(close);
  foreignPage = url;
});
afterAll(() => parts.disposeAsync());

/** What a page does that knows everything but the secret: it calls an operation as the SDK would. Gives the answer's text, or why there is none. */
const call = (address: string, operation: string, input: object) => `
  fetch(${JSON.stringify(address)}, {
    method: 'POST',
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=local/20300101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-date': '20300101T000000Z',
      'x-amz-target': 'DynamoDB_20120810.${operation}',
    },
    body: ${JSON.stringify(JSON.stringify(input))},
  }).then((response) => response.text(), (error) => 'no answer: ' + error.message)`;

test("a page of somebody else's can neither list the tables of a gateway on this machine nor put a key of its own", async () => {
  const { dynamodbEndpoint = '', keysTable = '' } = readGatewayFile(gateway.port) ?? {};
  const planted = `ltk_${'p'.repeat(43)}`;
  const Item = {
    ...{ pk: { S: keyOf(hashKey(planted)) }, id: { S: 'key_planted' } },
    ...{ member: { S: 'mallory' }, createdAt: { N: '1893456000000' } },
  };
  const { page } = await openPage();
  await page.goto(foreignPage);
  // Even with the secret a page would get no answer.
  for (const address of [new URL(dynamodbEndpoint).origin, dynamodbEndpoint]) {
    expect(await page.evaluate(call(address, 'ListTables', {}))).toBe('no answer: Failed to fetch');
    expect(await page.evaluate(call(address, 'PutItem', { TableName: keysTable, Item }))).toMatch(/^no answer: /);
  }
  const asked = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': planted } });
  expect(asked.status).toBe(401);
});
