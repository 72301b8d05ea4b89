import type { Measurement } from './emf.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { metrics } from './metric-names.ts';

/** What one request that is over adds to the metrics; a preflight is none. */
export function measureRequest(request: GatewayRequest, duration: number): Measurement[] {
  const { route, error, end, exchange } = request;
  if (route.kind === 'preflight') return [];
  const measurements: Measurement[] = [{ metric: metrics.requests, value: 1 }];
  if (request.coldStart) measurements.push({ metric: metrics.coldStarts, value: 1 });
  if (request.refunded) measurements.push({ metric: metrics.refunds, value: 1 });
  if (error && end === 'refused') measurements.push({ metric: metrics.refusals, value: 1, of: error.code });
  if (exchange?.failure !== undefined) measurements.push(measureFailure(exchange.failure));
  else if (error && ownFaults.has(error.code)) measurements.push({ metric: metrics.gatewayErrors, value: 1 });
  if (!exchange) return measurements;

  const { timeToFirstByte, usage } = exchange;
  measurements.push({ metric: metrics.duration, value: duration });
  // A plain answer has none of its own: its first byte leaves with its last.
  if (timeToFirstByte !== undefined) measurements.push({ metric: metrics.timeToFirstByte, value: timeToFirstByte });
  if (usage.input !== undefined) measurements.push({ metric: metrics.inputTokens, value: usage.input });
  if (usage.output !== undefined) measurements.push({ metric: metrics.outputTokens, value: usage.output });
  return measurements;
}

/** One try that failed upstream. */
export function measureFailure(failureClass: string): Measurement {
  return { metric: metrics.upstreamFailures, value: 1, of: failureClass };
}

/**
 * The gateway's own or its store's, where no upstream was the reason. `unconfigured` is none: while a deployment is being set
 * up, any caller can meet it as often as they like.
 */
const ownFaults: ReadonlySet<string> = new Set(['internal_error', 'service_unavailable']);
