import { expect } from '@jest/globals';
import type { DialectName } from './fixtures.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { findIdentity } from './upstream-identity.ts';
import { waitUntil } from './wait-until.ts';
import { canary, wire } from './wire.ts';

/** What a client may reveal about itself. */
export const personal = {
  'user-agent': 'canary-of-the-user-agent',
  cookie: 'session=canary-of-the-cookie',
  'x-forwarded-for': '203.0.113.77',
  forwarded: 'for=203.0.113.77',
  origin: 'https://canary-of-the-origin.example',
  referer: 'https://canary-of-the-referer.example',
};

/** The outcome of one request, seen from all sides. */
interface Outcome {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The error code in the response's header. */
  readonly code: string | null;
  /** How much the caller's counter has grown. */
  readonly charged: number;
  /** The request's last log line. */
  readonly line: Readonly<Record<string, unknown>>;
}

interface Ask {
  readonly stream?: boolean;
  readonly key?: string;
  /** Called with the response once its head has arrived, before the body is read. */
  readonly onHead?: (response: Response) => void;
}

export type WatchedGateway = Awaited<ReturnType<typeof startWatchedGateway>>;

type Options = Parameters<typeof startTestGateway>[0];

/** No limits except those that a test sets. */
const generous = { GUEST_LIMIT: '100000', BURST_LIMIT: '10000', MEMBER_LIMIT: '100000' };

/**
 * A test gateway that reads the caller's counter before and after each request, and at the end checks for leaks and escaped
 * errors.
 */
export async function startWatchedGateway(options: Options = {}) {
  const gateway = await startTestGateway({ ...options, environment: { ...generous, ...options.environment } });

  const remaining = async (key: string = canary.clientKey): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
    await response.text();
    return Number(response.headers.get('x-svc-remaining'));
  };

  /** Waits for the log line about the end of this request. */
  const lineOf = (requestId: string | null) => {
    const isEnd = (line: Readonly<Record<string, unknown>>) =>
      line.requestId === requestId && /^(answered|refused)$/.test(String(line.message));
    return waitUntil(() => gateway.log.findLast(isEnd), `the log says how request ${requestId} ended`);
  };

  return {
    gateway,
    remaining,
    lineOf,
    async ask(dialect: DialectName, { stream = false, key, onHead }: Ask = {}): Promise<Outcome> {
      const before = await remaining(key);
      const { path, question } = wire[dialect];
      const sent = { ...personal, 'x-api-key': key ?? canary.clientKey };
      const response = await gateway.post(path, { ...question, stream }, sent);
      onHead?.(response);
      const text = await response.text();
      const { status, headers } = response;
      const line = await lineOf(headers.get('x-request-id'));
      const code = headers.get('x-svc-error');
      return { status, headers, text, code, charged: before - (await remaining(key)), line };
    },
    async [Symbol.asyncDispose]() {
      const requests = [...gateway.upstream.requests];
      await gateway[Symbol.asyncDispose]();
      // Resolves only if no connection to the upstream is still open.
      await Promise.all(requests.map(({ closed }) => closed));
      expect(gateway.faults).toEqual([]);
      expectQuiet(gateway.log);
    },
  };
}

/** Expects no trace in the log of what callers and upstreams said, or who they are. */
export function expectQuiet(log: TestGateway['log']): void {
  const text = JSON.stringify(log);
  expect(text).not.toMatch(/canary|127\.0\.0|203\.0\.113|::1|::ffff|upstream-key|ltk_/);
  expect(findIdentity(text)).toEqual([]);
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  /** The reason in the log, if there is one. */
  readonly reason: string | undefined;
  readonly charged: 0 | 1;
}

/** Expects a plain error: in the dialect's error format, with the right charge, a reason for the operator, and no leak. */
export function expectRefusal(dialect: DialectName, outcome: Outcome, expected: Refusal): void {
  const { status, code, charged, line, text, headers } = outcome;
  expect({ status, code, charged, reason: line.reason }).toEqual(expected);
  expect(headers.get('content-type')).toBe('application/json');
  const overloaded = status === 529 && dialect === 'messages';
  const type = overloaded ? 'overloaded_error' : wire[dialect].errorTypes[expected.code];
  expect(type).toBeDefined();
  const message = expect.stringMatching(/^.{10,}[.)]$/s);
  expect(JSON.parse(text)).toEqual(wire[dialect].error({ code: expected.code, type: type ?? '', message }));
  if (charged === 1) expect(text).not.toMatch('not charged');
  if (charged === 1) expect(text).toMatch(/This request was charged[.;]/);
  expect(findIdentity(`${text} ${JSON.stringify([...headers])}`)).toEqual([]);
  for (const secret of [canary.prompt, canary.upstreamBody, 'upstream-key', '127.0.0.1']) {
    expect(text).not.toMatch(secret);
  }
}
