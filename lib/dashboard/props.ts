import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Alarms } from '../alarms/alarms.ts';
import type { EdgeMetrics } from '../edge-metrics.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';

export interface DashboardProps {
  readonly metrics: GatewayMetrics;
  readonly alarms: Alarms;
  /** The gateway's log in each deployed engine. */
  readonly logGroups: readonly ILogGroup[];
  /** The log with Lambda's own report of each invocation. */
  readonly functionLogGroup?: ILogGroup | undefined;
  readonly walletLogGroup: ILogGroup;
  readonly canaryLogGroup: ILogGroup | undefined;
  readonly edge: EdgeMetrics | undefined;
}
