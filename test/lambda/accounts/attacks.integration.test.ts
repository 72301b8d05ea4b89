import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createSiweMessage } from 'viem/siwe';
import { startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';

const account = testAccount(1);
const stranger = testAccount(2);
/** No hour ends while a hundred attempts are made. */
const noon = Date.UTC(2026, 10, 21, 12);

describe('a signature that is refused writes nothing', () => {
  let wallet: TestWallet;
  // Each test has its own day, and so unused limits.
  let today = Date.UTC(2026, 10, 21, 12);
  let time: number;
  let message: string;
  let before: unknown[];

  beforeAll(async () => {
    wallet = await startTestWallet({ now: () => time });
  });
  afterAll(async () => wallet[Symbol.asyncDispose]());
  beforeEach(async () => {
    today += 86_400_000;
    time = today;
    message = await wallet.challenge(account);
    before = await wallet.readTables();
  });
  afterEach(async () => {
    expect(await wallet.readTables()).toEqual(before);
    // The message is still valid: none of the attempts has used it up.
    time = today;
    const signature = await account.signMessage({ message });
    expect((await wallet.post('/cli/sign-in', { message, signature })).status).toBe(401);
    expect((await wallet.post('/cli/link', { message, signature })).status).toBe(200);
  });

  const submit = async (text: string, signer = account, path = '/cli/link') => {
    const { status, body } = await wallet.post(path, {
      message: text,
      signature: await signer.signMessage({ message: text }),
    });
    return [status, body.error.code];
  };
  const tampered = (from: string | RegExp, to: string) => {
    const text = message.replace(from, to);
    expect(text).not.toBe(message);
    return text;
  };

  test('by another key', async () => {
    const { status, body } = await wallet.post('/cli/link', {
      message,
      signature: await stranger.signMessage({ message }),
    });
    expect([status, body.error.code]).toEqual([401, 'invalid_signature']);
    expect(body.error.message).toContain('Contract accounts (smart wallets such as a Safe) can’t sign in here');
  });

  test('of a contract account', async () => {
    const signature = `0x${'ab'.repeat(130)}`;
    const { status, body } = await wallet.post('/cli/link', { message, signature });
    expect([status, body.error.code]).toEqual([401, 'invalid_signature']);
    expect(body.error.message).toContain('Contract accounts');
  });

  test('that was made for another domain of the same function', async () => {
    const elsewhere = wallet.url.replace('127.0.0.1', 'localhost');
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ address: account.address });
    const response = await fetch(`${elsewhere}/cli/challenge`, { method: 'POST', headers, body });
    before = await wallet.readTables();
    const { message: text } = (await response.json()) as { message: string };
    const signed = { message: text, signature: await account.signMessage({ message: text }) };
    const { status, body: answer } = await wallet.post('/cli/link', signed);
    expect([status, answer.error.code]).toEqual([401, 'invalid_sign_in']);
    expect(answer.error.message).toMatch(/^This message was signed for localhost:\d+, not for 127\.0\.0\.1:/);
  });

  test('too late', async () => {
    time += 5 * 60_000;
    const { status, body } = await wallet.post('/cli/link', {
      message,
      signature: await account.signMessage({ message }),
    });
    expect([status, body.error.code]).toEqual([401, 'invalid_sign_in']);
    expect(body.error.message).toMatch(/^This message has expired/);
  });

  test('for another purpose', async () => {
    expect(await submit(message, account, '/cli/sign-in')).toEqual([401, 'invalid_sign_in']);
    expect(await submit(tampered(/Link the network .*/, 'Say hello.'))).toEqual([401, 'invalid_sign_in']);
  });

  test('of a message that was never made here', async () => {
    const { host } = new URL(wallet.url);
    const text = createSiweMessage({
      address: account.address,
      chainId: 1,
      domain: host,
      uri: `${wallet.url}/cli`,
      version: '1',
      nonce: '0123456789abcdef0123456789abcdef',
      issuedAt: new Date(time),
      expirationTime: new Date(time + 60_000),
    });
    expect(await submit(text)).toEqual([401, 'invalid_sign_in']);
  });

  testRows([
    [{}, 'message must be a text.'],
    [{ message: 'Please.', signature: '0x00' }, /^message must be the text to sign/],
    [{ message: 7, signature: '0x00' }, 'message must be a text.'],
    ['[]', /JSON object/],
    ['{', /not valid JSON/],
  ])('that is invalid', async (given, error) => {
    const { status, body } = await wallet.post('/cli/link', given);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(error);
  });

  // Patterns that libraries look for may take time by the square of a text's length.
  test('with a message or a signature that is longer than any', async () => {
    const refusal = async (given: object) => (await wallet.post('/cli/link', given)).body.error.message;
    expect(await refusal({ message: 'URI: '.repeat(400), signature: '0x00' })).toMatch(/^message must be the text to/);
    expect(await refusal({ message: `${'URI: '.repeat(400)}U`, signature: '0x00' })).toBe(
      'message may have 2000 characters at most.',
    );
    expect(await refusal({ message, signature: `0x${'0'.repeat(16_383)}` })).toBe(
      'signature may have 16384 characters at most.',
    );
  });

  testRows(['', '0x', 'no hex', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, `0x${'11'.repeat(64)}1c`])(
    'that no account can have made',
    async (signature) => {
      const { status, body } = await wallet.post('/cli/link', { message, signature });
      expect([400, 401]).toContain(status);
      expect(body.error.message).not.toMatch(/undefined|internal/i);
    },
  );
});

