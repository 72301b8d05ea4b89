import { join } from 'node:path';

// The processes that tests start compile what they load only once between them; Node looks whether it has changed since.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.jest-cache/compiled');

const project = (displayName, testMatch, extra = {}) => ({
  displayName,
  testMatch: testMatch.map((pattern) => (pattern.startsWith('!') ? pattern : `<rootDir>/test/${pattern}`)),
  testEnvironment: '<rootDir>/test/support/plain-environment.mjs',
  runtime: '<rootDir>/test/support/shared-packages.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/esbuild-transform.mjs' },
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/dist'],
  cacheDirectory: '<rootDir>/.jest-cache',
  ...extra,
});

// A test's name says what it needs: *.unit.test.ts nothing, *.integration.test.ts real servers in this process,
// *.e2e.test.ts whole processes. `npm run test:unit -- scrub` runs what matches.
const ofHandler = (names) => names.map((name) => `lambda/${name}.integration.test.ts`);

/** What a client sees has to be the same whatever serves it: these hold for the HTTP server as they do for the function. */
const overBothEngines = ofHandler([
  'api-version',
  'attacks-on-identity',
  'broken-streams',
  'changes-in-the-middle',
  'compaction',
  'embeddings',
  'failures',
  'forwarding',
  'gateway',
  'leak',
  'leaving-readers',
  'lost-answers',
  'quota',
  'request-lines',
  'same-words',
  'signed-thoughts',
  'threads',
  'unknown-members',
  'upstreams',
]);

/** What clients in processes of their own read: their HTTP is that of the SDKs in this process, which both engines serve. */
const processesOfSdks = 'setup-blocks,frameworks';

/** What draws thousands of schedules, counts steps, or reads thousands of long bodies: half a minute each, or minutes. */
const long = [
  'model/*.integration.test.ts',
  'exhaustive/three-requests.integration.test.ts',
  'lambda/growth/{growth,ticks}.e2e.test.ts',
];
const notLong = long.map((pattern) => `!**/${pattern}`);
/** What tells days or times holds wherever it runs: once more at both ends of the world, where the day is often not that of UTC. */
const overTimeZones = [
  'lambda/quota/{policy,wording}.unit.test.ts',
  'lambda/upstream/retry-after.unit.test.ts',
  'local/terminal-log.unit.test.ts',
  'operator/{keys/arguments,table}.unit.test.ts',
];
/** What puts them together, at the one whose day differs for longer. */
const overOneTimeZone = ['lambda/quota.integration.test.ts', 'operator/keys/{commands,insights}.integration.test.ts'];
const inTimeZone = (timeZone) => ({ testEnvironmentOptions: { timeZone } });

const overHttpServer = { globals: { testEngine: 'web' } };

export default {
  maxWorkers: 2,
  // Each file leaves a few megabytes behind. A worker that has grown is slow, and does not end in time.
  workerIdleMemoryLimit: '700MB',
  testSequencer: '<rootDir>/test/support/slowest-first.mjs',
  reporters: ['default', '<rootDir>/test/support/slowest-files.mjs'],
  // For a machine that does other things as well: no test waits for time to pass, and some have a thousand things to do.
  testTimeout: 120_000,
  projects: [
    project('architecture', ['architecture/*.test.ts']),
    project('unit', ['**/*.unit.test.ts']),
    project('integration', ['**/*.integration.test.ts', ...notLong]),
    project('web', ['sdk/*.integration.test.ts', `!**/sdk/{${processesOfSdks}}.*`, ...overBothEngines], overHttpServer),
    project('east', [...overTimeZones, ...overOneTimeZone], inTimeZone('Pacific/Kiritimati')),
    project('west', overTimeZones, inTimeZone('America/Los_Angeles')),
    project('e2e', ['**/*.e2e.test.ts', ...notLong]),
    project('long', long),
    project('browser', ['**/*.browser.test.ts']),
  ],
};
