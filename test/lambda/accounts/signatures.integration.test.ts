import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';

/** The order of secp256k1: (r, s) and (r, order - s) are both signatures, each by one of the two values of v. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const account = testAccount(1);
const stranger = testAccount(2);

let wallet: TestWallet;
let today = Date.UTC(2026, 10, 21, 12);
let time: number;
let message: string;
beforeAll(async () => {
  wallet = await startTestWallet({ now: () => time });
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});
beforeEach(async () => {
  // Each test has its own day, and so fresh rate limits.
  today += 86_400_000;
  time = today;
  message = await wallet.challenge(account);
});

/** The outcome of a signature: the status, and the error's code and message. */
async function submit(text: string, signature: string, path = '/cli/link') {
  const { status, body } = await wallet.post(path, { message: text, signature });
  return { status, code: body.error?.code, words: body.error?.message };
}
const sign = (text = message, signer = account) => signer.sign(text);
const hex = (value: bigint) => value.toString(16).padStart(64, '0');
const parts = () => {
  const signature = sign();
  const r = BigInt(signature.slice(0, 66));
  return { signature, r, s: BigInt(`0x${signature.slice(66, 130)}`), v: Number.parseInt(signature.slice(130), 16) };
};

describe('a refused signature writes nothing', () => {
  let before: unknown[];
  beforeEach(async () => {
    before = await wallet.readTables();
  });
  afterEach(async () => {
    expect(await wallet.readTables()).toEqual(before);
    // The message is still valid: none of the attempts has used it up.
    time = today;
    expect(await submit(message, sign(), '/cli/sign-in')).toMatchObject({ status: 401, code: 'invalid_sign_in' });
    expect(await submit(message, sign())).toMatchObject({ status: 200 });
  });

  testRows<
    [
      part: string,
      change: (text: string) => string,
      status: number,
      words?: RegExp | undefined,
      signer?: typeof account,
    ]
  >([
    ['another domain', (text) => text.replace(/^\S+/, 'evil.example'), 401, /^This message was signed for evil/],
    ['another URI', (text) => text.replace(/URI: \S+/, 'URI: https://evil.example/'), 401, /Was it another site/],
    ['another chain', (text) => text.replace('Chain ID: 1', 'Chain ID: 5'), 401],
    ['never made here', (text) => text.replace(/Nonce: .+/, `Nonce: ${'0'.repeat(32)}`), 401],
    ['a later end', (text) => text.replace(/Expiration Time: .*/, 'Expiration Time: 2030-01-01T00:00:00.000Z'), 401],
    [
      'another account, of its signer',
      (text) => text.replace(account.address, stranger.address),
      401,
      undefined,
      stranger,
    ],
    ['resources', (text) => `${text}\nResources:\n- https://evil.example`, 401],
    ['another spelling of the address', (text) => text.replace(account.address, account.address.toLowerCase()), 401],
    ['a byte order mark', (text) => `\ufeff${text}`, 400],
    ['no time to end', (text) => text.replace(/\nExpiration Time: .*/, ''), 400],
  ])('of a message that was changed anywhere', async (_, change, status, words = /./, signer = account) => {
    const text = change(message);
    expect(text).not.toBe(message);
    const code = status === 400 ? 'invalid_request' : 'invalid_sign_in';
    expect(await submit(text, sign(text, signer))).toEqual({ status, code, words: expect.stringMatching(words) });
  });

  test('of a message for another domain of the same function', async () => {
    const elsewhere = `${wallet.url.replace('127.0.0.1', 'localhost')}/cli/challenge`;
    const response = await fetch(elsewhere, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ address: account.address }),
    });
    const { message: text } = (await response.json()) as { message: string };
    before = await wallet.readTables();
    const words = expect.stringMatching(/^This message was signed for localhost:\d+, not for 127\.0\.0\.1:/);
    expect(await submit(text, sign(text))).toEqual({ status: 401, code: 'invalid_sign_in', words });
  });

  test('too late', async () => {
    time += 5 * 60_000;
    const words = expect.stringMatching(/^This message has expired/);
    expect(await submit(message, sign())).toEqual({ status: 401, code: 'invalid_sign_in', words });
  });

  const noContracts = /Contract accounts \(smart wallets such as a Safe\) can’t sign/;
  testRows<[string, (signed: Awaited<ReturnType<typeof parts>>) => string | Promise<string>, number, RegExp?]>([
    ['another key’s', () => sign(message, stranger), 401, noContracts],
    [
      'a contract account’s',
      () => `0x${'ab'.repeat(130)}`,
      401,
      /^This is not the signature of a plain account\. Contract/,
    ],
    // https://eips.ethereum.org/EIPS/eip-2098
    ['compact', ({ r, s, v }) => `0x${hex(r)}${hex((BigInt(v - 27) << 255n) | s)}`, 401],
    ['of an impossible v', ({ r, s }) => `0x${hex(r)}${hex(s)}02`, 401],
    ['of a transaction’s v', ({ r, s, v }) => `0x${hex(r)}${hex(s)}${(v + 10).toString(16)}`, 401],
    ['of too large an s', ({ r }) => `0x${hex(r)}${hex(order)}1b`, 401],
    ['half a byte short', ({ r, s }) => `0x${hex(r)}${hex(s)}1`, 400],
    ['no hexadecimal', () => 'no hex', 400],
  ])('of a format that no plain account uses', async (_, form, status, words = /^(?!.*(undefined|internal))/i) => {
    const code = status === 400 ? 'invalid_request' : 'invalid_signature';
    const outcome = await submit(message, await form(parts()));
    expect(outcome).toEqual({ status, code, words: expect.stringMatching(words) });
  });

  // Regular expressions in libraries may take quadratic time.
  const longest = 'URI: '.repeat(400);
  testRows<[path: 'challenge' | 'link', given: unknown, error: string | RegExp]>([
    ['link', {}, 'message must be a text.'],
    ['link', { message: 'Please.', signature: '0x00' }, /^message must be the text to sign/],
    ['link', '[]', /JSON object/],
    ['link', '{', /not valid JSON/],
    ['link', { message: longest, signature: '0x00' }, /^message must be the text to/],
    ['link', { message: `${longest}U`, signature: '0x00' }, 'message may have 2000 characters at most.'],
    ['link', { message: 'any', signature: `0x${'0'.repeat(16_383)}` }, 'signature may have 16384 characters at most.'],
    ['challenge', {}, /address must be a text/],
    ['challenge', { address: '0x12' }, /40 hexadecimal/],
    ['challenge', { address: account.address, chainId: 0 }, /chainId/],
    ['challenge', { address: account.address, chainId: '1' }, /chainId/],
    ['challenge', { address: account.address, purpose: 'steal' }, /purpose must be link or manage/],
  ])(
    'that is invalid or too long; the same goes for input that no message can be made from',
    async (path, given, error) => {
      const { status, body } = await wallet.post(`/cli/${path}`, given);
      const message = expect.stringMatching(error);
      expect([status, body.error]).toMatchObject([400, { code: 'invalid_request', message }]);
    },
  );
});

