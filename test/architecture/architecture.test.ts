import { describe, expect, test } from '@jest/globals';
import { findCircles, readSources, toSource } from '../support/imports.ts';
import { findViolations } from './violations.ts';

describe('the architecture', () => {
  const sources = readSources(process.cwd(), ['lambda', 'lib', 'local', 'operator', 'bench', 'bin']);

  test('holds for every import', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(findViolations(sources)).toEqual([]);
  });

  test('has no cycles', () => {
    expect(findCircles(sources)).toEqual([]);
  });

  test.each([
    ['lambda/quota/policy.ts', "import { chat } from '../dialects/chat/chat.ts';"],
    ['lambda/dialects/chat/chat.ts', "import { responses } from '../responses/responses.ts';"],
    ['lambda/dialects/messages/messages.ts', "import { dialects } from '../index.ts';"],
    ['lambda/dialects/model/tools.ts', "import { readUsage } from '../chat/chat.ts';"],
    ['lambda/dialects/model/tools.ts', "import { createPool } from '../upstream/pool.ts';"],
    ['lambda/identity/identify.ts', "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';"],
    ['lambda/gateway.ts', "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';"],
    ['lambda/gateway.ts', "import { createKeyStore } from './store/admin/keys.ts';"],
    ['lambda/index.ts', "import { openSqliteStore } from './store/sqlite/store.ts';"],
    ['lambda/store/dynamodb/keys.ts', "import { createItems } from '../admin/items.ts';"],
    ['lambda/store/dynamodb/table.ts', "import { unmarshall } from '@aws-sdk/util-dynamodb';"],
    ['lambda/upstream/pool.ts', "import middy from '@middy/core';"],
    ['lambda/app.ts', "import { startGateway } from '../local/start.ts';"],
    ['lambda/stream/relay.ts', "const { keys } = await import('../store/dynamodb/keys.ts');"],
    ['lambda/settings/models.ts', 'const name = process.env.SERVICE_NAME;'],
    ['lambda/quota/quota.ts', 'const time = Date.now();'],
    ['lambda/unheard-of.ts', ''],
    ['lambda/app.ts', "import type { LambdaFunctionURLEvent } from 'aws-lambda';"],
    ['lambda/engines/http-server.ts', "import type { Context } from 'aws-lambda';"],
    ['lambda/json/scan.ts', "import { createApp } from '../app.ts';"],
    ['lambda/gateway.ts', 'const server = createServer(app);'],
    ['lambda/gateway.ts', "import { createAccounts } from './accounts/accounts.ts';"],
    ['lambda/canary/canary.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/accounts/keyring.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/identity/identify.ts', "import { checksum } from 'ox/Address';"],
    ['lambda/accounts/page-limits.ts', 'const time = Date.now();'],
    ['lib/tables.ts', "import { createKeyStore } from '../lambda/store/admin/keys.ts';"],
    ['lib/tables.ts', "import { RemovalPolicy } from 'aws-cdk-lib';"],
    ['bench/world/session.ts', "import { startFakeSecrets } from '../../test/support/fake-secrets.ts';"],
    ['bench/run.ts', "import { runProgram } from '../operator/command-line.ts';"],
    ['operator/diff/synthesize.ts', "import { parseBudget } from '../keys/arguments.ts';"],
    ['operator/command-line.ts', "import { synthesize } from './diff/synthesize.ts';"],
    ['local/start.ts', "import { runProgram } from '../operator/command-line.ts';"],
    ['bin/serve.ts', "import { waitUntil } from '../test/support/wait-until.ts';"],
  ])('is broken by %s: %s', (path, text) => {
    expect(findViolations([toSource(path, text)])).toHaveLength(1);
  });

  test('detects a cycle', () => {
    const [a, b] = [toSource('lambda/a.ts', "import './b.ts';"), toSource('lambda/b.ts', "import './a.ts';")];
    expect(findCircles([a, b])).toEqual([['lambda/a.ts', 'lambda/b.ts', 'lambda/a.ts']]);
  });
});
