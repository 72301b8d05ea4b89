import { expect, test } from '@jest/globals';
import { createNameFinder } from '../../../operator/doctor/find-name.ts';
import type { Reply } from '../../../operator/doctor/probe.ts';

const find = createNameFinder(['AcmeCorp', 'acmecorp/thunder-70b', 'glm']);

function reply(text: string, headers: Record<string, string> = {}): Reply {
  const all = new Headers({ 'content-type': 'application/json', ...headers });
  const ask = { method: 'GET', path: '/' } as const;
  return { ask, title: 'GET /', status: 200, headers: all, text, arrivals: [], duration: 0 };
}
const stream = (...data: readonly object[]) =>
  reply(data.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''), { 'content-type': 'text/event-stream' });

test.each<[string, Reply, string]>([
  ['in a text', reply('{"a":{"b":["by ACMECORP"]}}'), 'a.b.0 has ACMECORP'],
  ['behind escapes', reply('{"a":"\\u0041cmecorp"}'), 'a has Acmecorp'],
  ['in a key', reply('{"acmecorp_id":1}'), 'a key: acmecorp_id has acmecorp'],
  ['in a page', reply('<h1>AcmeCorp</h1>'), 'the body has AcmeCorp'],
  ['as a short word', reply('{"a":"the glm model"}'), 'a has glm'],
  ['cut over chunks', stream({ d: 'I am Ac', i: 1 }, { d: 'meCo' }, { d: 'rp' }), 'd has AcmeCorp'],
  ['in a header', reply('{}', { 'x-request-id': 'acmecorp-1' }), 'x-request-id: acmecorp-1'],
  [
    'in a comment',
    reply(': ACMECORP\n\n', { 'content-type': 'text/event-stream' }),
    'a comment:  ACMECORP has ACMECORP',
  ],
])('a name is found %s', (_name, given, place) => {
  expect(find(given)).toBe(place);
});

test.each<[string, Reply]>([
  ['a word that only holds a short name', reply('{"a":"eglman"}')],
  ['what a program reads back', reply('{"tool":{"arguments":"{\\"by\\":\\"AcmeCorp\\"}"},"signature":"AcmeCorp"}')],
  ['a random id that holds a short name', reply('{}', { 'x-request-id': 'req_7glm7' })],
  ['headers that a page asked for', reply('{}', { 'access-control-allow-headers': 'acmecorp' })],
])('%s is no trace of a name', (_name, given) => {
  expect(find(given)).toBeUndefined();
});