// By https://eips.ethereum.org/EIPS/eip-191, and as viem 2.56.9 signs with the private key 1.
test('the wallet of these tests signs as others do', () => {
  expect([testAccount(0).address, testAccount(0).sign('Some data')]).toEqual([
    '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
    '0x150de368c3035ffaa61247930604b5887348002c05a271cb11550ac6c6361cc6316fa67c5fa356af9e8f9ab947dac048a7235291ea6c9b84d9aaad6feedf78fd1b',
  ]);
});

describe('a signature counts once', () => {
  test('in either form: the other half of the curve is the same signature', async () => {
    const { signature, r, s, v } = parts();
    const other = `0x${hex(r)}${hex(order - s)}${v === 27 ? '1c' : '1b'}`;
    expect(await submit(message, other)).toMatchObject({ status: 200 });
    const before = await wallet.readTables();
    expect(await submit(message, signature)).toMatchObject({ status: 401, code: 'invalid_sign_in' });
    expect(await wallet.readTables()).toEqual(before);
  });

  test('with 0 and 1, which are accepted like 27 and 28', async () => {
    const { r, s, v } = parts();
    expect(await submit(message, `0x${hex(r)}${hex(s)}0${v - 27}`)).toMatchObject({ status: 200 });
  });

  test('when it is sent many times concurrently', async () => {
    using _timers = stopTimers();
    const signer = testAccount(3);
    const text = await wallet.challenge(signer);
    const signature = sign(text, signer);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => submit(text, signature)));
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)]);
    expect(await wallet.keys.list(signer.address.toLowerCase())).toHaveLength(1);
  });
});
