import { expect, test } from '@jest/globals';
import { createIssueCommand } from '../../../operator/doctor/issue-command.ts';

test.each([
  ['http://127.0.0.1:8787', undefined, 'npm run keys -- issue --limit 7'],
  ['http://127.0.0.1:18931', 'dev', 'PORT=18931 npm run keys -- issue --limit 7'],
  ['http://localhost:9000', undefined, 'PORT=9000 npm run keys -- issue --limit 7'],
  ['http://[::1]:9000', undefined, 'PORT=9000 npm run keys -- issue --limit 7'],
  ['https://a.lambda-url.eu-central-1.on.aws', 'prod', 'npm run keys -- issue --limit 7 --stack InferenceGateway-prod'],
  ['https://api.example.com', undefined, 'npm run keys -- issue --limit 7 --stack NAME'],
])('a key for %s, stage %s', (base, stage, command) => {
  expect(createIssueCommand(base, stage)(7)).toBe(command);
});
