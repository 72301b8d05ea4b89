// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the pieces of code are code
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import type { Subject } from './actor.ts';
import { findSmallest } from './explore.ts';
import { pairs } from './scenarios.ts';

// A search that finds nothing proves nothing, so it must find these.
Error.stackTraceLimit = 0;

/** A defect: a piece of the code, and its replacement. */
interface Defect {
  readonly name: string;
  readonly file: string;
  readonly code: string;
  readonly instead: string;
  /** The promise that it breaks, and the smallest schedule that shows it. */
  readonly fault: string;
  readonly scenario: string;
  readonly schedule: string;
}

const writeOnce = 'lambda/store/write-once.ts';
const counters = 'lambda/store/counters.ts';

const defects: readonly Defect[] = [
  {
    name: 'a refund twice',
    file: writeOnce,
    code: '`${condition} AND NOT contains(${tokens}, :token)`',
    instead: "add.endsWith(':minusOne') ? condition : `${condition} AND NOT contains(${tokens}, :token)`",
    fault: '1 is refunded twice',
    scenario: '2 of a guest, 1 failing, limit 1, burst 3, at once',
    schedule: '1 2 begin; 1 is answered; 1 gets no answer; 1 arrives; 2 is answered; 1 is answered',
  },
  {
    name: 'a token forgotten a minute early',
    file: counters,
    code: 'const minutesRemoved = [2, 3, 4];',
    instead: 'const minutesRemoved = [1, 2, 3];',
    fault: 'member#ada has more than its burst limit',
    scenario: '2 of a member, 0 failing, limit 2, burst 1, over midnight',
    schedule: '1 begin; 1 gets no answer; 1 arrives; time passes; 2 is answered; 1 is answered',
  },
  {
    name: 'a condition dropped',
    file: counters,
    code: "`${below(used, ':limit', limit)} AND ${below(inMinute, ':burst', burst)}`",
    instead: "below(inMinute, ':burst', burst)",
    fault: 'guest#net has more than its limit',
    scenario: '2 of a guest, 0 failing, limit 1, burst 3, at once',
    schedule: '1 2 begin; 1 is answered; 2 is answered',
  },
  {
    name: 'a token used again after it was left',
    file: writeOnce,
    code: 'token = nextToken(token);',
    instead: '',
    fault: '2 is free',
    scenario: '2 of a guest, 1 failing, limit 1, burst 3, at once',
    schedule: '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 1 is answered; 2 is answered; 2 is answered',
  },
  {
    name: 'a refusal in doubt taken for final',
    file: writeOnce,
    code: 'if (!inDoubt || !found) return',
    instead: 'if (found) return',
    fault: '2 is refused, and charged',
    scenario: '2 of a guest, 1 failing, limit 1, burst 3, at once',
    schedule: '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 1 is answered; 2 arrives',
  },
  {
    name: 'the token that was left taken for the charge’s own',
    file: writeOnce,
    code: 'applied: !applied && !has(found, tokens, givenUp)',
    instead: 'applied: !applied',
    fault: '2 is free',
    scenario: '2 of a guest, 0 failing, limit 1, burst 3, at once',
    schedule:
      '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 2 gets no answer; 2 arrives by its later call; 2 is answered',
  },
];

test.each(defects)('$name is found, with the smallest schedule', async (defect) => {
  const { fault, scenario, schedule } = defect;
  const found = await findSmallest(await plant(defect), pairs);
  expect({ ...found, schedule: found?.schedule.join('; ') }).toEqual({ fault, scenario, schedule });
});

/** Builds the code with a defect. */
async function plant({ name, file, code, instead }: Defect): Promise<Subject> {
  const defective: Plugin = {
    name,
    setup: ({ onLoad }) => {
      onLoad({ filter: new RegExp(`${file.replaceAll(/[./]/g, '\\$&')}$`) }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (text.split(code).length !== 2) throw new Error(`${file} has not one place for the defect: ${name}`);
        return { contents: text.replace(code, () => instead), loader: 'ts' };
      });
    },
  };
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'subject.ts')],
    plugins: [defective],
    ...{ bundle: true, platform: 'node', format: 'esm', write: false },
  });
  const path = join(tmpdir(), `planted-${process.pid}-${name.replaceAll(/\W/g, '-')}.mjs`);
  await writeFile(path, outputFiles[0]?.contents ?? '');
  try {
    return await import(pathToFileURL(path).href);
  } finally {
    await rm(path);
  }
}
