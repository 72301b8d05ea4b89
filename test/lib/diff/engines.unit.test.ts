import { describe, expect, test } from '@jest/globals';
import type { Template } from '../../../lib/diff/template.ts';
import { type AnyTree, type Change, createTemplateEditor, dangersOf } from '../../support/template-changes.ts';
import { onWeb, synthesizeWhole, synthesizeWithBothEngines } from '../../support/whole-template.ts';

const functionUrl = synthesizeWhole();
const both = synthesizeWithBothEngines();
const web = synthesizeWhole(onWeb);

/** What must not change in a step: the tables, the secrets, and the names by which engines know them. */
function holdings({ Resources = {} }: Template): object {
  const kept = Object.entries(Resources).filter(([, { Type }]) => /^AWS::(DynamoDB|SecretsManager)::/.test(Type));
  return Object.fromEntries(kept);
}

const where = ['KEYS_TABLE', 'QUOTA_TABLE', 'NETWORK_SALT_SECRET_ID', 'UPSTREAM_SECRET_ID', 'EDGE_SECRET_ID'];

function countsIn(template: Template): string[] {
  return Object.values<AnyTree>(template.Resources ?? {}).flatMap(({ Properties = {} }) => {
    const told = Properties.Environment?.Variables ?? Properties.ServiceConfig?.EnvironmentVariables;
    return told?.QUOTA_TABLE && told.UPSTREAM_BASE_URL ? [JSON.stringify(where.map((name) => told[name]))] : [];
  });
}

describe('moving from one engine to the other', () => {
  const [urlOfFunction, endpoint] = ['Gateway/Function/FunctionUrl', 'Web/Function/Endpoint'];
  test.each([
    ['function-url to web', functionUrl, web, urlOfFunction, endpoint],
    ['web to function-url', web, functionUrl, endpoint, urlOfFunction],
  ])('%s keeps tables, secrets and counters as they are, and marks both ways in', (_, from, to, gone, come) => {
    expect(holdings(to)).toEqual(holdings(from));
    expect(new Set([...countsIn(from), ...countsIn(to)]).size).toBe(1);
    const dangers = dangersOf(from, to);
    expect(dangers).toEqual(
      expect.arrayContaining([`${gone}: is removed`, expect.stringMatching(`${come}: is new, and may be a way in`)]),
    );
    expect(dangers.filter((danger) => /REFUSED|Tables\/\w+:|Secrets\/\w+:|exact|durable|private/.test(danger))).toEqual(
      [],
    );
  });

  test('adding one opens a way in and grants its role what it needs; nothing else changes', () => {
    const [opened, ...granted] = dangersOf(functionUrl, both);
    expect(opened).toMatch(/^Web\/Function\/Endpoint: is new, and may be a way in/);
    const ofWeb = /^permissions: new: (Web\/[\w/]+|lambda\.amazonaws\.com) may |^permissions: new: anyone may not /;
    expect(granted.filter((danger) => !ofWeb.test(danger))).toEqual([]);
  });

  test('new settings, limits and code pass, although each makes a new revision', () => {
    const changed = { ...onWeb, GUEST_LIMIT: 7, BODY_BUDGET: 512, maxConcurrency: 128 };
    expect(dangersOf(web, synthesizeWhole(changed))).toEqual([]);
  });
});

const { propertiesIn, dangersBetween } = createTemplateEditor(both);
const told = (template: AnyTree) => propertiesIn(template, 'Web/Function/Revision').ServiceConfig.EnvironmentVariables;

test.each<readonly [what: string, change: Change, marked: RegExp]>([
  ['a key in a template', (t) => (told(t).UPSTREAM_API_KEYS = 'key'), /UPSTREAM_API_KEYS/],
  ['a longer request', (t) => (told(t).REQUEST_TIMEOUT = '1000'), /reachable: is stopped in the middle/],
  ['a setting that nobody knows', (t) => (told(t).SECRET_HASH = 'a'.repeat(64)), /SECRET_HASH/],
  [
    'code that anyone may read',
    (t) =>
      propertiesIn(t, 'Web/Code/Bucket/Policy').PolicyDocument.Statement.push({
        ...{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: '*' },
      }),
    /new: anyone may s3:GetObject/,
  ],
])('the gate marks a web function with %s', (_what, change, marked) => {
  expect(dangersBetween(() => {}, change)).toEqual(expect.arrayContaining([expect.stringMatching(marked)]));
});

test('a new web function must use the tables, secrets and metrics of the function beside it', () => {
  for (const name of [...where.filter((one) => !/UPSTREAM/.test(one)), 'EDGE_HEADER', 'METRICS_NAMESPACE']) {
    const after: AnyTree = structuredClone(both);
    told(after)[name] = 'another';
    expect(dangersOf(functionUrl, after)).toContainEqual(expect.stringMatching(/^Web\/Function\/Revision: not /));
  }
});
