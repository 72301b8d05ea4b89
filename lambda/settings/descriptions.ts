import type { sections, serverSettings, tableSettings } from './definitions.ts';

type Sections = typeof sections;

/** The text of each setting in docs/settings.md, made by `npm run settings`. No function loads it. Links are relative to docs/. */
export const descriptions = {
  service: {
    SERVICE_NAME:
      'names the public models (`NAME`, `NAME-vision`, `NAME-embedding`), their aliases and the headers `X-NAME-…`',
    MODEL_ALIASES:
      'more ids for the public models, such as `gpt-*=svc,eyes=svc-vision`; a trailing `*` matches any ending',
    GATEWAY_URL: "the base URL without `/v1` that `/cli` shows; by default the gateway's own",
    CONTEXT_WINDOW: "the text model's context window in tokens, which the pages and [clients' blocks](clients.md) show",
    NOT_OFFERED:
      'set by the stack: what the pages leave out because no upstream supports it. A server that also serves the pages works this out itself',
  },
  accounts: {
    ACCESS: 'with `keys`, only keys work: no guests, no wallets, no linked networks',
    APP_URL: 'where people get keys: the URL of the page `/cli`, without `/cli`. Errors about keys and quota name it',
    WALLET_SIGN_IN: 'whether people get keys [with a wallet](sign-in.md)',
    OIDC_ISSUER:
      'the identity provider for [company accounts](sign-in.md#with-the-companys-account): its issuer URL, exactly as it spells it',
    OIDC_CLIENT_ID: 'the client id that the provider gave to this gateway',
    OIDC_ALLOWED_DOMAINS: 'admit people with a verified e-mail address in these domains, such as `example.com`',
    OIDC_ALLOWED_GROUPS: 'admit members of these groups, by name or id; with `OIDC_ALLOWED_DOMAINS`, both must match',
    OIDC_GROUPS_CLAIM: 'the claim in which the provider lists groups',
    OIDC_ALLOW_ALL: 'admit everybody who has an account at the provider',
    OIDC_KEY_DAYS: 'days until a key from a company account expires',
    OIDC_KEYS: 'live keys per company account',
    DEVICE_KEY_DAYS: 'days until a key from [a terminal](sign-in.md#from-a-terminal) expires',
  },
  identity: {
    IDENTITY_CACHE_SECONDS:
      'seconds that a key is cached, and so that it may still work once revoked; with 0, every request reads its key',
    EDGE_HEADER: "the header in which [another CDN](hosting.md#another-cdn) sends the viewer's address, in lower case",
    EDGE_ONLY:
      'serve only requests that come through the CDN; set `false` while clients [move](hosting.md#without-an-outage)',
  },
  quota: {
    GUEST_LIMIT:
      'requests that the guests of a network share; with 0 there are no guests, but people with a wallet still get keys',
    GUEST_WINDOW: "when guests' counters restart: never, or at 00:00 UTC",
    MEMBER_LIMIT:
      'requests a day that all keys of a member share, except [keys with counters of their own](sign-in.md#limits-and-revoking)',
    BURST_LIMIT: 'requests a minute per caller; in a deployment [at most 148](hosting.md#tables)',
    DAILY_LIMIT: 'requests a day of all callers together; beyond it an uncharged 503 until 00:00 UTC',
    GUEST_DAILY_LIMIT:
      'the same for all guests together; by default a fifth of `DAILY_LIMIT`. A single IPv6 /48 can hold 65,536 guests',
    REFUND_REFUSALS:
      "refund requests that the gateway itself refuses with a 400, which agents tend to repeat. They still count towards the burst limit, and the upstream's own refusals stay charged",
  },
  budget: {
    PRICES:
      'what a million tokens of each public model cost: `{"svc": {"input": 2.50, "output": 10}, "svc-vision": {"input": 1, "output": 4}}`. Optional for each: `cacheRead` and `cacheWrite` (by default as `input`), and `maxOutput`, the most tokens that an answer can have. Embeddings cost only `input`: `"svc-embedding": {"input": 0.02}`',
    CURRENCY: 'the currency of all amounts, for display only',
    MEMBER_BUDGET: 'what a member may spend, shared as `MEMBER_LIMIT` is; needs `PRICES`',
    MEMBER_BUDGET_WINDOW: 'how long that lasts: it renews at 00:00 UTC, for a week on Monday, for a month on the first',
    SPEND_LIMIT:
      'what all callers together may spend in a day; beyond it an uncharged 503 until 00:00 UTC; needs `PRICES`',
    RESERVED_OUTPUT: 'tokens to reserve for an answer that neither the request nor `maxOutput` limits',
  },
  request: {
    REQUEST_TIMEOUT: 'seconds that a request may take in all; then 504, or an error in the stream',
    REQUEST_BODY_LIMIT:
      'the largest body in MiB, both compressed and decompressed; beyond it 413. AWS accepts at most [6 MB as sent](api.md#limits). If you raise it, raise `memorySize` too',
    KEEP_ALIVE_INTERVAL: 'seconds between keep-alives in a silent stream',
    RATE_LIMIT_HEADERS: 'also send [the headers by which some SDKs and agents pace themselves](api.md#quota)',
    CORS_ORIGINS:
      "origins whose web pages may call, such as `https://app.example`; only those listed by name can use [a network's link](sign-in.md#what-linking-does)",
  },
  upstreams: {
    UPSTREAM_STREAM_USAGE: 'request usage on every chat stream, for logs, metrics and budgets',
    UPSTREAM_CALLER_IDS: "pass on callers' ids in bodies, or [hash](SECURITY.md#upstream_caller_idshash) them",
    UPSTREAM_TRACE: "send the id of the caller's [trace](logs.md#traces) to the upstream",
    UPSTREAM_CONNECT_TIMEOUT: 'seconds to connect to an upstream; then the next one is tried, or the caller gets 504',
    UPSTREAM_IDLE_TIMEOUT: "seconds that an upstream's stream may be silent; then it ends with an error",
  },
  hiding: {
    UPSTREAM_NAMES:
      'names to hide in answers besides the model ids and hosts, separated by commas. By default, the parts of these that identify: `acme` in `api.acme.com`, `deep-7b` in `acme/deep-7b-chat`. A name of up to four letters is hidden [only as a whole word](api.md#what-is-changed-on-the-way), so list compounds such as `chatglm` too. A model id that is a word of the API itself, such as `model` or `text`, is hidden only where answers name the model',
    HIDE_IN_TEXT: "hide names in the model's text and reasoning too, or leave those unchanged",
  },
  secrets: {
    UPSTREAM_SECRET_ID: "the secret with the upstream's keys, as JSON, reread every minute",
    NETWORK_SALT:
      'the salt itself, with which network addresses are hashed. If it changes, every guest counter and link is lost',
    NETWORK_SALT_SECRET_ID: 'the secret with the salt',
    EDGE_SECRET_ID: 'the secret with what the CDN must send in `x-origin-secret`',
    OIDC_CLIENT_SECRET: 'the client secret itself, from the identity provider; a public client has none',
    OIDC_CLIENT_SECRET_ID: 'the secret with the client secret, as plain text',
  },
  log: {
    METRICS_NAMESPACE: "the metrics' namespace; in a deployment, the stack's name",
    DEPLOYED_COMMIT: 'the deployed commit, logged at each start',
  },
} as const satisfies { readonly [S in keyof Sections]: Readonly<Record<keyof Sections[S], string>> };

