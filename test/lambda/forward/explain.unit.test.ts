import { describe, expect, test } from '@jest/globals';
import { createExplainer } from '../../../lambda/forward/explain.ts';
import { scrubber } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

const explainer = createExplainer(scrubber);
for (const key of ['upstream/key-one', 'EMPTY']) explainer.conceal(key);

/** An answer within an answer, as routers nest what they got: printed as JSON `depth` times. */
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
    ['\\u6f22\\ud83c\\udf29\\u000aA path C:\\users\\u12', '漢🌩\nA path C:\\users\\u12'],
  ])('the upstream’s sentence is shown without names, links, keys and ids', (given, expected) => {
    expect(explainer.sentence(given)).toBe(expected);
  });

  test('has no name however deep it is nested as JSON in JSON', () => {
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
