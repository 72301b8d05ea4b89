import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Row } from '../../../operator/doctor/report.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startMeddlingProxy } from '../../support/meddling-proxy.ts';
import { type BrokenGateway, brokenGateways, brokenInTime } from './broken-gateways.ts';
import { startGatewayOfMembers } from './gateway-of-members.ts';
import { checksOf, readRows, runDoctor } from './run-doctor.ts';

/** Enough guests for all their charges, at the limit in the settings below. */
const environment = { GUEST_LIMIT: '1000', BURST_LIMIT: '55' };
const block = {
  defaults: {
    ...environment,
    UPSTREAM_BASE_URL: 'https://upstream.example/v1',
    UPSTREAM_TEXT_MODEL: 'text-model',
    UPSTREAM_VISION_MODEL: 'vision-model',
  },
  stages: { dev: {}, lively: { KEEP_ALIVE_INTERVAL: 0.3 } },
};

let paced: TestGateway;
/** Writes as fast as it can, for tests that have nothing to do with time. */
let hasty: TestGateway;
let spentKey: string;

beforeAll(async () => {
  [paced, hasty] = await Promise.all([
    startGatewayOfMembers({ pace: 25, environment }),
    startGatewayOfMembers({ pace: 0, environment }),
  ]);
  spentKey = await hasty.issueKey({ limit: 0 });
});
afterAll(() => Promise.all([paced, hasty].map((running) => running[Symbol.asyncDispose]())));

const clock = () => performance.now();
/** A clock that hardly moves, so that a busy machine does not fail tests that have nothing to do with time. */
const slowClock = () => performance.now() / 1000;

async function examine(
  { meddling }: Pick<BrokenGateway, 'meddling'>,
  gateway: TestGateway,
  ...more: readonly string[]
) {
  const key = await gateway.issueKey();
  await using proxy = await startMeddlingProxy(gateway.url, meddling);
  const args = ['--base', proxy.url, '--key', key, '--names', 'AcmeCorp,Quillon,Quill-4', '--json', ...more];
  const said = await runDoctor(args, { readBlock: () => block, now: gateway === hasty ? slowClock : clock });
  expect(said.thrown).toBeUndefined();
  expect(said.err).toMatch(/^This takes 7 of the \d+ requests that the key has left\.\n$/);
  return { ...said, rows: readRows(said) };
}

test('a proxy that changes nothing is healthy', async () => {
  const { rows, code } = await examine({ meddling: {} }, paced, '--spent-key', await paced.issueKey({ limit: 0 }));
  expect(code).toBe(0);
  const green = ({ mark, check }: Row) => mark === 'ok' || (mark === 'untested' && /silence|event by/.test(check));
  expect(rows.filter((row) => !green(row))).toEqual([]);
});

test('a silence that no keep-alive bridges is found', async () => {
  // Its streams last more than a second.
  const { rows } = await examine({ meddling: { holdsBack: 'all' } }, paced, '--stage', 'lively');
  expect(rows.find(({ check }) => check === 'silence is bridged')).toMatchObject({
    mark: 'fail',
    detail: expect.stringMatching(/^POST \/v1\/chat\/completions \(stream\): nothing came for .* not a keep-alive$/),
  });
});

test('there are enough of them, all different', () => {
  const all = [...brokenInTime, ...brokenGateways].map(({ fault }) => fault);
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(39);
});

async function expectFound(broken: BrokenGateway, gateway: TestGateway, ...more: readonly string[]) {
  const { rows, code } = await examine(broken, gateway, ...more);
  const failed = rows.filter(({ mark }) => mark === 'fail');
  expect(checksOf(failed).sort()).toEqual([...broken.rows].sort());
  expect(failed.find((row) => checksOf([row])[0] === broken.rows[0])?.detail).toMatch(broken.says);
  expect(code).toBe(1);
}

describe('the doctor finds a gateway that', () => {
  test.concurrent.each(brokenInTime)('$fault', (broken) => expectFound(broken, paced));
  test.each(brokenGateways)('$fault', (broken) => expectFound(broken, hasty, '--spent-key', spentKey));
});
