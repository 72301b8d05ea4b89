import { describe, expect, test } from '@jest/globals';
import { createExplainer } from '../../../lambda/forward/explain.ts';
import { scrubber } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

const explainer = createExplainer(scrubber);
for (const key of ['upstream/key-one', 'EMPTY']) explainer.conceal(key);

/** An error nested as routers do it: printed as JSON `depth` times. */
function nest(text: string, depth: number): string {
  return depth === 0 ? text : nest(JSON.stringify(text).slice(1, -1), depth - 1);
}

describe('an upstream’s message for clients', () => {
  testRows([
    ['AcmeCorp is down.', 'svc is down.'],
    ['Upstream said {"model":"acmec\\u006frp"}', 'Upstream said {"model":"svc"}'],
    ['Upstream said {"model":"\\u0041CME\\u0043orp"}', 'Upstream said {"model":"svc"}'],
    ['Model acmecorp\\/thunder-70b-instruct', 'Model svc'],
    ['The key upstream\\/key\\u002done', 'The key (key removed)'],
    ['The input must not be EMPTY.', 'The input must not be EMPTY.'],
    ['Wrong key: sk-proj-1a2b, or sk-****1a2b.', 'Wrong key: (key removed), or (key removed)'],
    ['See https:\\/\\/other.example\\/keys.', 'See (link removed).'],
    ['See https://x.example/v1?key=upstream/key-one&alt=sse.', 'See (link removed).'],
    ['Busy, request id: req_011CSHoEeqs5C35K2UUqR7Fy.', 'Busy, request id: (id removed).'],
    ['Busy (req_123).', 'Busy ((id removed)).'],
    ['Request chatcmpl-9f3c2b1a-77 aborted', 'Request (id removed) aborted'],
    ['Busy. Request ID: 0c6b1e9a-3f2d-4d0b (try again)', 'Busy. Request ID: (id removed) (try again)'],
    [
      'unknown field req_body in request_id=2026x, request id',
      'unknown field req_body in request_id=(id removed), request id',
    ],
    ['{\\"request_id\\": \\"7f3a-01\\"}', '{\\"request_id\\": \\"(id removed)\\"}'],
    ['No result for toolu_bdrk_01A2b3C4d5, in msg_01XFDUDYJgAAC', 'No result for (id removed), in (id removed)'],
    ['No result for srvtoolu_01A2b3C4d5, mcptoolu_01A2b3C4d5', 'No result for (id removed), (id removed)'],
    [
      'messages.1.msg_type and my_req_011CSHoEeqs are as they were',
      'messages.1.msg_type and my_req_011CSHoEeqs are as they were',
    ],
    [
      'Too high (https://x.example/docs). See "www.x.example/a?b=(c)".',
      'Too high ((link removed)). See "(link removed))".',
    ],
    [
      'No route to ip-10-0-3-17.ec2.internal, gpu-node-17.cluster.local:8000, vllm.default.svc.cluster.local or A100-3.lan.',
      'No route to (host removed), (host removed), (host removed) or (host removed).',
    ],
    [
      'connect ECONNREFUSED 10.0.3.17:8000 (from 192.168.7.9, ::ffff:172.16.0.1, 34.120.5.6:443). router.internal:80',
      'connect ECONNREFUSED (host removed) (from (host removed), ::ffff:(host removed), (host removed)). (host removed)',
    ],
    [
      'from 172.16.0.1, 172.31.255.1, 100.64.0.1, 100.127.0.1, 127.0.0.1 and 169.254.169.254',
      'from (host removed), (host removed), (host removed), (host removed), (host removed) and (host removed)',
    ],
    // The caller's own words, and code.
    ...[
      'Chrome/120.0.6099.109, Windows 10.0.19041.1, 10.0.3.17-beta, v10.0.3.17, 10.0.3.17.2 and 10.0.0.0/8',
      'The addresses 172.15.0.1, 172.32.0.1, 100.63.0.1, 100.128.0.1, 11.0.0.1, 1.10.0.0 and 10.0.3.256',
      'The address 203.0.113.7 at 10:30, a ratio 1.2.3.4 and 999.10.0.1:80',
      'my_package.internal, .env.local, settings.local.json, self.local and api.example.com:8080',
      'messages.0.content.1: at app.js:10, 3.14:15',
    ].map((text) => [text, text] as const),
    ['\\u6f22\\ud83c\\udf29\\u000aA path C:\\users\\u12', '漢🌩\nA path C:\\users\\u12'],
  ])('the upstream’s sentence is shown without names, links, keys, ids and machines', (given, expected) => {
    expect(explainer.sentence(given)).toBe(expected);
  });

  test('has no name, however deeply it is nested as JSON in JSON', () => {
    for (let depth = 0; depth < 5; depth += 1) {
      const said = explainer.sentence(nest('by acmec\\u006frp/thunder-70b\\u002dinstruct', depth));
      expect([depth, said]).toEqual([depth, 'by svc']);
    }
  });

  test('has at most 2,000 characters', () => {
    expect(explainer.sentence('no '.repeat(5_000))?.length).toBe(2_000);
  });

  test('stays a separate sentence if nothing is escaped', () => {
    expect(explainer.sentence('Use "\\d+" or a\\b; 50 % / 2')).toBe('Use "\\d+" or a\\b; 50 % / 2');
  });
});
