import { createSettingReader } from '../lambda/settings/config.ts';
import { flag, integer, type Setting, text } from '../lambda/settings/settings.ts';

/** What CloudWatch Logs offers. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const retention: Setting<number> = {
  expects: 'a number of days that CloudWatch Logs offers, such as 7, 30 or 365',
  fallback: '30',
  parse: (value) => retentions.find((days) => String(days) === value),
};

/** Executions that the page /cli gets where the gateway has a share of its own, so that both are bounded. It is short of work. */
export const walletShare = 10;

/** What an operator decides about the stack rather than the function, beside the function's own settings. */
export const stackSettings = {
  /** Processor time comes in proportion. A stream mostly waits, so little is cheap: twice what the largest bodies take. */
  memorySize: integer(128, 10_240, '512'),
  logRetentionDays: retention,
  reservedConcurrency: integer(1, 1_000_000),
  accountConcurrency: integer(10, 1_000_000, '1000'),
  terminationProtection: flag('false'),
  tracing: flag('false'),
  alarmEmail: text('an e-mail address', /^[^\s@,]+@[^\s@,]+$/),
  edge: flag('false'),
  edgeDomainName: text('a domain name in lower case, such as api.example.com', /^([a-z0-9-]+\.)+[a-z]{2,}$/),
  edgeCertificateArn: text(
    'the ARN of a certificate in us-east-1, where CloudFront wants it',
    /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
  ),
  edgeWebAclArn: text(
    'the ARN of a global web ACL, in us-east-1',
    /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
  ),
  edgeReadTimeout: integer(1, 180, '120'),
  edgeSecretVersion: text('the id of a version of the secret', /^[\w-]{32,64}$/),
} as const satisfies Record<string, Setting<unknown>>;

type StackSettingName = keyof typeof stackSettings;
type Parsed<S> = S extends Setting<infer T> ? T : never;

/** What the settings of the stack come to. Where there are faults, a value may be missing. */
export function readStackSettings(given: Readonly<Record<string, string>>, faults: string[]) {
  const { readSetting } = createSettingReader(given, faults);
  const optional = <N extends StackSettingName>(name: N) =>
    readSetting(name, stackSettings[name] as Setting<Parsed<(typeof stackSettings)[N]>>);
  const withFallback = <N extends StackSettingName>(name: N) => optional(name) as Parsed<(typeof stackSettings)[N]>;
  return {
    memorySize: withFallback('memorySize'),
    logRetentionDays: withFallback('logRetentionDays'),
    reservedConcurrency: optional('reservedConcurrency'),
    accountConcurrency: withFallback('accountConcurrency'),
    terminationProtection: withFallback('terminationProtection'),
    tracing: withFallback('tracing'),
    alarmEmail: optional('alarmEmail'),
    edge: withFallback('edge')
      ? {
          domainName: optional('edgeDomainName'),
          certificateArn: optional('edgeCertificateArn'),
          webAclArn: optional('edgeWebAclArn'),
          readTimeout: withFallback('edgeReadTimeout'),
          secretVersion: optional('edgeSecretVersion'),
        }
      : undefined,
  };
}

export type StackValues = ReturnType<typeof readStackSettings>;