export const tableDescriptions = {
  KEYS_TABLE: 'the table of keys and links',
  QUOTA_TABLE: 'the table of counters',
} as const satisfies Readonly<Record<keyof typeof tableSettings, string>>;

export const serverDescriptions = {
  PORT: 'the port to listen on; 0 for any free one',
  HOST: 'the address to listen on; in a container `0.0.0.0`',
  AWS_LAMBDA_HTTP_ENDPOINT: 'host and port set by Lambda; overrides `HOST` and `PORT`',
  CLIENT_ADDRESS:
    "`socket` or `x-forwarded-for`: where [callers' addresses](hosting.md#behind-a-balancer) come from; by default the first, in Lambda the second",
  BODY_BUDGET:
    'MiB that bodies and whole answers may hold in memory, and [a quarter more](hosting.md#limits-of-a-process) for small ones; beyond it 503. Allow four times `REQUEST_BODY_LIMIT`, or eight times for compressed bodies. On Lambda for `web` only',
  START_CHECK:
    'at startup, check in the background, free of charge, whether each upstream accepts the key and lists the models, and which dialects it speaks, and [log](logs.md) the result. Not on Lambda',
  METRICS_PORT:
    'the port, at the address `HOST`, where [Prometheus](logs.md#prometheus) finds metrics at `/metrics`; 0 for any free one. Not on Lambda',
  LOG_METRICS:
    "add CloudWatch's metrics to each line of [the log](logs.md), which doubles its length. Set `false` if CloudWatch does not read the log. Not on Lambda",
  SHUTDOWN_DRAIN:
    'seconds after SIGTERM in which the server still serves, but `/healthz` answers 503 so that a balancer sends nothing more; then `SHUTDOWN_GRACE` begins',
  SHUTDOWN_GRACE:
    'seconds that answers in progress then have to finish (10 with `npm start`), before [they are ended](hosting.md#how-it-stops)',
  DATA_DIR:
    'a local folder for [keys and counters](hosting.md#on-one-machine), instead of the two tables. With neither, `npm start` loses them when it ends',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'an OpenTelemetry collector, such as `http://127.0.0.1:4318`, to send [a span for each request](logs.md#traces) to, by OTLP over HTTP. Not on Lambda',
  OTEL_SEMCONV_STABILITY_OPT_IN:
    'with `gen_ai_latest_experimental`, spans have only the newest names, without `gen_ai.system` and `gen_ai.usage.cache_creation.input_tokens`',
} as const satisfies Readonly<Record<keyof typeof serverSettings, string>>;
