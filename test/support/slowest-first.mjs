/**
 * Jest's sequencer: starts the slowest files first, so that none is left running alone at the end. Jest itself only knows them
 * from an earlier run. The others are sorted by size.
 */
const slowest = [
  'lambda/growth/pauses',
  'exhaustive/every',
  'bin/diff',
  'bin/gateway',
  'bin/doctor',
  'lib/diff/every-change',
  'lambda/crowd',
  'lambda/exactly-once',
  'local/serve',
  'bin/trace',
  'operator/doctor/',
  'sdk/setup-blocks',
  'lambda/accounts/attacks',
  'lambda/slow-readers',
];

const rankOf = ({ path }) => {
  const rank = slowest.findIndex((name) => path.includes(`/test/${name}`));
  return rank < 0 ? slowest.length : rank;
};
const sizeOf = ({ path, context }) => context.hasteFS.getSize(path) ?? 0;

export default class SlowestFirst {
  allFailedTests = (tests) => tests;
  cacheResults = () => {};
  sort = (tests) => tests.toSorted((a, b) => rankOf(a) - rankOf(b) || sizeOf(b) - sizeOf(a));
}
