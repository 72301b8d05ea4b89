import { join } from 'node:path';

// Child processes of tests share one compile cache. Node invalidates it when a source changes.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.jest-cache/compiled');

const project = (displayName, testMatch, extra = {}) => ({
  displayName,
  testMatch: testMatch.map((pattern) => (pattern.startsWith('!') ? pattern : `<rootDir>/test/${pattern}`)),
  testEnvironment: '<rootDir>/test/support/plain-environment.mjs',
  runtime: '<rootDir>/test/support/shared-packages.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.mjs' },
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/dist'],
  cacheDirectory: '<rootDir>/.jest-cache',
  ...extra,
});

// A test's suffix says what it needs: *.unit.test.ts nothing, *.integration.test.ts real servers in this process, *.e2e.test.ts
// child processes. `npm run test:unit -- scrub` runs the matching ones.
const ofHandler = (names) => names.map((name) => `lambda/${name}.integration.test.ts`);

/**
 * Clients must see the same whichever engine serves them, so these run against the HTTP server as well as the function. Left out is what
 * no engine sees (translation, the choice of an upstream, what is said to whom), and what the simulation breaks on both (streams,
 * answers, failures, limits, the log).
 */
const overBothEngines = ofHandler(['attacks-on-identity', 'forwarding']);

/** These need one engine: their HTTP is that of the other SDKs, which run against both. */
const likeOtherSdks = 'ai,frameworks,setup-blocks,streams';

/** These draw their inputs, in the long tests ten times as many. */
const drawn = [
  'lambda/{any-request,same-words}.integration.test.ts',
  'lambda/dialects/texts.unit.test.ts',
  'lambda/dialects/model/{answer/cuts,answer/from-messages,request/every-member,request/prefix}.unit.test.ts',
  'lambda/hiding/scrub.unit.test.ts',
  'lambda/json/{edit,scan,turns}.unit.test.ts',
  'lambda/steps/parse-body.unit.test.ts',
];

/** What takes long by its nature: thousands of schedules and worlds, step counts, many long bodies, streams and kills, the CDK's commands and rules, other packages. */
const long = [
  'docs/deploy.e2e.test.ts',
  'exhaustive/{more-faults,planted-defects}.unit.test.ts',
  'lambda/crowd.integration.test.ts',
  'lambda/growth/{growth,long-bodies,looked-for,many-long-bodies,memory,ticks}.e2e.test.ts',
  'lambda/slow-readers.integration.test.ts',
  'lambda/server/{let-go,unread-streams}.e2e.test.ts',
  'lambda/store/sqlite/many-kills.e2e.test.ts',
  'lib/cdk-rules.integration.test.ts',
  'sdk/{frameworks,setup-blocks}.integration.test.ts',
  'simulation/many-worlds.e2e.test.ts',
  'simulation/planted-defects.unit.test.ts',
];
const notLong = long.map((pattern) => `!**/${pattern}`);
/** Dates and times must hold in any time zone: run these again at both extremes, where the local date often differs from UTC. */
const overTimeZones = [
  'lambda/budget/budget-window.unit.test.ts',
  'lambda/quota/{policy,wording}.unit.test.ts',
  'lambda/request/rate-limits.unit.test.ts',
  'lambda/upstream/retry-after.unit.test.ts',
  'local/terminal-log.unit.test.ts',
  'operator/{keys/arguments,table}.unit.test.ts',
];
/** These run again in only one time zone: the one whose date differs from UTC for longer. */
const overOneTimeZone = ['operator/keys/{commands,insights}.integration.test.ts'];
const inTimeZone = (timeZone) => ({ testEnvironmentOptions: { timeZone } });

const overHttpServer = { globals: { testEngine: 'web' } };

export default {
  maxWorkers: 2,
  // Each test file leaks a few megabytes. A worker that has grown gets slow, and does not exit in time.
  workerIdleMemoryLimit: '700MB',
  testSequencer: '<rootDir>/test/support/slowest-first.mjs',
  reporters: ['default', '<rootDir>/test/support/slowest-files.mjs'],
  // Generous, for a busy machine: no test waits for time to pass, but some do a thousand things.
  testTimeout: 120_000,
  projects: [
    project('architecture', ['architecture/*.test.ts']),
    project('unit', ['**/*.unit.test.ts', ...notLong]),
    project('integration', ['**/*.integration.test.ts', ...notLong]),
    project('web', ['sdk/*.integration.test.ts', `!**/sdk/{${likeOtherSdks}}.*`, ...overBothEngines], overHttpServer),
    project('east', [...overTimeZones, ...overOneTimeZone], inTimeZone('Pacific/Kiritimati')),
    project('west', overTimeZones, inTimeZone('America/Los_Angeles')),
    project('e2e', ['**/*.e2e.test.ts', ...notLong]),
    project('long', [...long, ...drawn], { globals: { timesInputs: 10 } }),
    project('browser', ['**/*.browser.test.ts']),
    project('prometheus', ['**/*.prometheus.test.ts']),
  ],
};
