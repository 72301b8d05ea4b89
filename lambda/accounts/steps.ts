import { hash } from 'node:crypto';
import { openAiErrorFields } from '../dialects/openai-error.ts';
import { GatewayError } from '../errors.ts';
import { runCooperatively } from '../json/cooperative.ts';
import { createPipeline, type Step } from '../pipeline.ts';
import { readJsonBody } from '../request/body.ts';
import type { GatewayResponse } from '../request/call.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { MemberStore } from '../tables/members.ts';
import { sessionLifetime } from './limits.ts';
import type { AccountsLog } from './log.ts';
import {
  AccountsError,
  type AccountsRequest,
  badRequest,
  type SignedIn,
  toShownError,
  type WithForm,
  type WithInput,
} from './request.ts';

type AccountsStep<Needs, Adds extends object = object> = Step<Needs, Adds, AccountsRequest>;

export interface PipelineDependencies {
  readonly log: AccountsLog;
  readonly sessions: Sessions;
  readonly names: Pick<HeaderNames, 'error'>;
}

type ShownError = ReturnType<typeof toShownError>;

const inOpenAiShape = (error: ShownError): object => ({ error: openAiErrorFields(error) });

/** Opens a pipeline that renders whatever is thrown as JSON, in the OpenAI dialect unless told otherwise. */
export function openPipeline({ log, names }: PipelineDependencies, render = inOpenAiShape) {
  return createPipeline<AccountsRequest, AccountsRequest, GatewayResponse>((request, thrown) => {
    const error = toShownError(thrown);
    log.refused(request, error);
    return {
      statusCode: error.status,
      headers: {
        ...error.headers,
        'content-type': 'application/json',
        'cache-control': 'no-store',
        [names.error]: error.code,
      },
      body: JSON.stringify(render(error)),
    };
  });
}

/**
 * Refuses requests from other sites' pages. Browsers name a request's origin in headers that no page can change. A request
 * without them does not come from a browser, so nobody was tricked into sending it.
 */
export const checkOrigin: AccountsStep<AccountsRequest> = {
  before: ({ headers, site }) => {
    const { origin = site.origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
    if (origin === site.origin && fetchSite === 'same-origin') return {};
    throw new AccountsError('forbidden_origin', `Only the page ${site.pageUrl} itself may send this request.`);
  },
};

/** Refuses a body of another type, with this status, or of too many bytes. */
async function readBody(
  { headers, bodySize, takeBody }: AccountsRequest,
  type: string,
  status: number,
): Promise<string | Uint8Array> {
  if (headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== type) {
    throw badRequest(`The body must have content-type: ${type}.`, status);
  }
  if ((await bodySize(bodyLimit)) > bodyLimit) {
    throw new GatewayError('request_too_large', `The request body may have at most ${bodyLimit} bytes.`);
  }
  return takeBody();
}

const bodyLimit = 65_536;

/** Reads the JSON object of a POST. Another site can't send this content type without a preflight. */
export const readInput: AccountsStep<AccountsRequest, WithInput> = {
  before: async (request) => {
    const body = await readBody(request, 'application/json', 415);
    // Checked as every body is, and short enough to be parsed a second time.
    const { text } = await runCooperatively(readJsonBody(body.length > 0 ? body : '{}'));
    return { input: JSON.parse(text) };
  },
};

/** Reads the fields of a form, each of which may be there once. OAuth knows no other status for what is no form than 400. */
export const readForm: AccountsStep<AccountsRequest, WithForm> = {
  before: async (request) => {
    const body = await readBody(request, 'application/x-www-form-urlencoded', 400);
    const form = new URLSearchParams(Buffer.from(body).toString());
    const repeated = [...form.keys()].find((name) => form.getAll(name).length > 1);
    if (repeated === undefined) return { form };
    throw badRequest(`${repeated} is there more than once.`);
  },
};

export type Sessions = ReturnType<typeof createSessions>;

interface SessionDependencies {
  readonly store: Pick<MemberStore, 'putSession' | 'findSession' | 'wasSignedOut'>;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/** Keeps a person who has signed once signed in for a while. Only a hash of the token is stored. */
export function createSessions({ store, now, randomBytes }: SessionDependencies) {
  return {
    async open(member: string) {
      // Given only to the page, which keeps it as long as it is open.
      const token = `lts_${randomBytes(32).toString('base64url')}`;
      const expiresAt = now() + sessionLifetime;
      await store.putSession(hash('sha256', token), { member, expiresAt });
      return { token, expiresAt };
    },
    /** The member who is signed in, by the header `Authorization: Bearer TOKEN`. */
    async findMember(authorization = ''): Promise<string> {
      const token = /^bearer +(lts_[\w-]{43})$/i.exec(authorization)?.[1];
      const session = token === undefined ? undefined : await store.findSession(hash('sha256', token));
      if (session && session.expiresAt > now()) {
        const { member, expiresAt } = session;
        if (!(await store.wasSignedOut(member, expiresAt - sessionLifetime))) return member;
      }
      throw new AccountsError(
        'invalid_session',
        'You are not signed in, or your session is over. Please sign in again.',
      );
    },
  };
}

/** Finds out who is signed in. */
export function requireSession({ sessions }: { sessions: Sessions }): AccountsStep<AccountsRequest, SignedIn> {
  return {
    before: async ({ headers }) => ({ member: await sessions.findMember(headers.authorization) }),
  };
}

/** Answers a request, also after an error. */
export type Pipeline = (request: AccountsRequest) => Promise<GatewayResponse>;

/** A handler for an endpoint's work. */
export function answerWith<Request>(action: (request: Request) => Promise<object>) {
  return async (request: Request): Promise<GatewayResponse> => {
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    return { statusCode: 200, headers, body: JSON.stringify(await action(request)) };
  };
}

/** Answers with an error: for unknown paths, wrong methods and requests that can't be served. */
export function createRefusalPipeline(error: GatewayError, dependencies: PipelineDependencies): Pipeline {
  return openPipeline(dependencies).handler(() => Promise.reject(error));
}
