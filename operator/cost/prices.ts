/**
 * List prices of us-east-1 in US dollars, first tier, without the free tier. Prices change and regions differ: after a change here
 * run `npm run cost`. docs/costs.md links the pages they come from.
 */
export const prices = {
  'Lambda, arm64, a GB-second': 0.0000133334,
  'Lambda, a million requests': 0.2,
  'DynamoDB on demand, a million write units': 0.625,
  'DynamoDB on demand, a million read units': 0.125,
  'DynamoDB, a GB stored for a month': 0.25,
  'DynamoDB, point-in-time recovery, a GB for a month': 0.2,
  'CloudWatch Logs, a GB taken in': 0.5,
  'CloudWatch, a metric for a month': 0.3,
  'CloudWatch, a metric watched by an alarm for a month': 0.1,
  'CloudWatch, a dashboard for a month': 3,
  'Secrets Manager, a secret for a month': 0.4,
  'Secrets Manager, ten thousand reads': 0.05,
  'WAF, a web ACL for a month': 5,
  'WAF, a rule for a month': 1,
  'Data transfer to the internet, a GB': 0.09,
  'Fargate, arm64, a vCPU-hour': 0.03238,
  'Fargate, arm64, a GB-hour': 0.00356,
  'Application Load Balancer, an hour': 0.0225,
  'Application Load Balancer, a capacity unit for an hour': 0.008,
  'Public IPv4 address, an hour': 0.005,
} as const;
