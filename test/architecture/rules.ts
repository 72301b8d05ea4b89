/** Files of lambda/ that belong to no room, because rooms of every level import them. */
export const shared = ['errors', 'pipeline'];

/**
 * Who may import whom inside lambda/: one row per room, leaves first. A room may import those in its row, the shared files and
 * itself. So data flows one way, and each kind of change touches one place.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  json: shared,
  http: shared,
  jobs: ['json', ...shared],
  // Prices are settings, and what a request may cost is estimated from its body.
  budget: ['json', ...shared],
  dialects: ['budget', 'json', ...shared],
  // The dialects decide which addresses and models an upstream may have.
  settings: ['budget', 'dialects', ...shared],
  hiding: ['dialects', 'json', 'settings', ...shared],
  identity: ['budget', ...shared],
  aws: ['http', 'settings', ...shared],
  store: ['aws', 'budget', 'identity', 'settings', ...shared],
  quota: ['budget', 'identity', 'settings', 'store', ...shared],
  upstream: ['dialects', 'http', 'jobs', 'json', 'settings', ...shared],
  stream: ['dialects', 'hiding', 'json', 'upstream', ...shared],
  request: ['budget', 'dialects', 'http', 'identity', 'json', 'quota', 'settings', 'store', 'upstream', ...shared],
  report: ['budget', 'request', ...shared],
  forward: [
    'budget',
    'dialects',
    'hiding',
    'http',
    'jobs',
    'json',
    'quota',
    'report',
    'request',
    'stream',
    'upstream',
    ...shared,
  ],
  steps: [
    'budget',
    'dialects',
    'forward',
    'http',
    'identity',
    'jobs',
    'json',
    'quota',
    'request',
    'settings',
    'upstream',
    ...shared,
  ],
  engines: ['http', 'jobs', 'request', 'settings', ...shared],
  // Separate functions: they import shared rooms, and no room of the gateway imports them.
  canary: ['aws', 'report', 'settings', 'pipeline'],
  accounts: [
    'aws',
    'budget',
    'dialects',
    'engines',
    'identity',
    'json',
    'quota',
    'report',
    'request',
    'settings',
    'store',
    ...shared,
  ],
};

/** The files that compose the rooms, with what each may import besides all rooms of the gateway. */
export const composition: Readonly<Record<string, readonly string[]>> = {
  app: [],
  gateway: ['app'],
  index: ['gateway'],
  'server-store': [],
  serve: ['app', 'gateway', 'accounts'],
  server: ['serve', 'accounts', 'server-store'],
  worker: [],
};

/** Packages that only some files may use. */
export const packageRules: readonly { readonly name: RegExp; readonly allowed: RegExp }[] = [
  // It contains no client.
  { name: /^@aws-sdk\/util-dynamodb$/, allowed: /^lambda\/store\/dynamodb\/read-item\.ts$/ },
  // The server only resolves its host's region and credentials.
  { name: /^@aws-sdk\//, allowed: /^lambda\/(server-store\.ts|store\/admin\/)/ },
  { name: /^aws-lambda$/, allowed: /^lambda\/engines\/function-url\.ts$/ },
  { name: /^@middy\//, allowed: /^lambda\/pipeline\.ts$/ },
  { name: /^(ox|@noble)(\/|$)/, allowed: /^lambda\/accounts\// },
  { name: /^@opentelemetry\//, allowed: /^lambda\/report\/spans\.ts$/ },
  { name: /^(aws-cdk-lib|constructs|cdk-nag|commander|dynalite)/, allowed: /^$/ },
];

/**
 * An ES module's `import` evaluates every export of a CommonJS module, here all of AWS's services. `aws-cdk-lib/core` has the
 * rest.
 */
export const tooLarge = 'aws-cdk-lib';

/** The admin store contains AWS's SDK, and SQLite is for one machine: functions must not load either. */
export const openers: readonly { readonly store: RegExp; readonly allowed: RegExp }[] = [
  { store: /^lambda\/store\/admin\//, allowed: /^lambda\/(store\/admin\/|accounts\/index\.ts$|server-store\.ts$)/ },
  { store: /^lambda\/store\/sqlite\//, allowed: /^lambda\/(store\/sqlite\/|server-store\.ts$)/ },
];

/** What lib/ may import from lambda/: the tables' schema, settings and their warnings, prices, names of metrics and headers, the pages' examples. */
export const sharedWithLib =
  /^lambda\/(store\/dynamodb\/schema|hiding\/(names-in-code|lost-reasoning)|settings\/[\w-]+|budget\/prices|report\/metrics|identity\/network)\.ts$|^lambda\/accounts\/pages\/cli\/(examples|literals)\.js$/;

/** Who may import whom outside lambda/. A folder of operator/ may also use the files directly in operator/, but no other folder. */
export const outside: Readonly<Record<string, readonly string[]>> = {
  lib: ['lambda'],
  local: ['lambda', 'lib'],
  operator: ['lambda', 'lib', 'local'],
  bench: ['lambda', 'lib', 'local'],
  bin: ['lambda', 'lib', 'local', 'operator'],
};

/** Dialects must not import each other. Each may import the shared model, which imports none of them. */
export const dialectFolders = ['chat', 'responses', 'messages', 'embeddings'] as const;
export const commonToDialects = /^lambda\/dialects\/(model\/|dialect\.ts$|names\.ts$)/;
