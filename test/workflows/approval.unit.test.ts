import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { comparable } from '../../operator/diff/synthesize.ts';
import { evaluate } from '../support/github-expression.ts';

interface Label {
  readonly name: string;
}

interface PullRequestEvent {
  readonly action: string;
  readonly label?: Label;
  readonly before?: string;
  readonly after?: string;
  readonly pull_request: { readonly head: { readonly sha: string }; readonly labels: readonly Label[] };
  readonly sender: { readonly login: string };
}

/** An event that GitHub sent, for each kind. The file says where they were published. */
const { events: recorded }: { readonly events: Readonly<Record<string, PullRequestEvent>> } = JSON.parse(
  readFileSync('test/fixtures/github/pull-request.json', 'utf8'),
);

interface Moment {
  readonly what: string;
  /** Whether a dangerous change may pass then. */
  readonly passes: boolean;
  readonly action: string;
  /** The last commit. */
  readonly head: string;
  /** The labels of the pull request, and the one just added or removed. */
  readonly labels?: readonly string[];
  readonly label?: string;
  readonly sender?: string;
}

const [first, second, third] = [
  '1f0c7e5d9a4b3c2e8d7f6a5b4c3d2e1f0a9b8c7d',
  '7b9d2e4f6a8c0b1d3e5f7a9c1b3d5e7f9a1c3e5b',
  'c3e5b7b9d2e4f6a8c0b1d3e5f7a9c1b3d5e7f9a1',
];
const okFor = (sha: string) => `infra-ok-${sha}`;
const [read, all] = [
  ['bug', okFor(first)],
  ['bug', okFor(first), okFor(second)],
];

/** The life of one pull request. */
const moments: readonly Moment[] = [
  { what: 'it is opened', passes: false, action: 'opened', head: first },
  {
    ...{ what: 'it gets a label that names no commit', passes: false, action: 'labeled', head: first },
    ...{ label: 'infra-ok', labels: ['infra-ok'] },
  },
  {
    ...{ what: 'its commit is agreed to', passes: true, action: 'labeled', head: first },
    ...{ label: okFor(first), labels: [okFor(first)] },
  },
  {
    ...{ what: 'it gets another label', passes: true, action: 'labeled', head: first },
    ...{ label: 'bug', labels: read },
  },
  { what: 'it is closed and opened again', passes: true, action: 'reopened', head: first, labels: read },
  { what: 'a commit is pushed', passes: false, action: 'synchronize', head: second, labels: read },
  {
    ...{ what: 'it gets another label after the push', passes: false, action: 'labeled', head: second },
    ...{ label: 'wontfix', labels: [...read, 'wontfix'] },
  },
  {
    ...{ what: 'it loses that label', passes: false, action: 'unlabeled', head: second },
    ...{ label: 'wontfix', labels: read },
  },
  { what: 'it is opened again after the push', passes: false, action: 'reopened', head: second, labels: read },
  {
    ...{ what: 'the commit before it is agreed to once more', passes: false, action: 'labeled', head: second },
    ...{ label: okFor(first), labels: read },
  },
  {
    ...{ what: 'somebody else agrees to the new commit', passes: true, action: 'labeled', head: second },
    ...{ label: okFor(second), labels: all, sender: 'mona' },
  },
  { what: 'what was read first is pushed again', passes: true, action: 'synchronize', head: first, labels: all },
  { what: 'it is opened again, pushed to while closed', passes: false, action: 'reopened', head: third, labels: all },
  {
    ...{ what: 'a commit that is yet to come is agreed to', passes: false, action: 'labeled', head: third },
    ...{ label: okFor('0'.repeat(40)), labels: [...all, okFor('0'.repeat(40))] },
  },
  {
    ...{ what: 'the agreement is taken back', passes: false, action: 'unlabeled', head: second },
    ...{ label: okFor(second), labels: read },
  },
];

/** The recorded event with only commits and names replaced. */
function eventOf({ action, head, labels = [], label = '', sender }: Moment): PullRequestEvent {
  const event = recorded[action];
  const [some] = event?.pull_request.labels ?? [];
  if (!event || !some) throw new Error(`no event is recorded with the action ${action} and a label`);
  return {
    ...event,
    ...(event.label && { label: { ...event.label, name: label } }),
    ...(event.after && { before: first, after: head }),
    ...(sender && { sender: { ...event.sender, login: sender } }),
    pull_request: {
      ...event.pull_request,
      head: { ...event.pull_request.head, sha: head },
      labels: labels.map((name) => ({ ...some, name })),
    },
  };
}

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const [, job = ''] = /\n {2}infrastructure:\n((?: {4}.*\n|\n)+)/.exec(workflow) ?? [];

