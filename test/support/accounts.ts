import { ScanCommand } from '@aws-sdk/client-dynamodb';
import * as Address from 'ox/Address';
import * as Hex from 'ox/Hex';
import * as PersonalMessage from 'ox/PersonalMessage';
import * as Secp256k1 from 'ox/Secp256k1';
import * as Signature from 'ox/Signature';
import { createAccounts } from '../../lambda/accounts/accounts.ts';
import type { Account } from '../../lambda/accounts/answers.ts';
import { readPageFiles } from '../../lambda/accounts/pages.ts';
import { createHandler } from '../../lambda/engines/function-url.ts';
import { readAccountsConfig } from '../../lambda/settings/config.ts';
import { createKeyStore } from '../../lambda/store/admin/keys.ts';
import { createMemberStore } from '../../lambda/store/admin/members.ts';
import { createAdminStore } from '../../lambda/store/admin/store.ts';
import { createDynamoStore } from '../../lambda/store/dynamodb/store.ts';
import { makePages } from '../../lib/reference/render-reference.ts';
import { type StreamingHandler, startFunctionUrl } from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';
import { createTestAccess, createTestCaller, startTestDynamoDb } from './dynamodb.ts';
import { type SpoilStore, startStoreProxy } from './store-proxy.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReplyBody;
}

/** The possible members of the accounts function's responses. */
export type ReplyBody = { readonly message: string; readonly expiresAt: string } & Account & {
    readonly link: NonNullable<Account['link']>;
    readonly session: NonNullable<Account['session']>;
    readonly error: { readonly message: string; readonly type: string; readonly code: string };
  };

type TerminalAnswer = Record<'device_code' | 'user_code' | 'access_token' | 'error' | 'error_description', string>;

export type TestWallet = Awaited<ReturnType<typeof startTestWallet>>;

interface WalletOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
  /** By default any free port. */
  readonly port?: number;
  /** The source address of requests. */
  readonly sourceIp?: () => string;
  readonly readSecret?: (id: string) => Promise<string>;
  /** Sees the function's requests to its tables, and can inject faults. */
  readonly spoilStore?: SpoilStore;
}

const readPages = async () =>
  readPageFiles(new URL('../../lambda/accounts/pages/', import.meta.url), await makePages());
/** Read once per test file. */
let pageFiles: ReturnType<typeof readPages> | undefined;

/** The real function in this process: emulated tables, real HTTP. */
export async function startTestWallet({
  environment,
  now = Date.now,
  port = 0,
  sourceIp,
  readSecret = noSecrets,
  spoilStore,
}: WalletOptions = {}) {
  await using started = new AsyncDisposableStack();
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const { keysTable, quotaTable, client, documents } = dynamoDb;
  const { endpoint } = spoilStore ? started.use(await startStoreProxy(dynamoDb.endpoint, spoilStore)) : dynamoDb;
  const config = readAccountsConfig({
    KEYS_TABLE: keysTable,
    QUOTA_TABLE: quotaTable,
    NETWORK_SALT: 'the salt of the tests',
    ...environment,
  });
  const log: string[] = [];
  pageFiles ??= readPages();
  const faults: unknown[] = [];
  const app = createAccounts(config, {
    store: createDynamoStore(createTestCaller(endpoint), dynamoDb, now),
    adminStore: createAdminStore(createTestAccess(endpoint), dynamoDb),
    readSecret,
    pageFiles: await pageFiles,
    writeLog: (line) => log.push(line),
    now,
    scheme: 'http',
  });
  installAwslambda();
  const handler: unknown = createHandler((call) => app({ ...call, sourceAddress: sourceIp?.() ?? call.sourceAddress }));
  const server = await startFunctionUrl({
    handler: handler as StreamingHandler,
    host: '127.0.0.1',
    port,
    onFailure: (fault) => faults.push(fault),
  });
  started.defer(() => server.close(0));

  const post = async (path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Reply> => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as ReplyBody };
  };
  /** A terminal's request. */
  const postForm = async (path: string, fields: Record<string, string> | string, headers = {}) => {
    const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(server.url + path, { method: 'POST', headers: { ...type, ...headers }, body });
    const answer = (await response.json()) as TerminalAnswer;
    return { status: response.status, headers: response.headers, body: answer };
  };
  /** Requests a message to sign. */
  const challenge = async ({ address }: TestAccount, purpose = 'link') =>
    (await post('/cli/challenge', { address, chainId: 1, purpose })).body.message;
  const scan = async (TableName: string) => (await client.send(new ScanCommand({ TableName }))).Items ?? [];

  const running = started.move();
  return {
    app,
    url: server.url,
    dynamoDb,
    keys: createKeyStore(documents, keysTable),
    signOut: createMemberStore(documents, keysTable).signOut,
    /** Log lines as they were written. */
    log: log as readonly string[],
    /** Errors that escaped the function: there must be none. */
    faults: faults as readonly unknown[],
    post,
    postForm,
    challenge,
    /** Signs in with a wallet, as the page does. */
    async sign(account: TestAccount, purpose: 'link' | 'manage' | 'terminal' = 'link'): Promise<Reply> {
      const message = await challenge(account, purpose);
      const signature = account.sign(message);
      return post(purpose === 'link' ? '/cli/link' : '/cli/sign-in', { message, signature, purpose });
    },
    /** Every item of both tables. */
    readTables: async () => [...(await scan(keysTable)), ...(await scan(quotaTable))],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The endpoints of the pages, below /cli: those for wallets, those that need a session, and all. */
export const forWallets = ['challenge', 'link', 'sign-in', 'network'];
export const forMembers = ['keys', 'keys/issue', 'keys/revoke', 'device/approve', 'device/deny'];
export const posted = [...forWallets, ...forMembers, 'device/find'];

/** A wallet with real signatures. Each number gives another one. */
export function testAccount(number: number) {
  const privateKey = Hex.fromNumber(number + 1, { size: 32 });
  return {
    address: Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey }), { checksum: true }),
    sign(message: string) {
      const payload = PersonalMessage.getSignPayload(Hex.fromString(message));
      return Signature.toHex(Secp256k1.sign({ payload, privateKey }));
    },
  };
}

export type TestAccount = ReturnType<typeof testAccount>;

export const bearer = ({ body }: Pick<Reply, 'body'>) => ({ authorization: `Bearer ${body.session.token}` });

const noSecrets = () => Promise.reject(new Error('no secrets here'));
