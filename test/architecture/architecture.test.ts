import { describe, expect, test } from '@jest/globals';
import { findCircles, readSources, toSource } from '../support/imports.ts';
import { findViolations } from './violations.ts';

describe('the architecture', () => {
  const sources = readSources(process.cwd(), ['lambda', 'lib', 'local', 'operator', 'bench', 'bin']);

  test('holds for every import', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(findViolations(sources)).toEqual([]);
  });

  test('has no circles', () => {
    expect(findCircles(sources)).toEqual([]);
  });

  test.each([
    ['lambda/quota/policy.ts', "import { chat } from '../dialects/chat.ts';"],
    ['lambda/dialects/chat.ts', "import { responses } from './responses.ts';"],
    ['lambda/identity/identify.ts', "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';"],
    ['lambda/gateway.ts', "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';"],
    ['lambda/upstream/pool.ts', "import middy from '@middy/core';"],
    ['lambda/app.ts', "import { startGateway } from '../local/start.ts';"],
    ['lambda/stream/relay.ts', "const { keys } = await import('../store/keys.ts');"],
    ['lambda/models.ts', 'const name = process.env.SERVICE_NAME;'],
    ['lambda/quota/charge.ts', 'const time = Date.now();'],
    ['lambda/unheard-of.ts', ''],
    ['lambda/app.ts', "import type { LambdaFunctionURLEvent } from 'aws-lambda';"],
    ['lambda/engines/http-server.ts', "import type { Context } from 'aws-lambda';"],
    ['lambda/app.ts', "import { lastResort } from './engines/last-resort.ts';"],
    ['lambda/gateway.ts', 'const server = createServer(app);'],
    ['lambda/gateway.ts', "import { createWallet } from './wallet/wallet.ts';"],
    ['lambda/canary/checks.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/wallet/keyring.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/identity/identify.ts', "import { getAddress } from 'viem/utils';"],
    ['lambda/wallet/limits.ts', 'const time = Date.now();'],
    ['lib/tables.ts', "import { createKeyStore } from '../lambda/store/keys.ts';"],
    ['lib/tables.ts', "import { RemovalPolicy } from 'aws-cdk-lib';"],
    ['lambda/wallet/limits.ts', "import { createActions } from './actions.ts';"],
    ['lambda/wallet/pages/cli/app.ts', "import type { Actions } from '../../actions.ts';"],
    ['lambda/wallet/unheard-of.ts', "import type { Actions } from './actions.ts';"],
    ['bench/world/session.ts', "import { startFakeSecrets } from '../../test/support/fake-secrets.ts';"],
    ['bench/run.ts', "import { runProgram } from '../operator/run-program.ts';"],
    ['operator/cost/model.ts', "import { parseSpan } from '../keys/parse.ts';"],
    ['operator/run-program.ts', "import { runDiff } from './diff/program.ts';"],
    ['local/start.ts', "import { runProgram } from '../operator/run-program.ts';"],
    ['bin/serve.ts', "import { waitUntil } from '../test/support/wait-until.ts';"],
  ])('is broken by %s: %s', (path, text) => {
    expect(findViolations([toSource(path, text)])).toHaveLength(1);
  });

  test('knows a circle when it sees one', () => {
    const [a, b] = [toSource('lambda/a.ts', "import './b.ts';"), toSource('lambda/b.ts', "import './a.ts';")];
    expect(findCircles([a, b])).toEqual([['lambda/a.ts', 'lambda/b.ts', 'lambda/a.ts']]);
  });
});
