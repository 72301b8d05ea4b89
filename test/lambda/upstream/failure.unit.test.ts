import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../../../lambda/errors.ts';
import {
  classifyStatus,
  type FailureClass,
  type FailureKind,
  failureClasses,
  UpstreamFailure,
} from '../../../lambda/upstream/failure.ts';
import { readTables } from '../../docs/markdown.ts';
import { testRows } from '../../support/test-rows.ts';

const classes: Readonly<Record<string, FailureClass>> = failureClasses;
const kinds = Object.keys(failureClasses) as FailureKind[];
const tried = { key: 'the next key', upstream: 'the next upstream' };

test('the failure classes are in docs/failures.md, row by row', () => {
  const document = readFileSync(join(import.meta.dirname, '../../../docs/failures.md'), 'utf8');
  const [[, ...rows] = []] = readTables(document);
  const known = Object.entries(classes).map(
    ([kind, { code, ownStatus, staysCharged, next, rests, restsForSeveral }]) => [
      ...[`\`${kind}\``, expect.stringMatching(/\w/)],
      ...[
        `${ownStatus ? 'the same status' : catalogue[code].status} \`${code}\``,
        staysCharged ? 'no' : expect.stringMatching(/^yes\b/),
      ],
      `${next ? tried[next] : 'nothing'}${rests || restsForSeveral ? '; this one rests' : ''}${restsForSeveral ? ' if it happens to three callers' : ''}`,
    ],
  );
  expect(rows).toEqual(known);
});

describe('a failure', () => {
  testRows(kinds)('its sentence is true whether or not it is charged', (kind) => {
    const refund = !classes[kind]?.staysCharged;
    const failure = new UpstreamFailure(kind);
    expect(failure).toMatchObject({ refund, reason: kind, status: catalogue[failure.code].status });
    expect(failure.message).not.toMatch(/charged|has been told/);
    expect(new UpstreamFailure(kind, { charged: true }).refund).toBe(false);
  });

  test('an upstream’s own message replaces the gateway’s', () => {
    const named = (kind: FailureKind) => new UpstreamFailure(kind, { status: 422, message: 'Too hot' });
    expect([named('caller').message, named('caller').status]).toEqual(['Too hot', 422]);
    expect(named('reported').message).toBe('Too hot. Please try again.');
  });

  testRows([
    ['limited', 17, 'The model is busy. Please try again in 17 s.'],
    ['limited', 0, 'The model is busy. Please try again in a moment.'],
    ['limited', undefined, 'The model is busy. Please try again in a moment.'],
    ['server_error', 3600, 'The model failed to answer. Please try again in 3600 s.'],
    ['missing', 17, 'The gateway did not find the model. If it happens again, tell the operator the request id.'],
    ['caller', 17, 'The model refused this request.'],
  ] as const)('it says how long to wait where waiting helps', (kind, retryAfter, message) => {
    expect(new UpstreamFailure(kind, { status: 503, retryAfter }).message).toBe(message);
  });

  testRows([
    ['See (link removed)', 'See (link removed). Not charged. Please try again.'],
    ['It is too hot!', 'It is too hot! Not charged. Please try again.'],
    ['(It is too hot.)', '(It is too hot.) Not charged. Please try again.'],
    ['请求太长。', '请求太长。 Not charged. Please try again.'],
  ])('the sentence about the charge comes between its own and the advice', (message, expected) => {
    const failure = new UpstreamFailure('reported', { message, retryAfter: 0 });
    const noted = failure.withNote('Not charged.');
    expect(noted.message).toBe(expected);
    const { code, status, headers, refund, reason } = failure;
    expect(noted).toMatchObject({ code, status, headers, refund, reason });
    expect(failure.withNote(undefined)).toBe(failure);
  });
});

testRows([
  [101, 'unusable'],
  [200, undefined],
  [299, undefined],
  [302, 'unusable'],
  [400, 'caller'],
  [401, 'credentials'],
  [402, 'credentials'],
  [403, 'forbidden'],
  [404, 'missing'],
  [408, 'upstream_timeout'],
  [413, 'too_large'],
  [429, 'limited'],
  [499, 'caller'],
  [500, 'server_error'],
  [599, 'server_error'],
  [600, 'unusable'],
])('a status is one class of failure, or a success', (status, kind) => {
  expect(classifyStatus(status)).toBe(kind);
});
