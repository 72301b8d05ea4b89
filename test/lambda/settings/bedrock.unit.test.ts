import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { sayBedrockDefaults } from '../../../lambda/settings/bedrock.ts';
import { readUpstreams } from '../../../lambda/settings/read-upstreams.ts';

const claude = 'us.anthropic.claude-sonnet-5';
const other = 'openai.gpt-oss-120b-1:0';
const least = { UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: claude, AWS_REGION: 'eu-central-1' };

const faultsOf = (environment: Record<string, string>) => {
  const faults: string[] = [];
  readUpstreams(environment, false, faults);
  return faults;
};

function read(environment: Record<string, string>) {
  const faults: string[] = [];
  const all = readUpstreams(environment, false, faults);
  expect(faults).toEqual([]);
  return all;
}

describe('a model and UPSTREAM_AUTH=aws are enough', () => {
  test('for Claude, which speaks messages and signs its thoughts', () => {
    const [upstream] = read(least);
    expect(upstream).toMatchObject({
      tokenRegion: 'eu-central-1',
      dialects: ['messages'],
      signsThinking: true,
      translation: { limit: 32_000 },
      models: { messages: { text: claude, vision: claude } },
      addresses: { messages: 'https://bedrock-runtime.eu-central-1.amazonaws.com/anthropic/v1' },
    });
  });

  test('for another model, which speaks chat completions', () => {
    const [upstream] = read({ ...least, UPSTREAM_TEXT_MODEL: other });
    expect(upstream).toMatchObject({
      dialects: ['chat'],
      signsThinking: false,
      translation: { limit: undefined },
      addresses: { chat: 'https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1' },
    });
  });

  test('for a second upstream, beside one with keys', () => {
    const first = { UPSTREAM_BASE_URL: 'https://api.acme.com/v1', UPSTREAM_TEXT_MODEL: 'acme-1' };
    const second = { UPSTREAM_2_AUTH: 'aws', UPSTREAM_2_TEXT_MODEL: claude, AWS_REGION: 'us-east-1' };
    const all = read({ ...first, ...second });
    expect(all.map(({ tokenRegion }) => tokenRegion)).toEqual([undefined, 'us-east-1']);
  });
});

test('each default can be overridden', () => {
  const own = {
    UPSTREAM_BASE_URL: 'https://proxy.example.com/v1',
    UPSTREAM_DIALECTS: 'chat,messages',
    UPSTREAM_OUTPUT_LIMIT: '9',
    UPSTREAM_SIGNS_THINKING: 'false',
    UPSTREAM_VISION_MODEL: 'eu.anthropic.claude-opus-5',
  };
  const [upstream] = read({ ...least, ...own });
  expect(upstream).toMatchObject({
    addresses: { chat: own.UPSTREAM_BASE_URL },
    dialects: ['chat', 'messages'],
    signsThinking: false,
    translation: { limit: 9 },
    models: { chat: { text: claude, vision: own.UPSTREAM_VISION_MODEL } },
    defaults: {},
  });
  // The default limit is none that the operator has set in vain.
  expect(read({ ...least, UPSTREAM_DIALECTS: 'chat,responses,messages' })[0]?.dialects).toHaveLength(3);
});

test.each([
  ['https://bedrock-mantle.us-west-2.api.aws/anthropic/v1', 'us-west-2'],
  ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/openai/v1', 'us-gov-west-1'],
  ['https://vpce-1.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com/openai/v1', 'ap-southeast-2'],
  ['https://bedrock-proxy.us-west-2.example.com/v1', 'eu-central-1'],
])('the tokens for %s are of %s', (url, region) => {
  expect(read({ ...least, UPSTREAM_BASE_URL: url })[0]?.tokenRegion).toBe(region);
});

test.each<[environment: Record<string, string>, fault: string]>([
  [{ AWS_REGION: '' }, 'AWS_REGION is missing: the region of Bedrock, which UPSTREAM_AUTH aws needs'],
  [{ UPSTREAM_AUTH: 'role' }, 'UPSTREAM_AUTH must be key or aws'],
  [
    { UPSTREAM_API_KEYS: 'k' },
    'UPSTREAM_API_KEYS has no effect with UPSTREAM_AUTH aws, which needs no key: remove one of them',
  ],
  [
    { UPSTREAM_VISION_MODEL: other },
    'UPSTREAM_VISION_MODEL and UPSTREAM_TEXT_MODEL speak different dialects at Bedrock: choose both of one kind',
  ],
  [
    {
      UPSTREAM_DIALECTS: 'chat,messages',
      UPSTREAM_BASE_URL: 'https://bedrock-mantle.us-west-2.api.aws/v1',
      UPSTREAM_MESSAGES_BASE_URL: 'https://bedrock-mantle.us-east-1.api.aws/anthropic/v1',
    },
    'UPSTREAM_AUTH aws is for one region, but its addresses are in us-east-1 and us-west-2',
  ],
])('with %j the start stops', (environment, fault) => {
  expect(faultsOf({ ...least, ...environment })).toContain(fault);
});

test.each(['*', 'us.*', 'us.anthropic.claude-?', 'arn:aws:bedrock:*::foundation-model/a', 'us.{a,b}'])(
  'the model id %s, which would let the role call others too, is refused',
  (id) => {
    const fault = (name: string) => `${name} must be the id or ARN of one model at Bedrock`;
    expect(faultsOf({ ...least, UPSTREAM_TEXT_MODEL: id })).toContain(fault('UPSTREAM_TEXT_MODEL'));
    expect(faultsOf({ ...least, UPSTREAM_EMBEDDINGS_MODEL: id })).toContain(fault('UPSTREAM_EMBEDDINGS_MODEL'));
    expect(faultsOf({ UPSTREAM_BASE_URL: 'https://api.acme.com/v1', UPSTREAM_TEXT_MODEL: id })).toEqual([]);
  },
);

test('a model that is left out is a fault, although cdk.json has a placeholder for one', () => {
  const { gateway } = JSON.parse(readFileSync('cdk.json', 'utf8')).context;
  const model = gateway.defaults.UPSTREAM_TEXT_MODEL;
  expect(faultsOf({ ...least, UPSTREAM_TEXT_MODEL: model })).toEqual([
    'UPSTREAM_TEXT_MODEL must be the id or ARN of one model at Bedrock',
  ]);
});

test('what was taken is said, in a line for each upstream', () => {
  const second = { UPSTREAM_2_AUTH: 'aws', UPSTREAM_2_TEXT_MODEL: other, UPSTREAM_2_DIALECTS: 'chat' };
  expect(sayBedrockDefaults(read({ ...least, ...second }))).toEqual([
    'UPSTREAM_AUTH aws took UPSTREAM_BASE_URL=https://bedrock-runtime.eu-central-1.amazonaws.com/anthropic/v1, UPSTREAM_DIALECTS=messages, UPSTREAM_OUTPUT_LIMIT=32000, UPSTREAM_SIGNS_THINKING=true',
    'UPSTREAM_2_AUTH aws took UPSTREAM_2_BASE_URL=https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1',
  ]);
  expect(sayBedrockDefaults(read({ UPSTREAM_BASE_URL: 'https://api.acme.com/v1', UPSTREAM_TEXT_MODEL: 'a' }))).toEqual(
    [],
  );
});
