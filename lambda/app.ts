import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { isPreflight } from './http/cors.ts';
import { toGatewayError } from './http/errors.ts';
import { gatewayHeaders } from './http/gateway-headers.ts';
import type { GatewayRequest, GatewayResponse } from './http/gateway-request.ts';
import type { Route, Router } from './http/routes.ts';
import { networkId, networkOf } from './identity/network.ts';
import type { LocateViewer } from './identity/viewer-address.ts';
import { createInferencePipeline } from './pipelines/inference.ts';
import type { ExchangeDependencies } from './pipelines/inference-exchange.ts';
import { createModelsPipeline } from './pipelines/models.ts';
import type { Pipeline, PipelineDependencies } from './pipelines/pipeline.ts';
import { createUnroutedPipeline } from './pipelines/unrouted.ts';

export interface AppDependencies extends PipelineDependencies, ExchangeDependencies {
  readonly router: Router;
  readonly createRequestId: () => string;
  readonly networkSalt: () => Promise<string>;
  readonly locateViewer: LocateViewer;
  readonly corsOrigins: readonly string[];
  readonly requestTimeout: number;
  readonly guestLimit: number;
}

/** The context of an invocation, with the signal that only the local server has. */
export type AppContext = Context & { readonly clientGone?: AbortSignal };

export type App = (event: LambdaFunctionURLEvent, context: AppContext) => Promise<GatewayResponse>;

/** Time kept back from the function's own limit, so that the last event of a cut stream still goes out. */
const farewellTime = 5_000;

/** The whole gateway: an event of a Function URL in, a response out. Knows nothing of how Lambda streams. */
export function createApp(dependencies: AppDependencies): App {
  const { router, now, log, names, createRequestId, networkSalt, locateViewer, corsOrigins, requestTimeout } =
    dependencies;
  const inference = createInferencePipeline(dependencies);
  const models = createModelsPipeline(dependencies);
  const unrouted = createUnroutedPipeline(dependencies);
  let coldStart = true;
  const pipelines: Record<Route['kind'], Pipeline> = {
    inference,
    models,
    model: models,
    preflight: unrouted,
    refused: unrouted,
  };

  /** Without its address or the salt no caller can be told from another: then there is only an error to answer with. */
  const identifyNetwork = async ({ headers, requestContext }: LambdaFunctionURLEvent) => {
    try {
      const [address, salt] = await Promise.all([locateViewer(headers, requestContext.http.sourceIp), networkSalt()]);
      return { id: networkId(networkOf(address) ?? address, salt) };
    } catch (thrown) {
      return { id: '', error: toGatewayError(thrown), figures: { limit: dependencies.guestLimit, remaining: 0 } };
    }
  };

  return async (event, context) => {
    const startedAt = now();
    const { method } = event.requestContext.http;
    const timeLeft = Math.min(requestTimeout, context.getRemainingTimeInMillis() - farewellTime);
    const network = await identifyNetwork(event);
    const wanted = router.route(method, event.rawPath, isPreflight(method, event.headers));
    const route: Route = network.error ? { ...wanted, kind: 'refused', error: network.error } : wanted;
    const request: GatewayRequest = {
      id: createRequestId(),
      route,
      headers: event.headers,
      body: event.body,
      bodyIsBase64: event.isBase64Encoded,
      networkId: network.id,
      startedAt,
      deadline: startedAt + timeLeft,
      clientGone: context.clientGone,
      coldStart,
      figures: network.figures,
    };
    coldStart = false;
    const response = await pipelines[request.route.kind](request, context).catch((fault) => {
      // A pipeline answers its errors itself: whoever calls has to answer this one, and is told nothing by it.
      request.end = 'refused';
      request.error = toGatewayError(fault);
      log.finished(request, request.error.status);
      throw fault;
    });
    // A stream is over later, and then logged by who sees its end.
    if (typeof response.body === 'string') log.finished(request, response.statusCode);
    return {
      statusCode: response.statusCode,
      headers: { ...response.headers, ...gatewayHeaders(request, names, corsOrigins) },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}
