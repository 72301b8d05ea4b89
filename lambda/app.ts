import type { Call } from './http/call.ts';
import { stopping, toGatewayError } from './http/errors.ts';
import { gatewayHeaders } from './http/gateway-headers.ts';
import type { GatewayRequest, GatewayResponse } from './http/gateway-request.ts';
import type { Route, Router } from './http/routes.ts';
import type { FindNetwork } from './identity/find-network.ts';
import { createInferencePipeline } from './pipelines/inference.ts';
import type { ExchangeDependencies } from './pipelines/inference-exchange.ts';
import { createModelsPipeline } from './pipelines/models.ts';
import type { Pipeline, PipelineDependencies } from './pipelines/pipeline.ts';
import { createUnroutedPipeline } from './pipelines/unrouted.ts';

export interface AppDependencies extends PipelineDependencies, ExchangeDependencies {
  readonly router: Router;
  readonly createRequestId: () => string;
  readonly findNetwork: FindNetwork;
  readonly corsOrigins: readonly string[];
  readonly requestTimeout: number;
  readonly guestLimit: number;
}

export type App = (call: Call) => Promise<GatewayResponse>;

/** Kept back from the platform's own time limit, so that a stream that is cut can still send its last event. */
const farewellTime = 5_000;

/** The whole gateway: takes a call, returns a response, and knows no platform. */
export function createApp(dependencies: AppDependencies): App {
  const { router, now, log, names, createRequestId, findNetwork, corsOrigins, requestTimeout } = dependencies;
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
    health: unrouted,
  };
  const unread = { limit: dependencies.guestLimit, remaining: 0 };

  /** Without an address or the salt, callers can't be told apart, so the request is refused. */
  const identifyNetwork = async ({ headers, sourceAddress }: Call, { kind }: Route) => {
    // A health check may come without an address, and must work without the secrets.
    if (kind === 'health') return { id: '', site: '', figures: unread };
    try {
      return { ...(await findNetwork(headers, sourceAddress)) };
    } catch (thrown) {
      return { id: '', site: '', error: toGatewayError(thrown), figures: unread };
    }
  };

  return async (call) => {
    const startedAt = now();
    const { method, path, headers } = call;
    const timeLeft = Math.min(requestTimeout, call.timeLeft() - farewellTime);
    const wanted = router.route(call);
    const network = await identifyNetwork(call, wanted);
    const error = network.error ?? (call.health === 'stopping' ? stopping() : undefined);
    const route: Route = error ? { ...wanted, kind: 'refused', error } : wanted;
    call.room.claim(network.site);
    const request: GatewayRequest = {
      id: createRequestId(),
      method,
      path,
      route,
      headers,
      bodySize: call.bodySize,
      dropBody: call.dropBody,
      takeBody: call.takeBody,
      room: call.room,
      networkId: network.id,
      startedAt,
      deadline: startedAt + timeLeft,
      clientGone: call.clientGone,
      cutShort: call.cutShort,
      coldStart,
      figures: network.figures,
    };
    if (wanted.kind !== 'health') coldStart = false;
    const response = await pipelines[request.route.kind](request).catch((fault) => {
      // Pipelines render their own errors, so this is a bug in one. The engine answers it.
      request.end = 'refused';
      request.error = toGatewayError(fault);
      log.finished(request, request.error.status);
      throw fault;
    });
    // A stream is over later; the exchange logs it then.
    if (typeof response.body === 'string' && wanted.kind !== 'health') log.finished(request, response.statusCode);
    return {
      statusCode: response.statusCode,
      headers: { ...response.headers, ...gatewayHeaders(request, names, corsOrigins) },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}
