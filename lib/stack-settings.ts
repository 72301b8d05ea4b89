import { amount } from '../lambda/settings/definitions.ts';
import { byDefault, choice, flag, integer, seconds, text, urlWithout } from '../lambda/settings/kinds.ts';
import type { Setting, Table, Values } from '../lambda/settings/read-settings.ts';

/** The retention times that CloudWatch Logs offers, in days. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const retention: Setting<number> = {
  expects: 'a number of days that CloudWatch Logs offers, such as 7, 30 or 365',
  parse: (value) => retentions.find((days) => String(days) === value),
  schema: { enum: retentions },
};

const rateRange = integer(0, 10_000);

/** The rate limits that a web function's endpoint can have. Not every region offers all of them. */
const rate: Setting<number> = {
  ...rateRange,
  expects: '0, a multiple of 100 up to 1000, or a multiple of 1000 up to 10000',
  parse: (value) => {
    const number = rateRange.parse(value);
    return number !== undefined && number % (number <= 1_000 ? 100 : 1_000) === 0 ? number : undefined;
  },
};

/** The concurrency reserved for /cli when the gateway's is limited. It has little to do. */
export const accountsShare = 10;

/** The concurrency that Lambda keeps free for functions without a reservation. */
export const unreserved = 100;

/** Settings of the stack, besides the function's own. */
export const stackSections = {
  function: {
    engine: byDefault('function-url', choice(['function-url', 'web'])),
    /** CPU time is proportional to it, but a stream mostly waits. The default is twice what the largest bodies take. */
    memorySize: byDefault('512', integer(128, 10_240)),
    reservedConcurrency: integer(1, 1_000_000),
    tracing: byDefault('false', flag()),
    accountConcurrency: byDefault('1000', integer(10, 1_000_000)),
    maxConcurrency: byDefault('64', integer(1, 128)),
    maxEnvironments: integer(2, 10_000),
    rateLimit: rate,
  },
  stack: {
    terminationProtection: byDefault('false', flag()),
    logRetentionDays: byDefault('30', retention),
    canary: byDefault('false', flag()),
    slowFirstByte: byDefault('30', seconds(0.1, 900)),
    alarmTokens: integer(1, 999_999_999),
    alarmSpending: amount,
    alarmEmail: text('an e-mail address', /^[^\s@,]+@[^\s@,]+$/),
    DOCS_URL: urlWithout(
      /\.md$/,
      'the http(s) URL of the folder docs, such as https://github.com/you/gateway/blob/main/docs',
    ),
  },
  edge: {
    edge: byDefault('false', flag()),
    edgeDomainName: text('a domain name in lower case, such as api.example.com', /^([a-z0-9-]+\.)+[a-z]{2,}$/),
    edgeCertificateArn: text(
      'the ARN of a certificate in us-east-1, where CloudFront wants it',
      /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
    ),
    edgeWebAclArn: text(
      'the ARN of a global web ACL, in us-east-1',
      /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
    ),
    edgeReadTimeout: byDefault('120', integer(1, 180)),
    edgeSecretVersion: text('the id of a version of the secret', /^[\w-]{32,64}$/),
  },
} as const satisfies Record<string, Table>;

export const stackSettings = { ...stackSections.function, ...stackSections.stack, ...stackSections.edge } as const;

/** Settings that only one engine has, refused with the other. */
export const engineSettings = {
  'function-url': ['memorySize', 'reservedConcurrency', 'tracing'],
  web: ['maxConcurrency', 'maxEnvironments', 'rateLimit', 'BODY_BUDGET'],
} as const;

export type StackValues = Values<typeof stackSettings>;

/** The concurrency reserved for /cli, if any. */
export function accountsShareOf(values: StackValues): number | undefined {
  const { engine, reservedConcurrency, maxEnvironments, accountConcurrency } = values;
  if (engine !== 'web') return reservedConcurrency === undefined ? undefined : accountsShare;
  const hasRoom = accountConcurrency >= unreserved + accountsShare;
  return maxEnvironments !== undefined && hasRoom ? accountsShare : undefined;
}