describe('a signature counts once', () => {
  test('when it is sent again', async () => {
    await using wallet = await startTestWallet({ now: () => noon });
    using _timers = stopTimers();
    const message = await wallet.challenge(account);
    const signed = { message, signature: await account.signMessage({ message }) };
    expect((await wallet.post('/cli/link', signed)).status).toBe(200);
    const before = await wallet.readTables();
    const { status, body } = await wallet.post('/cli/link', signed);
    expect([status, body.error.code]).toEqual([401, 'invalid_sign_in']);
    expect(await wallet.readTables()).toEqual(before);
  });

  test('when it is sent many times at once', async () => {
    await using wallet = await startTestWallet({ now: () => noon });
    using _timers = stopTimers();
    const message = await wallet.challenge(account);
    const signed = { message, signature: await account.signMessage({ message }) };
    const replies = await Promise.all(Array.from({ length: 20 }, () => wallet.post('/cli/link', signed)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)]);
    expect((await wallet.keys.list()).keys).toHaveLength(1);
  });
});

describe('a hundred attempts from one network', () => {
  test('with forged messages, each correctly signed, write nothing', async () => {
    await using wallet = await startTestWallet({ now: () => noon });
    using _timers = stopTimers();
    const message = await wallet.challenge(account);
    const before = await wallet.readTables();
    const attempt = async (number: number) => {
      const text = message.replace(/Nonce: .+/, `Nonce: ${number.toString().padStart(32, '0')}`);
      return (
        await wallet.post('/cli/link', { message: text, signature: await account.signMessage({ message: text }) })
      ).status;
    };
    expect(await tally(100, attempt)).toEqual({ 401: 100 });
    expect(await wallet.readTables()).toEqual(before);
  });

  test('in good faith, each with its own wallet, do not pass either', async () => {
    await using wallet = await startTestWallet({ now: () => noon });
    using _timers = stopTimers();
    const attempt = async (number: number) => {
      const signer = testAccount(number);
      const { status, body } = await wallet.post('/cli/challenge', { address: signer.address });
      if (status !== 200) return status;
      const { message } = body;
      return (await wallet.post('/cli/link', { message, signature: await signer.signMessage({ message }) })).status;
    };
    expect(await tally(100, attempt)).toEqual({ 200: 30, 429: 70 });
    expect((await wallet.keys.list({ pageSize: 1000 })).keys).toHaveLength(30);
    // 60 messages, 30 times a key with its slot and session, the link, the mark that keys were issued; 32 counters.
    expect((await wallet.readTables()).length).toBeLessThan(60 + 30 * 3 + 2 + 32 + 1);
  });
});

/** Makes this many attempts, ten at a time, and counts their statuses. */
async function tally(attempts: number, attempt: (number: number) => Promise<number>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let first = 0; first < attempts; first += 10) {
    const statuses = await Promise.all(Array.from({ length: 10 }, (_, index) => attempt(first + index)));
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