/** The context in which GitHub evaluates expressions. */
const contextsOf = (event: PullRequestEvent, code: string) => ({
  github: { event_name: 'pull_request', event },
  needs: { diff: { outputs: { code } } },
});

/** The step from the workflow's own text, run with the values that GitHub would insert. */
function runStep(event: PullRequestEvent, code: string) {
  const contexts = contextsOf(event, code);
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

describe('the recorded events', () => {
  const [, types = ''] = /pull_request:\n(?: {4}.*\n)*? {4}types: \[(.*)\]/.exec(workflow) ?? [];

  test('are those that the workflow listens for', () => {
    expect(Object.keys(recorded).sort()).toEqual(types.split(', ').sort());
    for (const [action, event] of Object.entries(recorded)) expect(event.action).toBe(action);
  });

  test('have everything that the workflow’s expressions read', () => {
    const paths = [...workflow.matchAll(/github\.event\.[\w.*]+/g)].map(([path]) => path);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      for (const event of Object.values(recorded)) {
        const values = [evaluate(path, contextsOf(event, '0'))].flat();
        expect([path, values.length > 0 && !values.includes(undefined)]).toEqual([path, true]);
      }
    }
  });
});

describe('a dangerous change', () => {
  test.each(moments.map((moment) => ({ ...moment, verdict: moment.passes ? 'passes' : 'fails' })))(
    '$verdict when $what',
    (moment) => {
      const { status, stdout, stderr } = runStep(eventOf(moment), '2');
      expect(stderr).toBe('');
      expect(status).toBe(moment.passes ? 0 : 1);
      // People who read the failure agree to the commit that it names.
      if (!moment.passes) expect(stdout).toContain(`--add-label ${okFor(moment.head)}`);
    },
  );

  test.each(Object.entries(recorded))('fails with the event that GitHub sent when it was %s', (_, event) => {
    expect(runStep(event, '2').status).toBe(1);
  });

  test('fails with the label of another digest, however similar', () => {
    for (const moment of moments) {
      const labels = ['infra-ok-', okFor(moment.head.slice(0, 39)), `${okFor(moment.head)}0`];
      expect(runStep(eventOf({ ...moment, labels }), '2').status).toBe(1);
    }
  });
});

test.each(moments)('a refused change fails when $what, and so does a diff that could not be made', (moment) => {
  const event = eventOf(moment);
  expect(
    [runStep(event, '0'), runStep(event, '3'), runStep(event, '1'), runStep(event, '')].map(({ status }) => status),
  ).toEqual([0, 1, 1, 1]);
});

test('labels are short enough for GitHub', () => {
  expect(`infra-ok-${'0'.repeat(40)}`.length).toBeLessThanOrEqual(50);
});

describe('the code that judges a pull request', () => {
  const jobOf = (name: string) => new RegExp(`\\n {2}${name}:\\n((?: {4}.*\\n|\\n)+)`).exec(workflow)?.[1] ?? '';

  test('comes from its base, in a job that runs nothing else', () => {
    const diff = jobOf('diff');
    expect(diff.match(/uses: actions\/checkout@/g)).toHaveLength(1);
    expect(diff).toMatch(/ref: \$\{\{ github\.event\.pull_request\.base\.sha \}\}/);
    expect(diff).toMatch(/npm run --silent diff -- --stage prod --base HEAD --synthesized templates/);
  });

  test('runs only for merges into main, as its verdict on a commit applies to every pull request with that commit', () => {
    expect(workflow).toMatch(/^ {2}pull_request:\n(?: {4}#.*\n)*? {4}branches: \[main\]$/m);
  });

  test('gets only templates', () => {
    expect(jobOf('templates')).toContain('path: templates/*.json');
    // Any other difference would look like a change.
    expect(jobOf('templates')).toContain(`cdk synth --quiet --context stage=prod ${comparable.join(' ')} --output`);
    expect(workflow).not.toMatch(/pull_request_target|secrets\./);
  });
});
