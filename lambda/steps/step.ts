import { toGatewayError } from '../errors.ts';
import { createPipeline, type Step } from '../pipeline.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { Arrived, GatewayResponse, RequestSoFar } from '../request/request.ts';

/** A step of the gateway: what it needs of a request, and what it adds to it. */
export type GatewayStep<Needs, Adds extends object = object> = Step<Needs, Adds, RequestSoFar>;

/** Answers a request, also after an error. */
export type Answer<Start extends Arrived = Arrived> = (request: Start) => Promise<GatewayResponse>;

/** Opens a pipeline that renders whatever is thrown in the endpoint's dialect. */
export function openPipeline<Start extends Arrived>({ names }: { readonly names: HeaderNames }) {
  return createPipeline<Start, RequestSoFar, GatewayResponse>(({ route, outcome }, thrown) => {
    const error = toGatewayError(thrown);
    outcome.end = 'refused';
    outcome.error = error;
    return {
      statusCode: error.status,
      headers: { ...error.headers, 'content-type': 'application/json', [names.error]: error.code },
      body: route.renderError(error),
    };
  });
}
