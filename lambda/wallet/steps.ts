import { openAiErrorFields } from '../dialects/openai-error.ts';
import { GatewayError } from '../errors.ts';
import { runCooperatively } from '../json/cooperative.ts';
import { createPipeline, type Step } from '../pipeline.ts';
import { readJsonBody } from '../request/body.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { GatewayResponse } from '../request/request.ts';
import type { WalletLog } from './log.ts';
import { badRequest, type SignedIn, toShownError, WalletError, type WalletRequest, type WithInput } from './request.ts';
import type { Sessions } from './sessions.ts';

type WalletStep<Needs, Adds extends object = object> = Step<Needs, Adds, WalletRequest>;

export interface PipelineDependencies {
  readonly log: WalletLog;
  readonly sessions: Sessions;
  readonly names: Pick<HeaderNames, 'error'>;
}

/** Opens a pipeline that renders whatever is thrown as JSON in the OpenAI dialect. */
export function openPipeline({ log, names }: PipelineDependencies) {
  return createPipeline<WalletRequest, WalletRequest, GatewayResponse>((request, thrown) => {
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
      body: JSON.stringify({ error: openAiErrorFields(error) }),
    };
  });
}

/**
 * Refuses requests from other sites' pages. Browsers name a request's origin in headers that no page can change. A request
 * without them does not come from a browser, so nobody was tricked into sending it.
 */
export function checkOrigin(): WalletStep<WalletRequest> {
  return {
    before: ({ headers, site }) => {
      const { origin = site.origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
      if (origin === site.origin && fetchSite === 'same-origin') return {};
      throw new WalletError('forbidden_origin', `Only the page ${site.pageUrl} itself may send this request.`);
    },
  };
}

const bodyLimit = 65_536;

/** Reads the JSON object of a POST. Another site can't send this content type without a preflight. */
export function readInput(): WalletStep<WalletRequest, WithInput> {
  return {
    before: async ({ headers, bodySize, takeBody }) => {
      const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
      if (type !== 'application/json') throw badRequest('Send JSON, with content-type: application/json.', 415);
      if ((await bodySize(bodyLimit)) > bodyLimit) {
        throw new GatewayError('request_too_large', `The request body may have at most ${bodyLimit} bytes.`);
      }
      const body = await takeBody();
      // Checked as every body is, and short enough to be parsed a second time.
      const { text } = await runCooperatively(readJsonBody(body.length > 0 ? body : '{}'));
      return { input: JSON.parse(text) };
    },
  };
}

/** Finds out who is signed in. */
export function requireSession({ sessions }: { sessions: Sessions }): WalletStep<WalletRequest, SignedIn> {
  return {
    before: async ({ headers }) => ({ member: await sessions.findMember(headers.authorization) }),
  };
}
