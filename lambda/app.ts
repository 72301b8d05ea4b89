import { setImmediate as nextTurn } from 'node:timers/promises';
import { embeddings } from './dialects/embeddings/embeddings.ts';
import { allDialects, dialects } from './dialects/index.ts';
import { stopping, toGatewayError } from './errors.ts';
import type { FindNetwork } from './identity/network.ts';
import { createRequestId, gatewayHeaders } from './request/headers.ts';
import type { App, IncomingRequest } from './request/incoming-request.ts';
import { createLostPage } from './request/lost-page.ts';
import type { Arrived, ArrivedAtInference } from './request/request.ts';
import { createRouter, type Route } from './request/routes.ts';
import { readTrace } from './request/trace.ts';
import { type Config, clientsPageTitle } from './settings/config.ts';
import { createModels } from './settings/models.ts';
import { createInference, type InferenceParts } from './steps/inference.ts';
import { createOtherEndpoints } from './steps/other-endpoints.ts';
import { createPrefetch } from './steps/prefetch.ts';

/** The parts of the gateway, each created by its own folder. */
interface AppParts extends InferenceParts {
  /** Whether the account pages are at the same address. */
  readonly servesPages: boolean;
  readonly findNetwork: FindNetwork;
}

/** Reserved from the platform's time limit, in milliseconds, so that a stream that is cut off can still send its last event. */
const farewellTime = 5_000;

/** The whole gateway: a request in, a response out, on any platform. */
export function createApp(config: Config, parts: AppParts): App {
  const { names, callers, limits, readStop, findNetwork, log, now } = parts;
  const { service, quota, budget, upstreams, hiding } = config;
  const { requestTimeout } = config.request;
  const headerSettings = { ...config.request, names, now };
  const models = createModels(service);
  const findRoute = openRouter(config, parts.servesPages);
  const { isConfigured } = parts.upstreams;
  const prefetch = createPrefetch({ identify: callers.identify, isConfigured, readStop });
  const inference = createInference({ quota, budget, request: config.request, upstreams, hiding }, parts);
  const others = createOtherEndpoints({ names, callers, quota: limits.quota, models, currency: budget.currency, now });
  let coldStart = true;
  const unreadSnapshot = { limit: quota.guestLimit, remaining: 0 };

  /** Without an address or the salt, callers can't be told apart, so the request will be refused. */
  const identifyNetwork = async ({ headers, sourceAddress }: IncomingRequest, { kind }: Route) => {
    // A health check may come without an address, and must work without the secrets.
    if (kind === 'health') return { id: '', site: '', snapshot: unreadSnapshot };
    try {
      return { ...(await findNetwork(headers, sourceAddress)) };
    } catch (thrown) {
      return { id: '', site: '', error: toGatewayError(thrown), snapshot: unreadSnapshot };
    }
  };

  return async (incoming) => {
    const startedAt = now();
    const timeLeft = Math.min(requestTimeout, incoming.timeLeft() - farewellTime);
    const route = findRoute(incoming);
    const isHealth = route.kind === 'health';
    if (route.kind === 'inference') prefetch(incoming, coldStart);
    const network = await identifyNetwork(incoming, route);
    const isStopping = incoming.health === 'stopping' || (incoming.health === 'draining' && isHealth);
    const error = network.error ?? (isStopping ? stopping() : undefined);
    // Listed one by one. The steps add fields, and V8 would turn a spread copy into a hash table, with slower access to every field.
    const { method, path, headers, bodySize, dropBody, takeBody, memory, waitToCount, clientGone, shutdownSignal } =
      incoming;
    memory.claim(network.site);
    const request: Arrived = {
      method,
      path,
      headers,
      bodySize,
      dropBody,
      takeBody,
      memory,
      waitToCount,
      clientGone,
      shutdownSignal,
      id: createRequestId(),
      networkId: network.id,
      trace: readTrace(headers.traceparent),
      route: error ? { ...route, kind: 'refused', error } : route,
      startedAt,
      deadline: startedAt + timeLeft,
      coldStart,
      outcome: { snapshot: network.snapshot },
    };
    if (!isHealth) coldStart = false;
    const answering = isInference(request) ? inference(request) : others(request);
    const response = await answering.catch((fault) => {
      // Pipelines render their own errors, so this is a bug in one of them. The engine sends its last resort.
      const { outcome } = request;
      outcome.end = 'refused';
      outcome.error = toGatewayError(fault);
      log.finished(request, outcome.error.status);
      throw fault;
    });
    const finish = () => log.finished(request, response.statusCode);
    // Send the response first: nobody waits for the log line.
    const settled = response.settled?.then(() => nextTurn()).then(finish);
    // A stream is logged when it ends.
    if (!settled && typeof response.body === 'string' && !isHealth) finish();
    return {
      ...response,
      settled,
      headers: { ...response.headers, ...gatewayHeaders(request, headerSettings) },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}

const isInference = (request: Arrived): request is ArrivedAtInference => request.route.kind === 'inference';

/** The router for what this deployment offers. */
function openRouter({ service, accounts }: Config, servesPages: boolean) {
  const { serviceName, offersEmbeddings } = service;
  return createRouter(offersEmbeddings ? allDialects : dialects, {
    missing: offersEmbeddings ? [] : embeddings.endpoints,
    lostPage: createLostPage({
      serviceName,
      pagesUrl: accounts.appUrl ?? (servesPages ? '' : undefined),
      clients: clientsPageTitle(accounts),
    }),
  });
}
