import type { sections, serverSettings, tableSettings } from './definitions.ts';

type Sections = typeof sections;

/** The text of each setting in docs/settings.md, made by `npm run settings`. No function loads it. Links are relative to docs/. */
export const descriptions = {
  service: {
    SERVICE_NAME:
      'names the public models (`NAME`, `NAME-vision`, `NAME-embedding`), their aliases and the headers `X-NAME-…`',
    MODEL_ALIASES: 'more ids for the public models, such as `gpt-*=svc,eyes=svc-vision`; a trailing `*` makes a prefix',
    GATEWAY_URL: "the base URL without `/v1` that `/cli` shows; by default the gateway's own",
    CONTEXT_WINDOW: "the text model's, in tokens, for the pages and [clients' blocks](clients.md)",
    NOT_OFFERED:
      'set by the stack: what the pages leave out, as no upstream can do it. A server that serves them too finds out by itself',
  },
  accounts: {
    ACCESS: "with `keys`, serve only the operator's keys: no guests, no links of networks, no wallets",
    APP_URL: 'the web app without `/cli`, where people get keys; errors about keys and quota name it',
    WALLET_SIGN_IN: 'whether people get keys [with a wallet](sign-in.md)',
    OIDC_ISSUER:
      "the provider of the company's [sign-in](sign-in.md#with-the-companys-account): its address as it writes it",
    OIDC_CLIENT_ID: 'what the provider calls this gateway',
    OIDC_ALLOWED_DOMAINS: 'let in those with a verified address there, such as `example.com`',
    OIDC_ALLOWED_GROUPS: 'let in those in these groups, by name or id; with `OIDC_ALLOWED_DOMAINS` too, both must hold',
    OIDC_GROUPS_CLAIM: 'the claim where the provider lists groups',
    OIDC_ALLOW_ALL: 'let in everybody who has an account there',
    OIDC_KEY_DAYS: 'days until the keys of such a member expire',
    OIDC_KEYS: 'live keys of such a member',
    DEVICE_KEY_DAYS: 'days until the keys of [a terminal](sign-in.md#from-a-terminal) expire',
  },
  identity: {
    IDENTITY_CACHE_SECONDS:
      'how long a key is cached, so how long a revoked one may still work; 0 costs a read per request',
    EDGE_HEADER: 'the header in which [another CDN](hosting.md#another-cdn) names the viewer, in lower case',
    EDGE_ONLY: 'serve only requests through the CDN; `false` while clients [move](hosting.md#without-an-outage)',
  },
  quota: {
    GUEST_LIMIT: 'requests of a network with any word as key; 0 turns guests off, but wallets still get keys',
    GUEST_WINDOW: "when guests' counters restart: never, or at 00:00 UTC",
    MEMBER_LIMIT:
      'requests a day of a member, all keys together, but for [keys that count alone](sign-in.md#limits-and-revoking)',
    BURST_LIMIT: 'requests a minute per caller; in a deployment [at most 148](hosting.md#tables)',
    DAILY_LIMIT: 'requests a day of all callers; then an uncharged 503 until 00:00 UTC',
    GUEST_DAILY_LIMIT:
      'requests a day of all guests, by default a fifth of `DAILY_LIMIT`; then as there. One IPv6 /48 has room for 65,536 guests',
    REFUND_REFUSALS:
      "refund the gateway's own 400s, which agents repeat. Bursts and the upstream's refusals still count",
  },
  budget: {
    PRICES:
      'what a million tokens of each public model cost, such as `{"svc": {"input": 2.50, "output": 10}, "svc-vision": {"input": 1, "output": 4}}`. Optional beside them: `cacheRead` and `cacheWrite` (by default as `input`), and `maxOutput`, the most tokens of an answer. Embeddings cost only `input`: `"svc-embedding": {"input": 0.02}`',
    CURRENCY: 'of all amounts, for display only',
    MEMBER_BUDGET: 'what a member may spend, all keys together, but for those that count alone; needs `PRICES`',
    MEMBER_BUDGET_WINDOW: 'how long that is for: from 00:00 UTC, on Monday or on the first',
    SPEND_LIMIT: 'what all callers may spend in a day, then 503 until 00:00 UTC; needs `PRICES`',
    RESERVED_OUTPUT: 'the tokens that are reserved for an answer, where neither the request nor `maxOutput` limits it',
  },
  request: {
    REQUEST_TIMEOUT: 'seconds for a whole request; then 504, or an error in the stream',
    REQUEST_BODY_LIMIT:
      'MiB of the largest body, as sent and as decoded; beyond it 413. AWS accepts at most [6 MB as sent](api.md#limits). Raise `memorySize` with it',
    KEEP_ALIVE_INTERVAL: 'seconds between keep-alives in a silent stream',
    RATE_LIMIT_HEADERS: 'show limits also in [the headers that SDKs and agents pace themselves by](api.md#quota)',
    CORS_ORIGINS:
      "which web pages may call, such as `https://app.example`; only those listed by name can use [a network's link](sign-in.md#what-linking-does)",
  },
  upstreams: {
    UPSTREAM_STREAM_USAGE: 'request usage on every chat stream, for logs, metrics and budgets',
    UPSTREAM_CALLER_IDS: "pass on callers' ids in bodies, or [hash](SECURITY.md#upstream_caller_idshash) them",
    UPSTREAM_TRACE: "tell the upstream of the caller's [trace](logs.md#traces), with a span of the gateway's own",
    UPSTREAM_CONNECT_TIMEOUT: 'seconds to connect to the upstream; then the next is tried, or 504',
    UPSTREAM_IDLE_TIMEOUT: "seconds of silence in an upstream's stream, which then ends with an error",
  },
  hiding: {
    UPSTREAM_NAMES:
      'what else to hide in answers, separated by commas; a name of up to four letters [only where it is a word](api.md#what-is-changed-on-the-way), so list what else it stands in (`chatglm`). Without it, parts of model ids and hosts that identify are hidden: `acme` of `api.acme.com`, `deep-7b` of `acme/deep-7b-chat`. A model id that is a word of the API itself, such as `model` or `text`, is hidden only where answers name the model',
    HIDE_IN_TEXT: 'hide those names in what the model writes too, or leave its text and reasoning as they are',
  },
  secrets: {
    UPSTREAM_SECRET_ID: "holds the upstream's keys as JSON, reread every minute",
    NETWORK_SALT:
      'instead of its secret: what network addresses are hashed with. With another, every guest counter and link is lost',
    NETWORK_SALT_SECRET_ID: 'holds the salt for network addresses',
    EDGE_SECRET_ID: 'holds what the CDN must send',
    OIDC_CLIENT_SECRET:
      "instead of its secret: what the provider of the company's sign-in has given; a public client has none",
    OIDC_CLIENT_SECRET_ID: "holds the client's secret as plain text",
  },
  log: {
    METRICS_NAMESPACE: "of the metrics; in a deployment, the stack's name",
    DEPLOYED_COMMIT: 'the deployed commit, logged at each start',
  },
} as const satisfies { readonly [S in keyof Sections]: Readonly<Record<keyof Sections[S], string>> };

