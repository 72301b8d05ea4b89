import { describe, expect, test } from '@jest/globals';
import { comparable } from '../../operator/diff/synthesize.ts';
import { readWorkflow, runScript } from './workflow.ts';

const { text: workflow, jobOf } = readWorkflow('ci');
const infrastructure = jobOf('infrastructure');

describe('the verdict on a change', () => {
  const [, script = ''] = /run: \|\n((?: {10}.*\n)+)/.exec(infrastructure) ?? [];
  const label = `infra-ok-${'1f0c7e5d'.repeat(5)}`;
  const run = (code: string, agreed: string) =>
    runScript(script, { CODE: code, AGREED: agreed, LABEL: label, NUMBER: '7' });

  test.each([
    { what: 'harmless', code: '0', agreed: 'false', status: 0 },
    { what: 'dangerous', code: '2', agreed: 'false', status: 1 },
    { what: 'dangerous and agreed to', code: '2', agreed: 'true', status: 0 },
    { what: 'refused', code: '3', agreed: 'true', status: 1 },
    { what: 'in a diff that never ran', code: '', agreed: 'true', status: 1 },
  ])('for one that is $what is $status', ({ code, agreed, status }) => {
    expect(run(code, agreed)).toMatchObject({ status, stderr: '' });
  });

  test('names the label that approves this commit', () => {
    expect(run('2', 'false').stdout).toContain(`gh pr edit 7 --add-label ${label}`);
    // GitHub's labels have at most 50 characters.
    expect(label.length).toBeLessThanOrEqual(50);
  });

  test('depends on the diff and on the label with the digest of the last commit, and on nothing else', () => {
    const [, environment = ''] = /- env:\n((?: {10}.*\n)+)/.exec(infrastructure) ?? [];
    const digest = "format('infra-ok-{0}', github.event.pull_request.head.sha)";
    const read = [...environment.matchAll(/(\w+): (?:>-\s+)?\$\{\{ ([^$]*) \}\}\n/g)].map(([, name, value = '']) => [
      name,
      value.replace(/\s+/g, ' '),
    ]);
    expect(read).toEqual([
      ['CODE', 'needs.diff.outputs.code'],
      ['LABEL', digest],
      ['NUMBER', 'github.event.pull_request.number'],
      ['AGREED', `contains(github.event.pull_request.labels.*.name, ${digest})`],
    ]);
    expect(environment.match(/\w+:/g)).toHaveLength(4);
  });

  test('is never skipped, and is computed again at each push and each change of labels', () => {
    expect(infrastructure).toMatch(/^ {4}if: always\(\) && github\.event_name == 'pull_request'\n {4}needs: diff$/m);
    expect(workflow).toMatch(/^ {4}types: \[opened, synchronize, reopened, labeled, unlabeled\]$/m);
    expect(workflow).not.toContain('continue-on-error');
  });
});

describe('the code that judges a pull request', () => {
  test('comes from its base, in a job that runs nothing else, and its exit code is the verdict', () => {
    const diff = jobOf('diff');
    expect(diff.match(/uses: actions\/checkout@/g)).toHaveLength(1);
    expect(diff).toMatch(/ref: \$\{\{ github\.event\.pull_request\.base\.sha \}\}/);
    expect(diff).toMatch(
      /npm run --silent diff -- --stage prod --base HEAD --synthesized templates > diff\.txt 2>&1 \|\| code=\$\?\n.*\n +echo "code=\$code" >> "\$GITHUB_OUTPUT"$/m,
    );
    expect(diff).toMatch(/^ {6}code: \$\{\{ steps\.diff\.outputs\.code \}\}$/m);
  });

  test('runs only for merges into main, as its verdict on a commit applies to every pull request with that commit', () => {
    expect(workflow).toMatch(/^ {2}pull_request:\n(?: {4}#.*\n)*? {4}branches: \[main\]$/m);
  });

  test('gets only templates', () => {
    expect(jobOf('templates')).toContain('path: templates/*.json');
    // Any other difference would look like a change.
    const words = Object.entries(comparable).map(([name, value]) => `--context ${name}=${value}`);
    expect(jobOf('templates')).toContain(`cdk synth --quiet --context stage=prod ${words.join(' ')} --output`);
    expect(workflow).not.toMatch(/pull_request_target|secrets\./);
  });
});
