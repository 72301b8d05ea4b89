import { GatewayError, toGatewayError } from '../errors.ts';
import { readCredential } from '../identity/credential.ts';
import type { Callers } from '../identity/identify.ts';
import { createPipeline } from '../pipeline.ts';
import type { SpendLimit } from '../quota/deployment-limits.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { readEncoding, unsupportedEncoding } from '../request/read-body-text.ts';
import { renderRefusal } from '../request/refuse.ts';
import type {
  Admitted,
  Arrived,
  ArrivedAtInference,
  GatewayStep,
  Identified,
  RequestSoFar,
} from '../request/request.ts';

/** Opens a pipeline whose errors are rendered in the endpoint's dialect. */
export function openPipeline<Start extends Arrived>(names: HeaderNames) {
  return createPipeline<Start, RequestSoFar, GatewayResponse>(({ route, outcome }, thrown) => {
    const error = toGatewayError(thrown);
    outcome.end = 'refused';
    outcome.error = error;
    return renderRefusal(error, route, names);
  });
}

/**
 * Buffers the body and checks its size and encoding, before the caller is looked up. If the headers alone get the request refused,
 * the body is discarded instead.
 *
 * Needs: only the headers and the body as it arrives. Adds: `credential`, `encoding`, `size`.
 * Fails: 413 `request_too_large`, 415 `unsupported_encoding`, or the engine's error for a body that does not arrive.
 */
export function admitBody({ requestBodyLimit }: { readonly requestBodyLimit: number }): GatewayStep<Arrived, Admitted> {
  return {
    before: async ({ headers, bodySize, dropBody }) => {
      const credential = readCredential(headers);
      const encoding = readEncoding(headers['content-encoding']);
      const mayPass = encoding !== undefined && credential.kind !== 'none';
      const size = await (mayPass ? bodySize() : dropBody());
      if (size > requestBodyLimit) {
        const message = `The request body may have at most ${requestBodyLimit / 1_048_576} MiB. Send less.`;
        throw new GatewayError('request_too_large', message);
      }
      if (encoding === undefined) throw unsupportedEncoding();
      return { credential, encoding, size };
    },
  };
}

/**
 * Identifies the caller by API key, or by network for guests and linked networks.
 *
 * Needs: the headers, or the `credential` from `admitBody`. Adds: `identity`, `memberHash`.
 * Fails: 401 `missing_api_key` or `invalid_api_key`, 503 `unconfigured` before the first key is issued, 503 if the store is down.
 */
export function authenticate({ identify, hashMember }: Callers): GatewayStep<Arrived & Partial<Admitted>, Identified> {
  return {
    before: async ({ headers, networkId, credential = readCredential(headers) }) => {
      const identity = await identify(credential, networkId, headers.origin);
      return { identity, memberHash: identity.kind === 'member' ? await hashMember(identity.member) : undefined };
    },
  };
}

/** Why the operator has stopped the gateway; undefined while it serves. */
export type ReadStop = () => Promise<{ readonly reason?: string | undefined } | undefined>;

/** What can stop the gateway from serving anyone. */
interface Service {
  readonly readStop: ReadStop;
  /** Whether any upstream has a key. */
  readonly isConfigured: () => Promise<boolean>;
  /** Undefined if the operator has set none. */
  readonly spendLimit: SpendLimit | undefined;
}

/**
 * Refuses everyone, uncharged, while the gateway is stopped by its operator, has no upstream key, or has reached its daily spend
 * limit.
 *
 * Needs: an inference route. Adds: nothing to the request; notes `spendShare` in the outcome.
 * Fails: 503 `service_unavailable` (stopped, spend limit, store down) or `unconfigured` (no key).
 */
export function requireService({ readStop, isConfigured, spendLimit }: Service): GatewayStep<ArrivedAtInference> {
  return {
    before: async ({ route, outcome }) => {
      // In parallel: each is refreshed once a minute, and a request should not wait for two refreshes in a row.
      const [stop, configured] = await Promise.all([readStop(), isConfigured()]);
      if (stop) throw stopped(stop);
      if (!configured) {
        throw new GatewayError('unconfigured', 'This gateway has no upstream key yet: its operator has to set one.');
      }
      if (spendLimit && !route.endpoint.countsTokens) outcome.spendShare = await spendLimit.check();
      return {};
    },
  };
}

function stopped({ reason }: { readonly reason?: string | undefined }): GatewayError {
  return new GatewayError(
    'service_unavailable',
    `The operator has stopped this gateway${reason ? `: ${reason}` : ''}`,
    {
      advice: 'Please try again later.',
      headers: { 'retry-after': '60', 'x-should-retry': 'false' },
      reason: 'stopped',
    },
  );
}
