// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the pieces of code are code
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import type { Subject } from './actor.ts';
import { findSmallest } from './explore.ts';
import { pairs } from './scenarios.ts';

// A search that finds nothing proves nothing, so it must find these.
Error.stackTraceLimit = 0;

/** Pieces of the code with their replacements, the promise that each breaks, and the smallest schedule that shows it. */
const defects: [name: string, code: string, instead: string, fault: string, scenario: string, schedule: string][] = [
  [
    'a refund twice',
    '`${condition} AND NOT contains(${tokens}, :token)`',
    "add.endsWith(':minusOne') ? condition : `${condition} AND NOT contains(${tokens}, :token)`",
    '1 is refunded twice',
    '2 of a guest, 1 failing, limit 1, burst 3, at once',
    '1 2 begin; 1 is answered; 1 gets no answer; 1 arrives; 2 is answered; 1 is answered',
  ],
  [
    'a token forgotten a minute early',
    'const minutesRemoved = [2, 3, 4];',
    'const minutesRemoved = [1, 2, 3];',
    'member#ada has more than its burst limit',
    '2 of a member, 0 failing, limit 2, burst 1, over midnight',
    '1 begin; 1 gets no answer; 1 arrives; time passes; 2 is answered; 1 is answered',
  ],
  [
    'a condition dropped',
    "`${below(used, ':limit', limit)} AND ${below(inMinute, ':burst', burst)}`",
    "below(inMinute, ':burst', burst)",
    'guest#net has more than its limit',
    '2 of a guest, 0 failing, limit 1, burst 3, at once',
    '1 2 begin; 1 is answered; 2 is answered',
  ],
  [
    'a token used again after it was left',
    'token = nextToken(token);',
    '',
    '2 is free',
    '2 of a guest, 1 failing, limit 1, burst 3, at once',
    '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 1 is answered; 2 is answered; 2 is answered',
  ],
  [
    'a refusal in doubt taken for final',
    'if (!inDoubt || !found) return',
    'if (found) return',
    '2 is refused, and charged',
    '2 of a guest, 1 failing, limit 1, burst 3, at once',
    '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 1 is answered; 2 arrives',
  ],
  [
    'the token that was left taken for the charge’s own',
    'applied: !applied && !has(found, tokens, givenUp)',
    'applied: !applied',
    '2 is free',
    '2 of a guest, 0 failing, limit 1, burst 3, at once',
    '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 2 gets no answer; 2 arrives by its later call; 2 is answered',
  ],
];

test.each(defects)('%s is found, with the smallest schedule', async (_, code, instead, fault, scenario, schedule) => {
  const found = await findSmallest(await plant(code, instead), pairs);
  expect({ ...found, schedule: found?.schedule.join('; ') }).toEqual({ fault, scenario, schedule });
});

async function plant(code: string, instead: string): Promise<Subject> {
  let places = 0;
  const setup: Plugin['setup'] = ({ onLoad }) =>
    onLoad({ filter: /lambda\/tables\/(write-once|counters)\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      places += text.split(code).length - 1;
      return { contents: text.replace(code, () => instead), loader: 'ts' };
    });
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'subject.ts')],
    plugins: [{ name: 'plant', setup }],
    ...{ bundle: true, platform: 'node', format: 'esm', write: false },
  });
  expect(places).toBe(1);
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? '').toString('base64')}`);
}
