import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Alarms } from '../alarms/alarms.ts';
import type { EdgeMetrics } from '../edge-metrics.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';

/** The dashboard's width in grid units, which each row fills. */
export const width = 24;

export function heading(text: string): cloudwatch.IWidget {
  return new cloudwatch.TextWidget({
    markdown: `## ${text}`,
    width,
    height: 1,
    background: cloudwatch.TextWidgetBackground.TRANSPARENT,
  });
}

/** A graph of those metrics that this deployment has. */
export function graph(
  title: string,
  metrics: readonly (cloudwatch.IMetric | undefined)[],
  span = 8,
): cloudwatch.IWidget {
  const left = metrics.filter((metric) => metric !== undefined);
  return new cloudwatch.GraphWidget({ title, left, width: span, height: 6, leftYAxis: { min: 0, showUnits: false } });
}

/** A Logs Insights query. It runs whenever the dashboard is opened, for half a cent per gigabyte of log. */
export function table(
  title: string,
  logGroups: readonly (ILogGroup | undefined)[],
  span: number,
  queryLines: string[],
): cloudwatch.IWidget {
  return new cloudwatch.LogQueryWidget({
    title,
    logGroupNames: logGroups.flatMap((logGroup) => logGroup?.logGroupName ?? []),
    queryLines,
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    width: span,
    height: 6,
  });
}

/** One metric as a percentage of another. */
export function share(name: string, part: cloudwatch.IMetric, whole: cloudwatch.IMetric): cloudwatch.IMetric {
  const [one, all] = [`${name}Part`, `${name}Whole`];
  return new cloudwatch.MathExpression({
    expression: `100 * ${one} / ${all}`,
    usingMetrics: { [one]: part, [all]: whole },
    label: name,
  });
}

export interface DashboardProps {
  /** The currency of the prices, where there are any. */
  readonly currency: string | undefined;
  readonly metrics: GatewayMetrics;
  readonly alarms: Alarms;
  /** The gateway's log. */
  readonly logGroup: ILogGroup;
  /** The log with Lambda's own report of each invocation. */
  readonly functionLogGroup: ILogGroup | undefined;
  readonly walletLogGroup: ILogGroup;
  readonly canaryLogGroup: ILogGroup | undefined;
  readonly edge: EdgeMetrics | undefined;
}
