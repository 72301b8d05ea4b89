import { describe, expect, test } from '@jest/globals';
import { compareTemplates } from '../../lib/diff/changes.ts';
import { sayGrant } from '../../lib/diff/grants.ts';
import { findDangers } from '../../lib/diff/judge.ts';
import { comparePermissions } from '../../lib/diff/permissions.ts';
import { synthesizeParts, synthesizeStack } from '../support/stack.ts';

const claude = 'anthropic.claude-opus-5';
const atBedrock = (model: string, more = {}) => ({
  ...{ UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: model, UPSTREAM_VISION_MODEL: '' },
  ...more,
});

const nameOf = (part: string | { readonly Ref: string }): string => (typeof part === 'string' ? part : part.Ref);

/** What roles may do at Bedrock that they may not with an upstream that takes keys: sentences with short names for what varies. */
function rightsIn({ template }: ReturnType<typeof synthesizeParts>): string[] {
  const { gained } = comparePermissions({}, template);
  return gained
    .map(sayGrant)
    .filter((said) => said.includes('bedrock'))
    .map((said) =>
      said
        .replace(/\{"Fn::Join":\["",(.*?\])\]\}/g, (_join, parts: string) => JSON.parse(parts).map(nameOf).join(''))
        .replaceAll('AWS::Partition', 'aws')
        .replaceAll('AWS::Region', 'HERE')
        .replaceAll('AWS::AccountId', 'ME')
        .replaceAll('"', ''),
    )
    .sort();
}

const rightsOf = (settings: Readonly<Record<string, unknown>>) => rightsIn(synthesizeParts(settings));

const withKeys = synthesizeParts({ UPSTREAM_VISION_MODEL: '' });
const withRole = synthesizeParts(atBedrock(claude));

const both = (resource: string, condition = '') =>
  ['InvokeModel', 'InvokeModelWithResponseStream'].map(
    (action) => `Gateway/Role may bedrock:${action} on ${resource}${condition}`,
  );
const onlyThrough = (arn: string) => `, if {Condition:{StringEquals:{bedrock:InferenceProfileArn:${arn}}}}`;
const token = (service = 'bedrock') =>
  `Gateway/Role may ${service}:CallWithBearerToken on *, if {Condition:{StringEquals:{${service}:BearerTokenType:SHORT_TERM}}}`;

const application = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123';
const imported = 'arn:aws:bedrock:eu-west-1:123456789012:imported-model/abc123';
const systems = `arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.${claude}`;

