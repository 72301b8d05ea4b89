// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the pieces of code are code
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Subject } from './actor.ts';

/** A defect: a piece of the code, and its replacement. */
export interface Defect {
  readonly name: string;
  readonly file: string;
  readonly code: string;
  readonly instead: string;
  /** The promise that it breaks, and the smallest schedule that shows it. */
  readonly breaks: { readonly fault: string; readonly scenario: string; readonly schedule: readonly string[] };
  /** The scenarios to search; absent for all of two requests. */
  readonly among?: RegExp;
  /** Whether it shows only in charges that are written together. */
  readonly together?: true;
}

export const defects: readonly Defect[] = [
  {
    name: 'a refund twice',
    file: 'lambda/store/write-once.ts',
    code: '[...conditions, `NOT contains(${tokens}, :token)`, fenceIsOpen]',
    instead: "[...conditions, ...(kind === 'r' ? [] : [`NOT contains(${tokens}, :token)`]), fenceIsOpen]",
    breaks: {
      fault: '2 is refunded twice',
      scenario: 'one of yesterday’s and one of today’s, today’s failing, burst 2, at once',
      schedule: ['1 2 begin', '2 is answered', '2 gets no answer', '2 arrives', '2 is answered'],
    },
  },
  {
    name: 'a token forgotten at a slice’s edge',
    file: 'lambda/store/write-once.ts',
    code: '`${kind}${slice - kept - index}`',
    instead: '`${kind}${slice - 1 - index}`',
    breaks: {
      fault: '1 is charged twice',
      scenario: '2 of a guest, 2 of them failing, limit 1, burst 3, over a second',
      schedule: [
        '1 begin',
        '1 gets no answer',
        '1 is answered',
        '1 is answered',
        'time passes',
        '2 is answered',
        '2 is answered',
        '1 arrives',
      ],
    },
  },
  {
    name: 'a condition dropped',
    file: 'lambda/store/counters.ts',
    code: "conditions: [atMost(used, ':limit', limit - charges), ",
    instead: 'conditions: [',
    breaks: {
      fault: 'guest#net#lifetime has more than its limit',
      scenario: '2 of a guest, 0 of them failing, limit 1, burst 3, at once',
      schedule: ['1 2 begin', '1 is answered', '2 is answered'],
    },
  },
  {
    name: 'ambiguous answers taken for refusals',
    file: 'lambda/store/write-once.ts',
    code: 'if (applied || has(found, tokens, change.token)) return',
    instead: 'if (applied) return',
    breaks: {
      fault: '1 is refused, and charged',
      scenario: '2 of a member, 0 of them failing, limit 2, burst 1, over a minute',
      schedule: [
        '1 begin',
        '1 gets no answer',
        '1 arrives',
        'time passes',
        '2 is answered',
        '1 is answered',
        '1 is answered',
      ],
    },
  },
  {
    name: 'a stale minute',
    file: 'lambda/store/counters.ts',
    code: '[2, 3, 4].map((ago) => countOf(minute - ago))',
    instead: '[1, 2, 3].map((ago) => countOf(minute - ago))',
    breaks: {
      fault: 'guest#net#lifetime has more than its burst limit',
      scenario: 'one of yesterday’s and one of today’s, today’s failing, burst 1, over a minute',
      schedule: ['1 begin', 'time passes', '2 is answered', '2 is answered', '1 is answered'],
    },
  },
  {
    name: 'an item of the old form misread',
    file: 'lambda/store/counters.ts',
    code: '`n${minute.toString(36)}`',
    instead: '`n${minute}`',
    breaks: {
      fault: 'guest#net#lifetime has more than its burst limit',
      scenario: 'one of yesterday’s and one of today’s, none failing, burst 1, at once',
      schedule: ['1 2 begin', '2 is answered'],
    },
  },
  {
    name: 'a fence that is never closed',
    among: /guest.*2 of them failing.*six seconds/,
    file: 'lambda/store/write-once.ts',
    code: '`NOT f${remainder} >= :closed`',
    instead: '`NOT g${remainder} >= :closed`',
    breaks: {
      fault: '1 is charged twice',
      scenario: '2 of a guest, 2 of them failing, limit 1, burst 3, over six seconds',
      schedule: [
        '1 begin',
        '1 gets no answer',
        '1 is answered',
        '1 is answered',
        'time passes',
        '2 is answered',
        '2 is answered',
        '1 arrives',
      ],
    },
  },
  {
    name: 'a refusal that is not final',
    file: 'lambda/store/write-once.ts',
    code: 'if (!inDoubt || !found) return { applied: false, found };',
    instead: 'return { applied: false, found };',
    breaks: {
      fault: '2 is refused, and charged',
      scenario: '2 of a guest, 1 of them failing, limit 1, burst 3, at once',
      schedule: ['1 2 begin', '1 is answered', '2 gets no answer', '2 is answered', '1 is answered', '2 arrives'],
    },
  },
  {
    name: 'a withdrawal not known again',
    among: /guest, 1 of them failing.*at once/,
    file: 'lambda/store/write-once.ts',
    code: 'if (applied || has(found, withdrawn, token)) return',
    instead: 'if (applied) return',
    breaks: {
      fault: '2 is free',
      scenario: '2 of a guest, 1 of them failing, limit 1, burst 3, at once',
      schedule: [
        '1 2 begin',
        '1 is answered',
        '2 gets no answer',
        '2 is answered',
        '2 gets no answer',
        '2 arrives by its later call',
        '2 is answered',
      ],
    },
  },
  {
    name: 'many charges counted as one',
    together: true,
    file: 'lambda/store/counters.ts',
    code: "':charges': number(charges)",
    instead: "':charges': number(1)",
    breaks: {
      fault: '1 is free',
      scenario: '3 together, 0 of them failing, and one alone, limit 4, burst 3, at once',
      schedule: ['1 2 begin', '1 is answered', '1 is answered'],
    },
  },
  {
    name: 'all refused where one is',
    together: true,
    file: 'lambda/store/combine-charges.ts',
    code: 'else if (charges === 1) refuse(queue.splice(0, 1), counted);',
    instead: 'else if (charges >= 1) refuse(queue.splice(0, charges), counted);',
    breaks: {
      fault: '1 is refused (quota_exceeded) with room left',
      scenario: '3 together, 0 of them failing, and one alone, limit 4, burst 3, at once',
      schedule: ['1 2 begin', '1 is answered', '2 is answered', '1 is answered'],
    },
  },
  {
    name: 'nothing is charged where the answer is lost',
    together: true,
    file: 'lambda/store/combine-charges.ts',
    code: 'fail(queue.splice(0, charges), error);',
    instead: 'grant(queue.splice(0, charges), { applied: true, used: charges, inMinute: charges });',
    breaks: {
      fault: '1 is free',
      scenario: '3 together, 0 of them failing, and one alone, limit 2, burst 3, over a minute',
      schedule: ['1 begin', '1 gets no answer, sleeps', 'time passes'],
    },
  },
  {
    name: 'a token used again for fewer charges',
    together: true,
    file: 'lambda/store/combine-charges.ts',
    code: 'first.token = nextToken(first.token);',
    instead: '',
    breaks: {
      fault: '1 is free',
      scenario: '3 together, 0 of them failing, and one alone, limit 4, burst 3, at once',
      schedule: [
        '1 2 begin',
        '1 is answered',
        '1 gets no answer',
        '2 is answered',
        '1 is answered',
        '1 is answered',
        '1 is answered',
        '1 is answered',
      ],
    },
  },
];

/** Builds the code with a defect. */
export async function plant({ name, file, code, instead }: Defect): Promise<Subject> {
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
