import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestGateway } from '../../support/gateway.ts';
import { combine } from '../../support/meddling-proxy.ts';
import { type BrokenGateway, brokenGateways } from './broken-gateways.ts';
import { startGatewayOfMembers } from './gateway-of-members.ts';
import { checksOf, examine, failedIn, requiredSettings } from './run-doctor.ts';

/** Enough guests for all their charges, at the limit in the settings below. */
const environment = { GUEST_LIMIT: '1000', BURST_LIMIT: '55' };
const block = {
  defaults: { ...environment, ...requiredSettings },
  stages: { dev: {}, lively: { KEEP_ALIVE_INTERVAL: 0.1 } },
};

let paced: TestGateway;
/** Writes as fast as it can, for tests that have nothing to do with time. */
let hasty: TestGateway;
let spentKey: string;

beforeAll(async () => {
  [paced, hasty] = await Promise.all([
    startGatewayOfMembers({ pace: 8, environment }),
    startGatewayOfMembers({ pace: 0, environment }),
  ]);
  spentKey = await hasty.issueKey({ limit: 0 });
});
afterAll(() => Promise.all([paced, hasty].map((running) => running[Symbol.asyncDispose]())));

const usual = ['--names', 'AcmeCorp,Quillon,Quill-4', '--json'];

test('streams that are held to their end are found, and a silence that no keep-alive bridges', async () => {
  // Its streams last longer than two keep-alives are apart.
  const now = () => performance.now();
  const said = await examine(paced, [...usual, '--stage', 'lively'], { meddling: { holdsBack: true }, block, now });
  const failed = failedIn(said);
  const late = ['chat', 'responses', 'messages'].map((dialect) => `${dialect}: streams event by event`);
  expect(checksOf(failed)).toEqual(expect.arrayContaining(late));
  expect(failed.find(({ check }) => check === 'silence is bridged')?.detail).toMatch(
    /^POST \/v1\/chat\/completions \(stream\): nothing came for .* not a keep-alive$/,
  );
  expect([failed.length, said.code]).toEqual([4, 1]);
});

/** Packs faults into few gateways, each with at most one for a row of the report. */
function packed(faults: readonly BrokenGateway[]): BrokenGateway[][] {
  const packs: BrokenGateway[][] = [];
  for (const fault of faults) {
    const [, , says, isAlone] = fault;
    const fits = ([, , taken, isOtherAlone]: BrokenGateway) =>
      !isAlone && !isOtherAlone && !Object.keys(taken).some((row) => row in says);
    const free = packs.find((pack) => pack.every(fits));
    if (free) free.push(fault);
    else packs.push([fault]);
  }
  return packs;
}

describe('the doctor finds a gateway that', () => {
  test.each(packed(brokenGateways).map((pack) => ({ pack, faults: pack.map(([fault]) => fault).join(', ') })))(
    '$faults',
    async ({ pack }) => {
      const expected: Readonly<Record<string, RegExp>> = Object.assign({}, ...pack.map(([, , says]) => says));
      const refusals = /spent|minute/.test(Object.keys(expected).join()) ? ['--spent-key', spentKey] : [];
      const meddling = combine(pack.map(([, one]) => one));
      const said = await examine(hasty, [...usual, ...refusals], { meddling, block });
      const found = failedIn(said).map((row) => [...checksOf([row]), row.detail]);
      expect(Object.fromEntries(found)).toEqual(
        Object.fromEntries(Object.entries(expected).map(([row, says]) => [row, expect.stringMatching(says)])),
      );
      expect(said.code).toBe(1);
    },
  );
});
