/**
 * List prices of us-east-1 in US dollars, first tier, without the free tier, from https://aws.amazon.com/lambda/pricing/ and the like for each
 * service. Prices change and regions differ: after a change here run `npm run cost`.
 */
export const prices = {
  'Lambda, arm64, a GB-second': 0.0000133334,
  'Lambda, a million requests': 0.2,
  'DynamoDB on demand, a million write units': 0.625,
  'DynamoDB on demand, a million read units': 0.125,
  'CloudWatch Logs, a GB taken in': 0.5,
  'CloudWatch, a metric for a month': 0.3,
  'CloudWatch, a metric watched by an alarm for a month': 0.1,
  'CloudWatch, a dashboard for a month': 3,
  'Secrets Manager, a secret for a month': 0.4,
  'Secrets Manager, ten thousand reads': 0.05,
  'Data transfer to the internet, a GB': 0.09,
  'Fargate, arm64, a vCPU-hour': 0.03238,
  'Fargate, arm64, a GB-hour': 0.00356,
  'Application Load Balancer, an hour': 0.0225,
  'Application Load Balancer, a capacity unit for an hour': 0.008,
  'Public IPv4 address, an hour': 0.005,
} as const;

/** What costs money while nobody calls, by default and with what can be added. A test counts the same in the templates. */
export const inventory = {
  least: { secrets: 2, watchedMetrics: 22, dashboards: 1, tables: 2 },
  canary: { secrets: 1, watchedMetrics: 1, dashboards: 0, tables: 0 },
  edge: { secrets: 1, watchedMetrics: 7, dashboards: 0, tables: 0 },
} as const;

/** The default of `memorySize`. */
export const usualMemory = 512;

/** One run of the canary: three short streams, all their log lines and its own. */
export const canary = { minutesBetween: 5, requests: 3, memory: 256, seconds: 3, logLines: 4 } as const;
