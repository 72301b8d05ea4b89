import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { testRows } from '../../support/test-rows.ts';

const root = process.cwd();
const folder = mkdtempSync(join(root, 'test/lambda/steps/order-'));
afterAll(() => rmSync(folder, { recursive: true }));

const steps = {
  admit: 'admitBody(given)',
  authenticate: 'authenticate(given)',
  charge: 'chargeQuota(given)',
  limit: 'limitDeployment(undefined)',
  normalize: 'normalize(given)',
} as const;

type Name = keyof typeof steps;

/** What the type checker says of a pipeline with these steps. */
function check(names: readonly Name[]): string {
  const code = `
    import { createForward } from '../../../../lambda/forward/forward.ts';
    import type { ArrivedAtInference } from '../../../../lambda/request/request.ts';
    import { admitBody, authenticate } from '../../../../lambda/steps/admit.ts';
    import { chargeQuota, limitDeployment } from '../../../../lambda/steps/charge.ts';
    import type { InferenceDependencies } from '../../../../lambda/steps/inference.ts';
    import { normalize } from '../../../../lambda/steps/normalize.ts';
    import { openPipeline } from '../../../../lambda/steps/step.ts';

    declare const given: InferenceDependencies;
    void [admitBody, authenticate, chargeQuota, limitDeployment, normalize];
    export const pipeline = openPipeline<ArrivedAtInference>(given)
      ${names.map((name) => `.step(${steps[name]})`).join('\n      ')}
      .handler(createForward(given));
  `;
  writeFileSync(join(folder, 'pipeline.ts'), code);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../../tsconfig.json', include: ['pipeline.ts'] }),
  );
  return spawnSync('node_modules/.bin/tsc', ['--noEmit', '--pretty', 'false', '-p', folder], { encoding: 'utf8' })
    .stdout;
}

const right: readonly Name[] = ['admit', 'authenticate', 'charge', 'limit', 'normalize'];

test('the steps in their order compile, and may be normalized before they are charged', () => {
  expect(check(right)).toBe('');
  expect(check(['admit', 'authenticate', 'normalize', 'charge', 'limit'])).toBe('');
}, 60_000);

testRows<[string, readonly Name[], RegExp]>([
  ['a charge before anybody is identified', ['admit', 'charge', 'authenticate', 'limit', 'normalize'], /identity/],
  ['a limit of the deployment before the charge', ['admit', 'authenticate', 'limit', 'charge', 'normalize'], /charge/],
  ['a body that is read before it is admitted', ['authenticate', 'charge', 'limit', 'normalize'], /encoding/],
  ['an exchange without a body', ['admit', 'authenticate', 'charge', 'limit'], /outgoing|call/],
])('a wrong order does not compile', (_what, names, missing) => {
  expect(check(names)).toMatch(missing);
});
