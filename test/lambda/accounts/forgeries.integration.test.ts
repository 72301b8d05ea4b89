import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { testRows } from '../../support/test-rows.ts';

/** The order of secp256k1: (r, s) and (r, order - s) are both signatures, each by one of the two values of v. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const account = testAccount(1);
const stranger = testAccount(2);

let wallet: TestWallet;
let today = Date.UTC(2026, 10, 21, 12);
let message: string;
beforeAll(async () => {
  wallet = await startTestWallet({ now: () => today });
});
afterAll(async () => wallet[Symbol.asyncDispose]());
beforeEach(async () => {
  // Each test has its own day, and so unused limits.
  today += 86_400_000;
  message = await wallet.challenge(account);
});

const submit = async (text: string, signature: string) => {
  const { status, body } = await wallet.post('/cli/link', { message: text, signature });
  return [status, body.error?.code];
};
const hex = (value: bigint) => value.toString(16).padStart(64, '0');
const parts = async () => {
  const signature = await account.signMessage({ message });
  const r = BigInt(signature.slice(0, 66));
  return { signature, r, s: BigInt(`0x${signature.slice(66, 130)}`), v: Number.parseInt(signature.slice(130), 16) };
};

describe('a message that was added to or cut is refused, though correctly signed', () => {
  testRows<[string, (text: string) => string, number, signer?: typeof account]>([
    ['another domain', (text) => text.replace(/^\S+/, 'evil.example'), 401],
    ['another URI', (text) => text.replace(/URI: \S+/, 'URI: https://evil.example/cli'), 401],
    ['another chain', (text) => text.replace('Chain ID: 1', 'Chain ID: 5'), 401],
    ['a later end', (text) => text.replace(/Expiration Time: .*/, 'Expiration Time: 2030-01-01T00:00:00.000Z'), 401],
    ['another account, of its signer', (text) => text.replace(account.address, stranger.address), 401, stranger],
    ['resources', (text) => `${text}\nResources:\n- https://evil.example`, 401],
    ['a request id', (text) => `${text}\nRequest ID: 1`, 401],
    ['a time before which it does not hold', (text) => `${text}\nNot Before: 2020-01-01T00:00:00.000Z`, 401],
    ['itself, twice', (text) => `${text}\n\n${text}`, 401],
    ['a line more', (text) => `${text}\n`, 401],
    ['a scheme', (text) => `https://${text}`, 401],
    ['another spelling of the address', (text) => text.replace(account.address, account.address.toLowerCase()), 401],
    ['an accent that is hard to see', (text) => text.replace('API', 'AP\u0131'), 401],
    ['Windows’ line ends', (text) => text.replaceAll('\n', '\r\n'), 400],
    ['a byte order mark', (text) => `\ufeff${text}`, 400],
    ['a space that does not break', (text) => text.replace('Nonce: ', 'Nonce:\u00a0'), 400],
    ['digits of another script', (text) => text.replace('127', '１２７'), 400],
    ['no time to end', (text) => text.replace(/\nExpiration Time: .*/, ''), 400],
  ])('in any place', async (_, change, status, signer = account) => {
    const text = change(message);
    expect(text).not.toBe(message);
    const before = await wallet.readTables();
    const code = status === 400 ? 'invalid_request' : 'invalid_sign_in';
    expect(await submit(text, await signer.signMessage({ message: text }))).toEqual([status, code]);
    expect(await wallet.readTables()).toEqual(before);
  });
});

describe('the forms of a signature', () => {
  test('those that no plain wallet uses are refused', async () => {
    const { r, s, v } = await parts();
    const before = await wallet.readTables();
    const forms = [
      `0x${hex(r)}${hex((BigInt(v - 27) << 255n) | s)}`, // compact: https://eips.ethereum.org/EIPS/eip-2098
      `0x${'00'.repeat(320)}${'6492'.repeat(16)}`, // of a contract yet to be made: https://eips.ethereum.org/EIPS/eip-6492
      `0x${hex(r)}${hex(s)}02`,
      `0x${hex(r)}${hex(s)}25`, // as transactions write it for a chain
      `0x${hex(0n)}${hex(s)}1b`,
      `0x${hex(r)}${hex(order)}1b`,
      `0x${hex(r)}${hex(s)}1`,
    ];
    for (const form of forms) {
      const [status, code] = await submit(message, form);
      expect([form, status, code]).toEqual([
        form,
        code === 'invalid_request' ? 400 : 401,
        expect.stringMatching(/^invalid_(request|signature)$/),
      ]);
    }
    expect(await wallet.readTables()).toEqual(before);
  });

  test('the other half of the curve is the same signature, which counts once in whatever form', async () => {
    const { signature, r, s, v } = await parts();
    expect(await submit(message, `0x${hex(r)}${hex(order - s)}${v === 27 ? '1c' : '1b'}`)).toEqual([200, undefined]);
    expect(await submit(message, signature)).toEqual([401, 'invalid_sign_in']);
  });

  test('0 and 1 are accepted like 27 and 28', async () => {
    const { r, s, v } = await parts();
    expect(await submit(message, `0x${hex(r)}${hex(s)}0${v - 27}`)).toEqual([200, undefined]);
  });
});

test('twenty simultaneous signatures of one wallet give five keys, ten grants and no failure', async () => {
  const messages = [message];
  while (messages.length < 20) messages.push(await wallet.challenge(account));
  const signed = await Promise.all(
    messages.map(async (text) => ({ message: text, signature: await account.signMessage({ message: text }) })),
  );
  const replies = await Promise.all(signed.map((body) => wallet.post('/cli/link', body)));
  const count = (check: (reply: (typeof replies)[number]) => boolean) => replies.filter(check).length;
  expect(count(({ status }) => status === 429)).toBe(10);
  expect(count(({ status }) => status === 200)).toBe(10);
  const session = replies.find(({ status }) => status === 200)?.body.session.token;
  const { body } = await wallet.post('/cli/keys', {}, { authorization: `Bearer ${session}` });
  expect(body.keys).toHaveLength(5);
  expect(wallet.faults).toEqual([]);
});
