import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { canaryMetrics, metrics } from '../lambda/report/metrics.ts';
import type { Tables } from './tables.ts';

interface Sources {
  readonly namespace: string;
  /** Either `gateway` or `web` is set. */
  readonly gateway: { readonly function: LambdaFunction } | undefined;
  readonly web: { readonly functionName: string } | undefined;
  readonly accounts: { readonly function: LambdaFunction };
  readonly tables: Tables;
  readonly canary: boolean;
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

export type FunctionMetrics = GatewayMetrics['accountsFunction'];

/** The metrics behind the alarms and the dashboard: the gateway's own, Lambda's and DynamoDB's. Most are sums over five minutes. */
export function createGatewayMetrics({ namespace, gateway, web, accounts, tables, canary }: Sources) {
  const period = Duration.minutes(5);
  const sum = { statistic: 'Sum', period };
  const concurrency = { statistic: 'Maximum', period: Duration.minutes(1) };
  const functionMetrics = (one: LambdaFunction) => ({
    /** Failures that the function could not report itself: crashes, timeouts, failed starts. */
    crashes: one.metricErrors(sum),
    throttles: one.metricThrottles(sum),
    invocations: one.metricInvocations(sum),
    /** Requests to the function URL and their responses, whether or not they reached the function. */
    url: {
      requests: one.metric('UrlRequestCount', sum),
      refused: one.metric('Url4xxCount', sum),
      failed: one.metric('Url5xxCount', sum),
    },
    concurrency: one.metric('ConcurrentExecutions', concurrency),
  });
  /** Reads or writes of a table. */
  const use = (table: Tables['keys'], kind: 'Read' | 'Write') => ({
    throttled: table.metric(`${kind}ThrottleEvents`, sum),
    units: table.metric(`Consumed${kind}CapacityUnits`, sum),
  });

  return {
    own: (metric: keyof typeof metrics, statistic = 'Sum') =>
      new Metric({ namespace, metricName: metrics[metric].name, statistic, period }),
    /** One series per value of the dimension. */
    split: (metric: 'refusals' | 'upstreamFailures' | 'spent', every = period) => {
      const { name, dimension } = metrics[metric];
      const search = `{"${namespace}",${dimension}} MetricName="${name}"`;
      const expression = `SEARCH('${search}', 'Sum', ${every.toSeconds()})`;
      return new MathExpression({ expression, period: every, label: '' });
    },
    upstreamFailuresOf: (failureClass: string) =>
      new Metric({
        namespace,
        metricName: metrics.upstreamFailures.name,
        dimensionsMap: { [metrics.upstreamFailures.dimension]: failureClass },
        ...sum,
      }),
    spentOn: (model: string) =>
      new Metric({
        namespace,
        metricName: metrics.spent.name,
        dimensionsMap: { [metrics.spent.dimension]: model },
        ...sum,
      }),
    gatewayFunction: gateway && functionMetrics(gateway.function),
    accountsFunction: functionMetrics(accounts.function),
    webFailures: web && webFailures(web.functionName, period),
    concurrencyOfAccount: new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', ...concurrency }),
    canaryFailures: canary
      ? new Metric({ namespace, metricName: canaryMetrics.failures.name, statistic: 'Maximum', period })
      : undefined,
    tableUses: {
      KeyReads: use(tables.keys, 'Read'),
      QuotaReads: use(tables.quota, 'Read'),
      QuotaWrites: use(tables.quota, 'Write'),
    },
  };
}

/**
 * 5xx responses of a web function's endpoint: the gateway's own, and Lambda's when the server did not start, crashed or timed
 * out. It is the endpoint's only documented metric, and is selected by the function's name because its other dimensions are not
 * documented:
 * https://docs.aws.amazon.com/lambda/latest/dg/web-functions-monitoring-metrics.html
 */
function webFailures(functionName: string, period: Duration): MathExpression {
  const from = `FROM "AWS/Lambda/Web" WHERE FunctionName = '${functionName}'`;
  const expression = `SELECT SUM(HTTPResponseStatusClass5XX) ${from}`;
  return new MathExpression({ expression, period, label: 'Failures at the endpoint (5xx)' });
}