export const tableDescriptions = {
  KEYS_TABLE: 'the table of keys and links',
  QUOTA_TABLE: 'the table of counters',
} as const satisfies Readonly<Record<keyof typeof tableSettings, string>>;

export const serverDescriptions = {
  PORT: 'where it listens; 0 for any free port',
  HOST: 'where it listens; in a container `0.0.0.0`',
  AWS_LAMBDA_HTTP_ENDPOINT: 'host and port set by Lambda; overrides `HOST` and `PORT`',
  CLIENT_ADDRESS:
    "`socket` or `x-forwarded-for`: where [callers' addresses](hosting.md#behind-a-balancer) come from; by default the first, in Lambda the second",
  BODY_BUDGET:
    'MiB of all bodies and whole answers in memory, and [a quarter more](hosting.md#limits-of-a-process) for small ones; beyond it 503. On Lambda for `web` only. Allow four times `REQUEST_BODY_LIMIT`, eight for compressed bodies',
  START_CHECK:
    'asks each upstream at the start, in the background and for free, what it can do, and [logs](logs.md) whether it accepts the key and lists the models, and which dialects answer. Not on Lambda',
  METRICS_PORT:
    'where [Prometheus](logs.md#prometheus) finds metrics at `/metrics`, on the address `HOST`; 0 for any free port. Not on Lambda',
  LOG_METRICS:
    "CloudWatch's metrics in each line of [the log](logs.md), half of its length: `false` where nothing reads them there. Not on Lambda",
  SHUTDOWN_DRAIN:
    'seconds after SIGTERM in which all is served as before, but `/healthz` says 503, so that a balancer sends nothing more; then `SHUTDOWN_GRACE` begins',
  SHUTDOWN_GRACE:
    'seconds for running answers after SIGTERM (with `npm start` by default 10); then [they are ended](hosting.md#how-it-ends)',
  DATA_DIR:
    'a folder of this machine for [keys and counters](hosting.md#on-one-machine), instead of the two tables. Without either `npm start` keeps them for as long as it runs',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'an OpenTelemetry collector, such as `http://127.0.0.1:4318`, which gets [a span for each request](logs.md#traces) by OTLP over HTTP. Not on Lambda',
  OTEL_SEMCONV_STABILITY_OPT_IN:
    'with `gen_ai_latest_experimental` spans have the newest names alone, without `gen_ai.system` and `gen_ai.usage.cache_creation.input_tokens`',
} as const satisfies Readonly<Record<keyof typeof serverSettings, string>>;
