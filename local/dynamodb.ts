import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { ConfigError } from '../lambda/settings/read-settings.ts';
import { keysSchema, quotaSchema, toCreateTableInput } from '../lambda/store/dynamodb/schema.ts';
import { listenLocally } from './listen-locally.ts';

const dynalitePath = createRequire(import.meta.url).resolve('dynalite');
const requireFromDynalite = createRequire(dynalitePath);

/**
 * Starts an embedded DynamoDB on a free port of 127.0.0.1: in memory, or in `dataDir`, where it lasts. All users of this machine and
 * all pages in its browsers can reach the port, so the path of its address is a secret, new at each start: who has the address
 * has the tables, with any credentials.
 */
export async function startDynamoDb({ dataDir }: { readonly dataDir?: string | undefined } = {}) {
  mendConditions();
  const { path, warnings } = dataDir === undefined ? { warnings: [] } : await prepareDirectory(dataDir);
  const server = dynalite({ path, createTableMs: 0 });
  const secret = randomBytes(32).toString('base64url');
  const isAdmitted = createAdmission(secret);
  const answers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  let closing = false;
  server.on('connection', (socket) => closing && socket.destroy());
  const running = new Set<Promise<void>>();
  server.on('request', (request, response) => {
    if (!isAdmitted(request)) {
      response.writeHead(403, { connection: 'close' }).end();
      return;
    }
    for (const answer of answers) answer(request, response);
    // dynalite throws from an event listener when a client leaves in the middle of a request. That must not end the process.
    request.removeAllListeners('error');
    request.on('error', () => {});
    const over = whenOver(request, response);
    running.add(over);
    over.then(() => running.delete(over));
  });
  const { url, close } = await listenLocally(server);

  return {
    endpoint: `${url}/${secret}/`,
    /** What its user should know of `dataDir`. */
    warnings,
    async close() {
      closing = true;
      server.closeAllConnections();
      // A write to a closed table throws where nobody can catch it.
      await Promise.all(running);
      await close();
    },
  };
}

/** A browser's requests name the page's origin, or, if its name was made to lead here, that name as the host. */
function createAdmission(secret: string): (request: IncomingMessage) => boolean {
  const expected = Buffer.from(`/${secret}/`);
  return ({ url = '', headers: { host = '', origin } }) => {
    const given = Buffer.from(url);
    const isKnown = given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
    return isKnown && origin === undefined && /^127\.0\.0\.1(:\d+)?$/.test(host);
  };
}

/** A request that has come whole is worked on to its answer, even if nobody is there to take it. */
function whenOver(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = response.end.bind(response) as ServerResponse['end'];
  response.end = ((...words: Parameters<typeof end>) => {
    resolve();
    return end(...words);
  }) as ServerResponse['end'];
  request.once('close', () => {
    if (!request.complete) resolve();
  });
  if (response.writableEnded) resolve();
  return promise;
}

/** Creates the gateway's two tables where they are missing. */
export function createGatewayTables(
  client: DynamoDBClient,
  { keysTable, quotaTable }: { readonly keysTable: string; readonly quotaTable: string },
): Promise<void> {
  return createMissingTables(client, [
    toCreateTableInput(keysSchema, keysTable),
    toCreateTableInput(quotaSchema, quotaTable),
  ]);
}

/** Creates missing tables and waits until all can be used. */
export async function createMissingTables(
  client: DynamoDBClient,
  inputs: readonly CreateTableCommandInput[],
): Promise<void> {
  for (const input of inputs) {
    const table = { TableName: input.TableName };
    try {
      await client.send(new DescribeTableCommand(table));
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      await client.send(new CreateTableCommand(input)).catch((fault) => {
        // Another gateway on the same store was faster.
        if (!(fault instanceof ResourceInUseException)) throw fault;
      });
    }
    await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.05, maxDelay: 1 }, table);
  }
}

/**
 * Opens the store once and closes it again: dynalite would notice an unusable directory only with its first request, and then
 * end the process.
 */
async function prepareDirectory(dataDir: string) {
  const path = join(dataDir, 'dynamodb');
  const { Level } = requireFromDynalite('level') as { Level: new (path: string) => OpenAndClose };
  try {
    makeFolders(path);
    const wasOpen = [dataDir, path].filter(closeToOthers);
    const store = new Level(path);
    await store.open();
    await store.close();
    const warning = `DATA_DIR ${dataDir} was open to other users of this machine, and no longer is`;
    return { path, warnings: wasOpen.includes(dataDir) ? [warning] : [] };
  } catch (error) {
    throw new ConfigError([`DATA_DIR ${dataDir} can't be used: ${reasonOf(error)}`]);
  }
}

/** Says whether others could enter a folder of this user's own, which now they can't. */
function closeToOthers(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  if (uid !== userInfo().uid || (mode & 0o077) === 0) return false;
  chmodSync(folder, 0o700);
  return true;
}

/** For this user alone. As `mkdirSync` with `recursive`, which never ends where nobody can make a folder, as in /proc. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message: string } };
  if (cause?.code === 'LEVEL_LOCKED') return 'another gateway uses it';
  return cause?.message ?? message;
}

/**
 * dynalite compares bytes as texts, in which all bytes that are no UTF-8 are alike, and never returns the item that a condition
 * refused. DynamoDB does neither. Here conditions compare base64 instead.
 */
function mendConditions(): void {
  const actions = ['putItem', 'updateItem', 'deleteItem'].map(
    (name) => requirePart(`validations/${name}.js`) as Validation,
  );
  for (const { types } of actions) types[returned] ??= { type: 'String', enum: ['ALL_OLD', 'NONE'] };
  const conditions = requirePart('db/index.js') as Conditions;
  if (mended in conditions) return;
  const { checkConditional } = conditions;
  conditions.checkConditional = ({ _condition, ...request }, item) => {
    if (!_condition) return checkConditional(request, item);
    const refusal = checkConditional({ ...request, _condition: withBase64(_condition) }, item && withBase64(item));
    if (refusal && item && request[returned] === 'ALL_OLD') refusal.body.Item = item;
    return refusal;
  };
  Object.assign(conditions, { [mended]: true });
}

/** By its whole path, so that tests get the very module that runs. */
const requirePart = (path: string): unknown => requireFromDynalite(join(dirname(dynalitePath), path));

const returned = 'ReturnValuesOnConditionCheckFailure';
const mended = Symbol.for('mended');

type OpenAndClose = Readonly<Record<'open' | 'close', () => Promise<void>>>;

interface Validation {
  readonly types: Record<string, object>;
}

interface Conditions {
  checkConditional: (
    request: { readonly _condition?: object; readonly [returned]?: string },
    item: object | undefined,
  ) => { readonly body: { Item?: object } } | null | undefined;
}

/** A copy with bytes and sets of bytes as texts. */
function withBase64(values: object): object {
  return JSON.parse(JSON.stringify(values), (_, value) => {
    if (typeof value?.B === 'string') return { S: value.B };
    return Array.isArray(value?.BS) ? { SS: value.BS } : value;
  });
}
