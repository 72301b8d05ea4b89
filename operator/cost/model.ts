import { catalogue } from '../../lambda/errors.ts';
import { parts } from '../../lambda/quota/deployment-limit.ts';
import { metrics } from '../../lambda/report/metrics.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { assumptions, canary, edge, inventory, usualMemory } from './assumptions.ts';
import { prices } from './prices.ts';

const million = 1_000_000;
const gigabyte = 1_000_000_000;

/** Dollars for a million requests, by cause. */
export function costOfMillion(seconds: number, memory: number) {
  const { eventsPerSecond, eventBytes, logBytes, writeUnits, readUnits } = assumptions;
  return {
    compute: million * seconds * (memory / 1024) * prices['Lambda, arm64, a GB-second'],
    requests: prices['Lambda, a million requests'],
    database:
      writeUnits * prices['DynamoDB on demand, a million write units'] +
      readUnits * prices['DynamoDB on demand, a million read units'],
    logs: ((million * logBytes) / gigabyte) * prices['CloudWatch Logs, a GB taken in'],
    transfer:
      ((million * seconds * eventsPerSecond * eventBytes) / gigabyte) * prices['Data transfer to the internet, a GB'],
  };
}

/** Dollars a month for Lambda alone, which containers would replace. The rest costs the same with both. */
export function lambdaMonth(requests: number, seconds: number, memory: number = usualMemory): number {
  const { compute, requests: calls } = costOfMillion(seconds, memory);
  return (requests / million) * (compute + calls);
}

/** How many containers are needed for this many requests a month. */
export function containersFor(requests: number, seconds: number): number {
  const { hoursPerMonth, peak, container, utilization, eventsPerSecond, processorSecondsPerEvent } = assumptions;
  const streams = (requests * seconds * peak) / (hoursPerMonth * 3600);
  const each = (container.vcpus * utilization) / (eventsPerSecond * processorSecondsPerEvent);
  return Math.max(container.atLeast, Math.ceil(streams / each));
}

/** Dollars a month for containers behind a load balancer, each with an address of its own. */
export function containersMonth(count: number): number {
  const { hoursPerMonth, container } = assumptions;
  const hourly =
    container.vcpus * prices['Fargate, arm64, a vCPU-hour'] +
    container.gigabytes * prices['Fargate, arm64, a GB-hour'] +
    prices['Public IPv4 address, an hour'];
  const balancer =
    prices['Application Load Balancer, an hour'] +
    prices['Application Load Balancer, a capacity unit for an hour'] +
    2 * prices['Public IPv4 address, an hour'];
  return hoursPerMonth * (count * hourly + balancer);
}

/** The requests a month at which both cost the same; below that Lambda is cheaper. */
export function breakEven(seconds: number, memory: number = usualMemory): number {
  let [low, high] = [0, gigabyte];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (lambdaMonth(middle, seconds, memory) < containersMonth(containersFor(middle, seconds))) low = middle;
    else high = middle;
  }
  return high;
}

/** Dollars a month while nobody calls, minus what is free. */
export function idleMonth(free = { watchedMetrics: 0, dashboards: 0 }) {
  const watchedMetrics = Math.max(0, inventory.watchedMetrics - free.watchedMetrics);
  const dashboards = Math.max(0, inventory.dashboards - free.dashboards);
  return {
    secrets: inventory.secrets * prices['Secrets Manager, a secret for a month'],
    alarms: watchedMetrics * prices['CloudWatch, a metric watched by an alarm for a month'],
    dashboard: dashboards * prices['CloudWatch, a dashboard for a month'],
  };
}

/**
 * Dollars for a million requests by the limits that they count towards: a write for each; and for a million refusals by a spent
 * limit, each of which is charged, refunded, and looks for room in every part.
 */
export function costOfLimits() {
  const write = prices['DynamoDB on demand, a million write units'];
  const read = prices['DynamoDB on demand, a million read units'];
  return { member: write, guest: 2 * write, refusal: 2 * write + parts * read };
}

/** Dollars a month to store so many items of so many bytes, with point-in-time recovery. */
export function storageMonth(items: number, bytes: number): number {
  const perGigabyte =
    prices['DynamoDB, a GB stored for a month'] + prices['DynamoDB, point-in-time recovery, a GB for a month'];
  return ((items * bytes) / gigabyte) * perGigabyte;
}

/** Dollars to scan a table once, eventually consistent: half a unit per 4 KB. */
export function scanCost(items: number, bytes: number): number {
  return ((items * bytes) / 4096 / 2 / million) * prices['DynamoDB on demand, a million read units'];
}

/** How many metrics there are when every code and every class has occurred. */
export function metricCount(): number {
  const counted = Object.values(failureClasses).filter(({ code }) => catalogue[code].status >= 500);
  const values = { Code: Object.keys(catalogue).length, Class: counted.length };
  return Object.values(metrics).reduce(
    (sum, metric) => sum + ('dimension' in metric ? values[metric.dimension] : 1),
    0,
  );
}

/** Dollars a month for an idle edge without a web ACL. */
export function edgeMonth(): number {
  return (
    prices['Secrets Manager, a secret for a month'] +
    edge.metrics * prices['CloudWatch, a metric for a month'] +
    edge.watchedMetrics * prices['CloudWatch, a metric watched by an alarm for a month']
  );
}

/** Dollars a month for the canary and its requests to the gateway, without the upstream's tokens. */
export function canaryMonth() {
  const runs = (assumptions.hoursPerMonth * 60) / canary.minutesBetween;
  const { seconds, requests } = canary;
  const gigabytes = (canary.memory + usualMemory) / 1024;
  return {
    runs,
    secret: prices['Secrets Manager, a secret for a month'],
    metric:
      prices['CloudWatch, a metric for a month'] +
      canary.watchedMetrics * prices['CloudWatch, a metric watched by an alarm for a month'],
    compute:
      runs * seconds * gigabytes * prices['Lambda, arm64, a GB-second'] +
      ((runs * (1 + requests)) / million) * prices['Lambda, a million requests'],
    rest:
      (runs / 10_000) * prices['Secrets Manager, ten thousand reads'] +
      ((runs * canary.logBytes) / gigabyte) * prices['CloudWatch Logs, a GB taken in'] +
      (runs / million) * prices['DynamoDB on demand, a million write units'],
  };
}

/** The requests a second that an account's environments can serve. */
export function requestsPerSecond(seconds: number, concurrency: number = assumptions.accountConcurrency): number {
  return concurrency / seconds;
}

/** Dollars a month for the secret that every warm environment reads once a minute. */
export function secretReadsMonth(environments: number): number {
  return ((environments * 60 * assumptions.hoursPerMonth) / 10_000) * prices['Secrets Manager, ten thousand reads'];
}
