import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { evaluate } from '../support/github-expression.ts';

interface Recorded {
  readonly what: string;
  /** Whether a dangerous change may pass then. */
  readonly passes: boolean;
  readonly event: { readonly action: string; readonly pull_request: { readonly head: { readonly sha: string } } };
}

/** What GitHub sends in the life of one pull request, in this order, cut down to what says anything. */
const recorded: readonly Recorded[] = JSON.parse(readFileSync('test/fixtures/github/pull-request.json', 'utf8'));

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const [, job = ''] = /\n {2}infrastructure:\n((?: {4}.*\n|\n)+)/.exec(workflow) ?? [];

/** The step of the job as the workflow's own text has it, run with what GitHub would have put in. */
function runStep({ event }: Recorded, code: string) {
  const contexts = { github: { event_name: 'pull_request', event }, needs: { diff: { outputs: { code } } } };
  const [, condition = ''] = /^ {4}if: (.+)$/m.exec(job) ?? [];
  expect(evaluate(condition, contexts)).toBe(true);
  const [, block = ''] = /- env:\n((?: {10}.*\n)+)/.exec(job) ?? [];
  const variables = [...block.matchAll(/(\w+): (?:>-\s+)?\$\{\{([^}]|\}(?!\}))*?\}\}/g)].map(([text, name = '']) => {
    const [, expression = ''] = /\$\{\{([\s\S]+)\}\}/.exec(text) ?? [];
    return [name, String(evaluate(expression, contexts) ?? '')] as const;
  });
  const [, script = ''] = /run: \|\n((?: {10}.*\n)+)/.exec(job) ?? [];
  return spawnSync('bash', ['--noprofile', '--norc', '-e', '-c', script], {
    encoding: 'utf8',
    env: Object.fromEntries(variables),
  });
}

describe('a dangerous change', () => {
  test.each(recorded.map((one) => ({ ...one, verdict: one.passes ? 'passes' : 'fails' })))(
    '$verdict when $what',
    (one) => {
      const { status, stdout, stderr } = runStep(one, '2');
      expect(stderr).toBe('');
      expect(status).toBe(one.passes ? 0 : 1);
      // Whoever reads the failure agrees to the commit that it speaks of.
      if (!one.passes) expect(stdout).toContain(`--add-label infra-ok-${one.event.pull_request.head.sha}`);
    },
  );

  test('fails with the label of another digest, however much they share', () => {
    for (const recording of recorded) {
      const { event } = recording;
      const labels = [{ name: 'infra-ok-' }, { name: `infra-ok-${event.pull_request.head.sha.slice(0, 39)}` }];
      const other = { ...recording, event: { ...event, pull_request: { ...event.pull_request, labels } } };
      expect(runStep(other, '2').status).toBe(1);
    }
  });
});

test.each(recorded)('what is refused fails when $what, and so does a diff that was not made', (one) => {
  expect(
    [runStep(one, '0'), runStep(one, '3'), runStep(one, '1'), runStep(one, '')].map(({ status }) => status),
  ).toEqual([0, 1, 1, 1]);
});

test('a label is short enough for GitHub', () => {
  expect(`infra-ok-${'0'.repeat(40)}`.length).toBeLessThanOrEqual(50);
});

describe('what judges a pull request', () => {
  const jobOf = (name: string) => new RegExp(`\\n {2}${name}:\\n((?: {4}.*\\n|\\n)+)`).exec(workflow)?.[1] ?? '';

  test('is the code of its base, in a job that runs nothing else', () => {
    const diff = jobOf('diff');
    expect(diff.match(/uses: actions\/checkout@/g)).toHaveLength(1);
    expect(diff).toMatch(/ref: \$\{\{ github\.event\.pull_request\.base\.sha \}\}/);
    expect(diff).toMatch(/npm run --silent diff -- --stage prod --base HEAD --synthesized templates/);
  });

  test('is given templates only', () => {
    expect(jobOf('templates')).toContain('path: templates/*.json');
    expect(workflow).not.toMatch(/pull_request_target|secrets\./);
  });
});
