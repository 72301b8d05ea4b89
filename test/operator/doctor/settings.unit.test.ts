import { expect, test } from '@jest/globals';
import { ConfigError } from '../../../lambda/settings/read-settings.ts';
import { readStage } from '../../../operator/doctor/settings.ts';

test('a stage of cdk.json has the names that must not show, and says what the gateway translates and offers', () => {
  const defaults = {
    UPSTREAM_BASE_URL: 'https://api.acmecorp.net/v1',
    UPSTREAM_TEXT_MODEL: 'thunder-70b',
    UPSTREAM_VISION_MODEL: 'thunder-eyes',
  };
  const stages = {
    dev: { UPSTREAM_DIALECTS: 'chat,messages', APP_URL: 'https://app.example' },
    prod: { UPSTREAM_NAMES: 'AcmeCorp', ACCESS: 'keys', edge: true },
    claude: { UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: 9 },
  };
  const names = ['thunder-70b', 'thunder-eyes', 'api.acmecorp.net'];
  const block = { defaults, stages };
  expect(readStage(block, 'dev')).toEqual({
    ...{
      names: [...names, 'thunder', 'acmecorp'],
      hideInText: 'names',
      spoilsCode: [],
      translated: ['responses'],
      bedrock: [],
      closed: false,
      limits: { member: 50, guest: 3 },
    },
    ...{ appUrl: 'https://app.example', oidcIssuer: undefined },
  });
  expect(readStage(block, 'prod')).toMatchObject({ names: ['AcmeCorp', ...names], translated: [], closed: true });
  expect(readStage(block, 'claude')).toMatchObject({ translated: ['chat', 'responses'] });
  const models = { UPSTREAM_TEXT_MODEL: 'openai.gpt-oss-120b-1:0', UPSTREAM_VISION_MODEL: '' };
  const dev = { UPSTREAM_AUTH: 'aws', UPSTREAM_BASE_URL: '', UPSTREAM_DIALECTS: 'chat', ...models };
  const atBedrock = { stages: { dev } };
  const { bedrock } = readStage(block, 'dev', atBedrock, 'us-west-2');
  expect(bedrock).toMatchObject([
    { tokenRegion: 'us-west-2', addresses: { chat: expect.stringContaining('us-west-2') } },
  ]);
  expect(() => readStage(block, 'stage')).toThrow(ConfigError);
  expect(() => readStage(undefined, 'dev')).toThrow(ConfigError);
});