describe('the role may call just the models that are set', () => {
  test('in whatever form they are named', () => {
    const model = 'openai.gpt-oss-120b-1:0';
    const profiles = ['us', 'apac', 'us-gov', 'global'].map((where) => `${where}.${claude}`);
    const throughProfile = (arn: string, modelId = claude) => [
      ...both(arn),
      ...both(`arn:aws:bedrock:*::foundation-model/${modelId}`, onlyThrough(arn)),
    ];
    const upstreams = [model, ...profiles, systems, application, imported].map((id, index) => {
      const prefix = index === 0 ? 'UPSTREAM' : `UPSTREAM_${index + 1}`;
      return { [`${prefix}_AUTH`]: 'aws', [`${prefix}_TEXT_MODEL`]: id };
    });
    expect(rightsOf(Object.assign({ UPSTREAM_VISION_MODEL: '' }, ...upstreams))).toEqual(
      [
        ...both(`arn:aws:bedrock:HERE::foundation-model/${model}`),
        ...profiles.flatMap((id) => throughProfile(`arn:aws:bedrock:HERE:ME:inference-profile/${id}`)),
        ...throughProfile(systems),
        // The ARN of a profile of one's own does not say its model.
        ...throughProfile(application, '*'),
        ...both(imported),
        token(),
      ].sort(),
    );
  });

  test('two models, each once, and a second upstream in a region of its own', () => {
    const second = {
      UPSTREAM_2_AUTH: 'aws',
      UPSTREAM_2_TEXT_MODEL: claude,
      UPSTREAM_2_BASE_URL: 'https://bedrock-runtime.us-west-2.amazonaws.com/anthropic/v1',
    };
    expect(rightsOf(atBedrock(claude, { UPSTREAM_VISION_MODEL: 'anthropic.claude-haiku-5', ...second }))).toEqual(
      [
        ...both(`arn:aws:bedrock:HERE::foundation-model/${claude}`),
        ...both('arn:aws:bedrock:HERE::foundation-model/anthropic.claude-haiku-5'),
        ...both(`arn:aws:bedrock:us-west-2::foundation-model/${claude}`),
        token(),
      ].sort(),
    );
  });

  test('at Mantle those of its default project', () => {
    const url = 'https://bedrock-mantle.us-west-2.api.aws/anthropic/v1';
    const project = 'arn:aws:bedrock-mantle:us-west-2:ME:project/default';
    expect(rightsOf(atBedrock(claude, { UPSTREAM_BASE_URL: url }))).toEqual([
      token('bedrock-mantle'),
      `Gateway/Role may bedrock-mantle:CountTokens on ${project}`,
      `Gateway/Role may bedrock-mantle:CreateInference on ${project}`,
    ]);
  });

  test('none where upstreams take keys', () => {
    expect(rightsIn(withKeys)).toEqual([]);
  });

  test('on the web engine too', () => {
    const rights = rightsOf(atBedrock(claude, { engine: 'web' }));
    expect(rights).toEqual(
      [...both(`arn:aws:bedrock:HERE::foundation-model/${claude}`), token()]
        .map((right) => right.replace('Gateway/', 'Web/'))
        .sort(),
    );
  });
});

test('AWS’s rules for solutions accept the rights to profiles, for a reason that is given', () => {
  const both = {
    UPSTREAM_VISION_MODEL: application,
    UPSTREAM_BASE_URL: 'https://bedrock-runtime.us-west-2.amazonaws.com/v1',
  };
  const settings = atBedrock(`us.${claude}`, { ...both, UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: 9 });
  const { acknowledged } = synthesizeStack(settings, { isJudged: true });
  expect(acknowledged.filter((rule) => /IAM5/.test(rule)).map((rule) => rule.replace(/^.*IAM5/, ''))).toEqual([
    `[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/${claude}]`,
    '[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/*]',
    '[Resource::*]',
  ]);
});

test('a secret for keys is made only where an upstream takes some', () => {
  expect(withRole.parts).not.toHaveProperty('Secrets/Upstream');
  expect(withRole.outputs).not.toHaveProperty('UpstreamSecret');
  expect(withRole.parts['Gateway/Function'].Environment.Variables).not.toHaveProperty('UPSTREAM_SECRET_ID');
  const mixed = synthesizeParts(
    atBedrock(claude, { UPSTREAM_2_BASE_URL: 'https://api.acme.com/v1', UPSTREAM_2_TEXT_MODEL: 'acme-1' }),
  );
  expect(mixed.outputs).toHaveProperty('UpstreamSecret');
});

test('a changed model is one line of the diff, with what it grants and what it takes away', () => {
  const after = synthesizeParts(atBedrock('anthropic.claude-haiku-5'));
  const dangers = findDangers(compareTemplates(withRole.template, after.template));
  expect(dangers.map(({ where, what }) => `${where}: ${what}`)).toEqual([
    expect.stringMatching(
      /^UPSTREAM_…_MODEL: UPSTREAM_TEXT_MODEL is anthropic\.claude-haiku-5, was anthropic\.claude-opus-5; permissions: new: Gateway\/Role may bedrock:InvokeModel, .*claude-haiku-5.*; permissions: gone: .*claude-opus-5/,
    ),
  ]);
});

test('moving from keys to the own role is one line of the diff', () => {
  const dangers = findDangers(compareTemplates(withKeys.template, withRole.template));
  expect(dangers.map(({ where, what }) => `${where}: ${what}`)).toEqual([
    expect.stringMatching(/^UPSTREAM_AUTH: is turned on: the upstream is Amazon Bedrock, .*Secrets\/Upstream/),
  ]);
});
