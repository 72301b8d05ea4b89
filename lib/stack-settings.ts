import { readSettings } from '../lambda/settings/read-settings.ts';
import { byDefault, choice, flag, integer, type Setting, seconds, text } from '../lambda/settings/setting.ts';

/** What CloudWatch Logs offers. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const retention: Setting<number> = {
  expects: 'a number of days that CloudWatch Logs offers, such as 7, 30 or 365',
  parse: (value) => retentions.find((days) => String(days) === value),
};

/** What a web function's endpoint can be limited to; not every region offers each of these. */
const rate: Setting<number> = {
  expects: '0, a multiple of 100 up to 1000, or one of 1000 up to 10000',
  parse: (value) => {
    const number = integer(0, 10_000).parse(value);
    return number !== undefined && number % (number <= 1_000 ? 100 : 1_000) === 0 ? number : undefined;
  },
};

/** Executions that the page /cli gets where the gateway is bounded, so that both are. It is short of work. */
export const walletShare = 10;

/** Lambda keeps so many executions back for the functions that reserve none. */
export const unreserved = 100;

/** What an operator decides about the stack rather than the function, beside the function's own settings. */
export const stackSettings = {
  /** `both` side by side, on the same tables, is the way from one to the other. */
  engine: byDefault('function-url', choice(['function-url', 'web', 'both'])),
  /** Processor time comes in proportion. A stream mostly waits, so little is cheap: twice what the largest bodies take. */
  memorySize: byDefault('512', integer(128, 10_240)),
  maxConcurrency: byDefault('64', integer(1, 128)),
  maxEnvironments: integer(2, 10_000),
  rateLimit: rate,
  logRetentionDays: byDefault('30', retention),
  reservedConcurrency: integer(1, 1_000_000),
  accountConcurrency: byDefault('1000', integer(10, 1_000_000)),
  terminationProtection: byDefault('false', flag()),
  tracing: byDefault('false', flag()),
  canary: byDefault('false', flag()),
  slowFirstByte: byDefault('30', seconds(0.1, 900)),
  alarmEmail: text('an e-mail address', /^[^\s@,]+@[^\s@,]+$/),
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
} as const satisfies Record<string, Setting<unknown>>;

/** Settings that only one engine has; where it is not deployed, they would mean nothing. */
export const ofEngine = {
  'function-url': ['memorySize', 'reservedConcurrency', 'tracing'],
  web: ['maxConcurrency', 'maxEnvironments', 'rateLimit', 'BODY_BUDGET'],
} as const;

/** What the settings of the stack come to. Where there are faults, a value may be missing. */
export function readStackSettings(given: Readonly<Record<string, string>>, faults: string[]) {
  const { edge, edgeDomainName, edgeCertificateArn, edgeWebAclArn, edgeReadTimeout, edgeSecretVersion, ...values } =
    readSettings(stackSettings, given, faults);
  return {
    ...values,
    edge: edge
      ? {
          domainName: edgeDomainName,
          certificateArn: edgeCertificateArn,
          webAclArn: edgeWebAclArn,
          readTimeout: edgeReadTimeout,
          secretVersion: edgeSecretVersion,
        }
      : undefined,
  };
}

export type StackValues = ReturnType<typeof readStackSettings>;

/** The share of the page /cli, where it gets one. */
export function walletShareOf(values: StackValues): number | undefined {
  const { engine, reservedConcurrency, maxEnvironments, accountConcurrency } = values;
  if (engine !== 'web') return reservedConcurrency === undefined ? undefined : walletShare;
  const hasRoom = accountConcurrency >= unreserved + walletShare;
  return maxEnvironments !== undefined && hasRoom ? walletShare : undefined;
}
