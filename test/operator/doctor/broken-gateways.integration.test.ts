import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestGateway } from '../../support/gateway.ts';
import { combine, startMeddlingProxy } from '../../support/meddling-proxy.ts';
import { type BrokenGateway, brokenGateways } from './broken-gateways.ts';
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
  expect(said.err).toMatch(/^This takes 10 of the \d+ requests that the key has left\.\n$/);
  return { ...said, rows: readRows(said) };
}

test('streams that are held to their end are found, and a silence that no keep-alive bridges', async () => {
  // Its streams last more than a second.
  const { rows, code } = await examine({ meddling: { holdsBack: true } }, paced, '--stage', 'lively');
  const failed = rows.filter(({ mark }) => mark === 'fail');
  const late = ['chat', 'responses', 'messages'].map((dialect) => `${dialect}: streams event by event`);
  expect(checksOf(failed)).toEqual(expect.arrayContaining(late));
  expect(failed.find(({ check }) => check === 'silence is bridged')?.detail).toMatch(
    /^POST \/v1\/chat\/completions \(stream\): nothing came for .* not a keep-alive$/,
  );
  expect([failed.length, code]).toEqual([4, 1]);
});

/** Packs faults into few gateways, each with at most one for a row of the report. */
function packed(faults: readonly BrokenGateway[]): BrokenGateway[][] {
  const packs: BrokenGateway[][] = [];
  for (const fault of faults) {
    const fits = (other: BrokenGateway) => !other.alone && !other.rows.some((row) => fault.rows.includes(row));
    const free = fault.alone ? undefined : packs.find((pack) => pack.every(fits));
    if (free) free.push(fault);
    else packs.push([fault]);
  }
  return packs;
}

async function expectFound(pack: readonly BrokenGateway[]) {
  const meddling = combine(pack.map((broken) => broken.meddling));
  const { rows, code } = await examine({ meddling }, hasty, '--spent-key', spentKey);
  const failed = rows.filter(({ mark }) => mark === 'fail');
  expect(checksOf(failed).sort()).toEqual(pack.flatMap((broken) => broken.rows).sort());
  for (const { rows: named, says } of pack) {
    expect(failed.find((row) => checksOf([row])[0] === named[0])?.detail).toMatch(says);
  }
  expect(code).toBe(1);
}

describe('the doctor finds a gateway that', () => {
  test.each(packed(brokenGateways).map((pack) => ({ pack, faults: pack.map(({ fault }) => fault).join(', ') })))(
    '$faults',
    ({ pack }) => expectFound(pack),
  );
});
