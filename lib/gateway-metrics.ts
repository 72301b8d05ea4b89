import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { canaryMetrics, metrics } from '../lambda/report/metric-names.ts';
import type { Tables } from './tables.ts';

/** What answers requests. The gateway has one engine, or both. */
export interface Serving {
  readonly gateway?: { readonly function: LambdaFunction } | undefined;
  readonly web?: { readonly functionName: string } | undefined;
  readonly wallet: { readonly function: LambdaFunction };
}

interface Sources {
  readonly namespace: string;
  readonly serving: Serving;
  readonly tables: Tables;
  /** Whether there is one that emits figures. */
  readonly canary: boolean;
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

export type FunctionMetrics = GatewayMetrics['walletFunction'];

/** The figures that alarms and dashboard are made of: the function's own, Lambda's and DynamoDB's. Sums of five minutes. */
export function createGatewayMetrics({ namespace, serving, tables, canary }: Sources) {
  const period = Duration.minutes(5);
  const own = (metric: keyof typeof metrics, statistic = 'Sum') =>
    new Metric({ namespace, metricName: metrics[metric].name, statistic, period });
  const { keys, quota } = tables;
  const sum = { statistic: 'Sum', period };
  const ofFunction = (one: LambdaFunction) => ({
    /** What never got as far as the function's own code: crashes, time-outs, a start that failed. */
    crashes: one.metricErrors(sum),
    throttles: one.metricThrottles(sum),
    invocations: one.metricInvocations(sum),
    /** What its URL was asked, and answered, with the function or without it. */
    url: {
      requests: one.metric('UrlRequestCount', sum),
      refused: one.metric('Url4xxCount', sum),
      failed: one.metric('Url5xxCount', sum),
    },
    concurrency: one.metric('ConcurrentExecutions', { statistic: 'Maximum', period: Duration.minutes(1) }),
  });
  /** What the function does with a table: it never writes keys. */
  const use = (table: Tables['keys'], kind: 'Read' | 'Write') => ({
    throttled: table.metric(`${kind}ThrottleEvents`, sum),
    units: table.metric(`Consumed${kind}CapacityUnits`, sum),
  });

  return {
    own,
    /** One metric for each value of the dimension that was ever seen. */
    split: (metric: 'refusals' | 'upstreamFailures') => {
      const { name, dimension } = metrics[metric];
      const search = `{"${namespace}",${dimension}} MetricName="${name}"`;
      return new MathExpression({ expression: `SEARCH('${search}', 'Sum', ${period.toSeconds()})`, period, label: '' });
    },
    upstreamFailuresOf: (failureClass: string) =>
      new Metric({
        namespace,
        metricName: metrics.upstreamFailures.name,
        dimensionsMap: { [metrics.upstreamFailures.dimension]: failureClass },
        ...sum,
      }),
    gatewayFunction: serving.gateway && ofFunction(serving.gateway.function),
    walletFunction: ofFunction(serving.wallet.function),
    webFailures: serving.web && webFailures(serving.web.functionName, period),
    concurrencyOfAccount: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'ConcurrentExecutions',
      statistic: 'Maximum',
      period: Duration.minutes(1),
    }),
    canaryFailures: canary
      ? new Metric({ namespace, metricName: canaryMetrics.failures.name, statistic: 'Maximum', period })
      : undefined,
    tableUses: {
      KeyReads: use(keys, 'Read'),
      QuotaReads: use(quota, 'Read'),
      QuotaWrites: use(quota, 'Write'),
    },
  };
}

/**
 * Answers of a web function's endpoint with a status from 500 on: the gateway's own, and the platform's where the server did not
 * start, crashed or took too long. The one figure of the endpoint whose name AWS documents; asked for by the function's name
 * alone, as the other dimensions of the metric are not documented:
 * https://docs.aws.amazon.com/lambda/latest/dg/web-functions-monitoring-metrics.html
 */
function webFailures(functionName: string, period: Duration): MathExpression {
  const from = `FROM "AWS/Lambda/Web" WHERE FunctionName = '${functionName}'`;
  const expression = `SELECT SUM(HTTPResponseStatusClass5XX) ${from}`;
  return new MathExpression({ expression, period, label: 'Failures at the endpoint (5xx)' });
}
