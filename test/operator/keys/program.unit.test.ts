import { expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { createProgram } from '../../../operator/keys/program.ts';

const now = Date.parse('2026-11-21T10:00:00Z');

/** Runs a command line that must end before it opens a gateway. */
async function run(args: readonly string[]) {
  const printed = { out: '', err: '' };
  const program = createProgram({
    now: () => now,
    randomBytes: () => new Uint8Array(),
    openTarget: async () => {
      throw new Error('opened a gateway');
    },
    pause: async () => {},
    print: (text) => {
      printed.out += text;
    },
    printError: (text) => {
      printed.err += text;
    },
  });
  const thrown = await program.parseAsync(args, { from: 'user' }).catch((error) => error);
  return { ...printed, thrown };
}

const wrong: [args: string[], said: string][] = [
  [[], 'Usage: npm run keys -- [options] [command]'],
  [['isue'], "error: unknown command 'isue'"],
  [['issue', 'extra'], 'error: too many arguments'],
  [['issue', '--lable', 'x'], "error: unknown option '--lable'"],
  [['issue', '--limit', '-1'], "'-1' is invalid. It must be a whole number from 0 to 1000000."],
  [['issue', '--expires', '2026-11-21'], "'2026-11-21' is invalid. It must be a span such as 12h"],
  [['issue', '--member', 'a b'], "'a b' is invalid. It must be 1 to 100 letters"],
  [['issue', '--label', 'a\nb'], 'is invalid. It must be a text'],
  [['list', '--state', 'dead'], "argument 'dead' is invalid. Allowed choices are live, revoked, expired."],
  [
    ['limit', 'key_a', 'much'],
    "'much' is invalid for argument 'requests'. It must be a whole number from 0 to 1000000.",
  ],
  [['expire', 'key_a', 'soon'], "'soon' is invalid for argument 'when'. It must be a span such as 12h"],
  [['rotate', 'key_a', '--overlap', '1y'], "'1y' is invalid. It must be a span such as 1h, 12h or 2d."],
  [['usage', '--top', '0'], "'0' is invalid. It must be a whole number from 1 to 1000."],
  [
    ['issue', '--budget', '20'],
    "'20' is invalid. It must be an amount above 0 with at most six places for a day, week",
  ],
  ...['0/day', '1/year', '1/day/2', '/day', '0.0000001/day', '1,5/day'].map((budget): [string[], string] => [
    ['budget', 'key_a', budget],
    `'${budget}' is invalid for argument 'amount/window'. It must be an amount`,
  ]),
  [['budget', 'key_a'], 'error: a budget takes an amount, none, or --release'],
  [['budget', 'key_a', '5/day', '--release'], 'error: a budget takes an amount, none, or --release'],
  [['models', 'key_a', ','], "',' is invalid for argument 'models'. It must be public models separated by commas."],
  [['burst', 'key_a', '0'], "'0' is invalid for argument 'requests'. It must be a whole number from 1 to 10000."],
  [['setup', 'emacs'], "value 'emacs' is invalid for argument 'client'. Allowed choices are curl, openai,"],
  [['setup', 'codex', '--key', 'a b'], "'a b' is invalid. It must be a key"],
  [['usage', '--days', '7'], 'error: --days and --price need --tokens'],
  [['usage', '--price', '1,2,3,4'], 'error: --days and --price need --tokens'],
  [['usage', '--tokens', '--days', '0'], "'0' is invalid. It must be a whole number from 1 to 3653."],
  [['usage', '--tokens', '--price', '3,15'], "'3,15' is invalid. It must be four prices such as 3,15,0.3,3.75."],
  [['usage', '--tokens', '--price', '3,15,0.3,-1'], 'It must be four prices such as 3,15,0.3,3.75.'],
  [['revoke'], 'error: revoke takes either an id or --subject'],
  [['revoke', 'key_a', '--subject', 'ada'], 'error: revoke takes either an id or --subject'],
  [['revoke', '--subject', ''], "'' is invalid. It must be 1 to 255 characters of ASCII"],
  [['list', '--subject', 'ada', '--member', 'ada'], "'--subject <sub>' cannot be used with option '--member <name>'"],
  [['show'], "error: missing required argument 'id'"],
  [['link', '203.0.113.7'], "error: required option '--member <name>' not specified"],
  [['link', '203.0.113.7', '--member', 'ada', '--hours', '9999'], "'9999' is invalid"],
  [
    ['link', '2001:db8::/48', '--member', 'ada'],
    "'2001:db8::/48' is invalid for argument 'network'. It must be an IPv4",
  ],
];
test('a wrong command is answered by what is wrong and the usage', async () => {
  const answers = await Promise.all(wrong.map(async ([args]) => ({ args, ...(await run(args)) })));
  for (const { thrown } of answers) expect(thrown).toBeInstanceOf(CommanderError);
  expect(answers.map(({ args, out, err, thrown }) => ({ args, out, err, exitCode: thrown.exitCode }))).toEqual(
    wrong.map(([args, said]) => ({ args, out: '', err: expect.stringContaining(said), exitCode: 1 })),
  );
  expect(answers.filter(({ err }) => !err.includes('Usage: npm run keys -- '))).toEqual([]);
});

test('help is not an error, and has examples', async () => {
  const { out, err, thrown } = await run(['--help']);
  expect([thrown.exitCode, err]).toEqual([0, '']);
  expect(out).toContain('Examples:');
  expect((await run(['issue', '--help'])).out).toContain('--expires <when>');
});
