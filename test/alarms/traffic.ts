import { GatewayError } from '../../lambda/errors.ts';
import { measureFailedTry, measureRequest } from '../../lambda/report/measure.ts';
import type { Measurement } from '../../lambda/report/metrics.ts';
import type { RequestSoFar } from '../../lambda/request/request.ts';
import { type FailureKind, UpstreamFailure } from '../../lambda/upstream/failure.ts';
import type { SynthesizedStack } from '../support/stack.ts';
import { createMetricStore, type MetricStore } from './simulator/metric-store.ts';

type UrlMetric = 'UrlRequestCount' | 'Url4xxCount' | 'Url5xxCount';

/** The metrics that requests leave: the gateway's by its own code, Lambda's by their names. */
export interface Traffic {
  readonly store: MetricStore;
  measure(minute: number, measurements: readonly Measurement[]): void;
  /** A metric of the function that answers requests. */
  lambda(minute: number, name: UrlMetric | 'Errors' | 'Throttles', value?: number): void;
  /** An answered stream, perhaps after failed tries. */
  answered(minute: number, firstByte?: number, inVain?: readonly FailureKind[]): void;
  /** A request that the upstream failed. */
  failed(minute: number, kind: FailureKind): void;
  /** A scanner's request for some file. */
  scanned(minute: number): void;
  /** The operator has stopped the gateway. */
  stopped(minute: number): void;
  /** A refusal by the platform itself. */
  turnedAway(minute: number): void;
}

export function createTraffic({ stack, template }: SynthesizedStack): Traffic {
  const store = createMetricStore();
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));
  const Ref = functions.find((id) => id.startsWith('GatewayFunction'));
  const Dimensions = [{ Name: 'FunctionName', Value: { Ref } }];

  const measure: Traffic['measure'] = (minute, measurements) => {
    for (const { metric, value, of } of measurements) {
      const dimensions = 'dimension' in metric ? { Dimensions: [{ Name: metric.dimension, Value: of }] } : {};
      store.add(minute, { Namespace: stack.stackName, MetricName: metric.name, ...dimensions }, value);
    }
  };
  const lambda: Traffic['lambda'] = (minute, MetricName, value = 1) =>
    store.add(minute, { Namespace: 'AWS/Lambda', MetricName, Dimensions }, value);
  const answer = (minute: number, status: number, outcome: object) => {
    measure(minute, measureRequest({ route: chat, outcome } as RequestSoFar, status, 5_000));
    lambda(minute, 'UrlRequestCount');
    if (status >= 400) lambda(minute, status < 500 ? 'Url4xxCount' : 'Url5xxCount');
  };

  return {
    store,
    measure,
    lambda,
    answered(minute, firstByte = 800, inVain = []) {
      for (const kind of inVain) measure(minute, measureFailedTry(kind));
      const usage = { input: 1_000, output: 200 };
      answer(minute, 200, { exchange: { tries: inVain.length + 1, timeToFirstByte: firstByte, usage } });
    },
    failed(minute, kind) {
      const error = new UpstreamFailure(kind);
      const exchange = { tries: 1, failure: kind, usage: {} };
      answer(minute, error.status, { error, end: 'refused', refunded: error.refund, exchange });
    },
    scanned: (minute) =>
      answer(minute, 404, { error: new GatewayError('not_found', 'There is nothing here.'), end: 'refused' }),
    stopped(minute) {
      const error = new GatewayError('service_unavailable', 'Stopped.', { reason: 'stopped' });
      answer(minute, 503, { error, end: 'refused' });
    },
    turnedAway(minute) {
      lambda(minute, 'UrlRequestCount');
      lambda(minute, 'Url4xxCount');
    },
  };
}

const chat = { kind: 'inference', endpoint: { charged: true } };
