import type { stackSections } from './stack-settings.ts';

type Sections = typeof stackSections;

/** The descriptions of the stack's settings, for `npm run settings`. Links are relative to docs/. */
export const stackDescriptions = {
  function: {
    engine: 'see [hosting.md](hosting.md#on-aws); `web` takes no `memorySize`, `reservedConcurrency` or `tracing`',
    memorySize: 'megabytes; processor time and [cost](hosting.md#a-million-requests) are proportional to it',
    reservedConcurrency:
      "executions reserved for the gateway, and its maximum; `/cli` then gets 10 more. By default they share the account's",
    tracing: 'X-Ray traces one invocation a second and 5 % of the others, at five dollars per million traces',
    accountConcurrency:
      "Lambda's limit for the account in this region, for `reservedConcurrency` and [an alarm](operations.md#nearing-concurrency)",
    maxConcurrency: '`web` only: requests at once in one environment, fewer while the processor is busy',
    maxEnvironments: "`web` only: environments at once, by default the account's quota; `/cli` then gets 10 executions",
    rateLimit:
      '`web` only: requests a second, beyond which Lambda refuses; 0 refuses all. Some regions lack some values',
  },
  stack: {
    terminationProtection: 'forbids deleting the stack; use it in production',
    logRetentionDays: 'how long logs are kept',
    canary: 'deploys a client that tests the gateway every five minutes; [it needs a key](operations.md#the-canary)',
    slowFirstByte: "seconds after which a stream's first event is late, for [an alarm](operations.md#upstream-slow)",
    alarmTokens: 'tokens of prompts and answers in a day for [an alarm](operations.md#much-is-used). Nobody is refused',
    alarmSpending: 'the same in money; needs `PRICES`',
    alarmEmail: 'receives alarms, after confirming one e-mail',
    DOCS_URL:
      'where these pages are, such as `https://github.com/you/gateway/blob/main/docs`: alarms link to what to do. By default on GitHub, where the checkout comes from',
  },
  edge: {
    edge: '[CloudFront in front](hosting.md#a-domain-of-your-own)',
    edgeDomainName: 'your own domain',
    edgeCertificateArn: 'its certificate in ACM, in us-east-1',
    edgeWebAclArn: 'a global web ACL, such as [web-acl.json](web-acl.json), in us-east-1',
    edgeReadTimeout:
      'seconds of silence until CloudFront gives up, at least twice `KEEP_ALIVE_INTERVAL`. Over 120 you need a higher quota',
    edgeSecretVersion:
      "the version of [the edge's secret](hosting.md#replacing-the-secret) that CloudFront sends; by default the one current at deployment",
  },
} as const satisfies { readonly [S in keyof Sections]: Readonly<Record<keyof Sections[S], string>> };
