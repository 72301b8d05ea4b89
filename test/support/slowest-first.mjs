/**
 * Jest's sequencer: starts the slowest files first, so that none is left running alone at the end. Jest itself only knows them
 * from an earlier run. The others are sorted by size.
 */
const slowest = [
  'simulation/many-worlds',
  'simulation/simulate',
  'bin/diff',
  'operator/diff',
  'lambda/any-request',
  'bin/gateway',
  'bin/trace',
  'local/serve',
  'exhaustive/',
  'lambda/growth/',
  'lib/diff/every-change',
  'lambda/same-words',
  'e2e/',
  'operator/doctor/',
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
