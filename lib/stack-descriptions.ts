import type { stackSections } from './stack-settings.ts';

type Sections = typeof stackSections;

/** The descriptions of the stack's settings, for `npm run settings`. Links are relative to docs/. */
export const stackDescriptions = {
  function: {
    engine: 'see [hosting.md](hosting.md#on-aws); `web` takes no `memorySize`, `reservedConcurrency` or `tracing`',
    memorySize: 'megabytes; processor time and [cost](hosting.md#a-million-requests) are proportional to it',
    reservedConcurrency:
      "executions reserved for the gateway, which are also its maximum; `/cli` then gets 10 more. By default both share the account's",
    tracing: 'trace with X-Ray: one invocation a second and 5 % of the others, at five dollars per million traces',
    accountConcurrency:
      "Lambda's limit for the account in this region, for `reservedConcurrency` and [an alarm](operations.md#nearing-concurrency)",
    maxConcurrency: '`web` only: concurrent requests per environment, fewer while the processor is busy',
    maxEnvironments:
      "`web` only: concurrent environments, by default the account's quota; if set, `/cli` gets 10 executions",
    rateLimit:
      '`web` only: requests a second, beyond which Lambda refuses them; 0 refuses all. Not every region accepts every value',
  },
  stack: {
    terminationProtection: 'forbid deleting the stack; use it in production',
    logRetentionDays: 'days to keep logs',
    canary: 'deploy a function that tests the gateway every five minutes; [it needs a key](operations.md#the-canary)',
    slowFirstByte: "seconds after which a stream's first event is late, for [an alarm](operations.md#upstream-slow)",
    alarmTokens:
      'tokens of prompts and answers in a day that set off [an alarm](operations.md#much-is-used). Nobody is refused',
    alarmSpending: 'the same in money; needs `PRICES`',
    alarmEmail: "the address that gets alarms, once it has confirmed AWS's e-mail",
    DOCS_URL:
      "where these pages are, for links in alarms, such as `https://github.com/you/gateway/blob/main/docs`. By default at the checkout's origin on GitHub",
  },
  edge: {
    edge: 'put [CloudFront in front](hosting.md#a-domain-of-your-own)',
    edgeDomainName: 'your own domain',
    edgeCertificateArn: "the domain's certificate in ACM, in us-east-1",
    edgeWebAclArn: 'a global web ACL, such as [web-acl.json](web-acl.json), in us-east-1',
    edgeReadTimeout:
      'seconds of silence until CloudFront gives up, at least twice `KEEP_ALIVE_INTERVAL`. Over 120 you need a higher quota',
    edgeSecretVersion:
      "the version of [the edge's secret](hosting.md#replacing-the-secret) that CloudFront sends; by default the one current at deployment",
  },
} as const satisfies { readonly [S in keyof Sections]: Readonly<Record<keyof Sections[S], string>> };
