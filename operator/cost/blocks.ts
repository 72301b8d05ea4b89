import { catalogue } from '../../lambda/errors.ts';
import { metrics } from '../../lambda/report/metrics.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { canary, inventory, prices, usualMemory } from './prices.ts';

const million = 1_000_000;
const gigabyte = 1_000_000_000;
const hoursPerMonth = 730;
/** The gateway's line with its metrics, and Lambda's own lines about the invocation. */
const logBytes = 850 + 350;
const [eventsPerSecond, eventBytes] = [40, 230];
/** What CloudFront publishes only if asked, for the edge's alarms. */
const additionalEdgeMetrics = 8;
/** The free allowance of an account, unless something else in it uses it up. */
const free = { watchedMetrics: 10, dashboards: 3 };

/** The computed parts of docs/hosting.md, by the names in their markers. */
const blocks: Readonly<Record<string, () => string>> = {
  idle() {
    const { least, canary: ofCanary, edge } = inventory;
    const { secrets, alarms, dashboards } = standing(least);
    const beyondFree = standing({
      secrets: least.secrets,
      watchedMetrics: least.watchedMetrics - free.watchedMetrics,
      dashboards: Math.max(0, least.dashboards - free.dashboards),
    });
    const count = metricCount();
    return table(
      ['A month', 'US dollars'],
      [
        [`${least.secrets} secrets`, dollars(secrets)],
        [
          `alarms on ${least.watchedMetrics} metrics (the first ${free.watchedMetrics} of an account are free)`,
          dollars(alarms),
        ],
        [`${least.dashboards} dashboard (the first ${free.dashboards} of an account are free)`, dollars(dashboards)],
        [`${least.tables} tables on demand, functions, URLs, topic, log groups`, dollars(0)],
        ['**all of that, without a single request**', `**${dollars(sum(standing(least)))}**`],
        ['in an account that has not used up its free alarms and dashboards', dollars(sum(beyondFree))],
        ['with the canary, besides what the upstream bills', `+ ${dollars(sum(standing(ofCanary)) + canaryRuns())}`],
        [
          'with an edge, besides a web ACL',
          `+ ${dollars(sum(standing(edge)) + additionalEdgeMetrics * prices['CloudWatch, a metric for a month'])}`,
        ],
        [
          `if all ${count} metrics have a value in every hour`,
          `+ ${dollars(count * prices['CloudWatch, a metric for a month'])}`,
        ],
        [
          'for each environment in use all month, which reads a secret once a minute',
          `+ ${dollars(((60 * hoursPerMonth) / 10_000) * prices['Secrets Manager, ten thousand reads'])}`,
        ],
      ],
    );
  },

  million() {
    const memories = [usualMemory / 2, usualMemory, usualMemory * 2];
    return table(
      ['A million requests', ...memories.map((memory) => `${memory} MB`), 'of which transfer'],
      [2, 10, 30, 60, 300].map((seconds) => [
        `streams of ${seconds} s`,
        ...memories.map((memory) => dollars(sum(costOfMillion(seconds, memory)))),
        dollars(costOfMillion(seconds, usualMemory).transfer),
      ]),
    );
  },

  limits: () =>
    `Each of \`DAILY_LIMIT\` and \`GUEST_DAILY_LIMIT\` adds a write to every request that counts towards it, and another to its refund: ${dollars(prices['DynamoDB on demand, a million write units'])} for a million.`,

  containers() {
    const { compute, requests } = costOfMillion(10, usualMemory);
    const even = Math.round((containersMonth() / (compute + requests)) * 100) * 10_000;
    return `Two containers of half a vCPU and 1 GB behind a load balancer cost ${dollars(containersMonth())} a month, as much as ${even.toLocaleString('en-US')} streams of 10 s on Lambda.`;
  },
};

/** Renews the computed parts of a document, those between `<!-- computed: NAME -->` and `<!-- end -->`. */
export function renderDocument(text: string): string {
  return text.replace(/(<!-- computed: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const block = blocks[name];
    if (!block) throw new Error(`nothing is computed under the name ${name}`);
    return `${begin}\n${block()}\n\n${end}`;
  });
}

/** Dollars a month for what is there, whether it is used or not. */
function standing(counts: { readonly secrets: number; readonly watchedMetrics: number; readonly dashboards: number }) {
  return {
    secrets: counts.secrets * prices['Secrets Manager, a secret for a month'],
    alarms: counts.watchedMetrics * prices['CloudWatch, a metric watched by an alarm for a month'],
    dashboards: counts.dashboards * prices['CloudWatch, a dashboard for a month'],
  };
}

/** Dollars a month for the canary's runs and metric, and for its requests to the gateway. */
function canaryRuns(): number {
  const runs = (hoursPerMonth * 60) / canary.minutesBetween;
  const gigabyteSeconds = runs * canary.seconds * ((canary.memory + usualMemory) / 1024);
  return (
    prices['CloudWatch, a metric for a month'] +
    gigabyteSeconds * prices['Lambda, arm64, a GB-second'] +
    ((runs * (1 + canary.requests)) / million) * prices['Lambda, a million requests'] +
    (runs / 10_000) * prices['Secrets Manager, ten thousand reads'] +
    ((runs * canary.logLines * logBytes) / gigabyte) * prices['CloudWatch Logs, a GB taken in'] +
    (runs / million) * prices['DynamoDB on demand, a million write units']
  );
}

const publicModels = 2;

/** How many metrics there are when every code and every class has occurred. */
function metricCount(): number {
  const counted = Object.values(failureClasses).filter(({ code }) => catalogue[code].status >= 500);
  const values = { Code: Object.keys(catalogue).length, Class: counted.length, Model: publicModels };
  return sum(Object.values(metrics).map((metric) => ('dimension' in metric ? values[metric.dimension] : 1)));
}

/** Dollars for a million requests, by cause: each writes its counter once, and reads a key that is not cached. */
function costOfMillion(seconds: number, memory: number) {
  return {
    compute: million * seconds * (memory / 1024) * prices['Lambda, arm64, a GB-second'],
    requests: prices['Lambda, a million requests'],
    database: prices['DynamoDB on demand, a million write units'] + prices['DynamoDB on demand, a million read units'],
    logs: ((million * logBytes) / gigabyte) * prices['CloudWatch Logs, a GB taken in'],
    transfer:
      ((million * seconds * eventsPerSecond * eventBytes) / gigabyte) * prices['Data transfer to the internet, a GB'],
  };
}

/** Dollars a month for two containers behind a load balancer, each with an address of its own. */
function containersMonth(): number {
  const container =
    0.5 * prices['Fargate, arm64, a vCPU-hour'] +
    prices['Fargate, arm64, a GB-hour'] +
    prices['Public IPv4 address, an hour'];
  const balancer =
    prices['Application Load Balancer, an hour'] +
    prices['Application Load Balancer, a capacity unit for an hour'] +
    2 * prices['Public IPv4 address, an hour'];
  return hoursPerMonth * (2 * container + balancer);
}

const sum = (values: object): number => Object.values(values).reduce((total, value) => total + value, 0);

const dollars = (value: number): string =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const dashes = headings.map((_, index) => (index === 0 ? '---' : '--:'));
  return [headings, dashes, ...rows].map(line).join('\n');
}
