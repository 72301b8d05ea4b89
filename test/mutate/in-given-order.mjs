// Jest's sequencer for `npm run mutate`: the nearest tests first, as they were named.
const order = JSON.parse(process.env.TEST_ORDER ?? '[]');

export default class InGivenOrder {
  shard = (tests) => tests;
  allFailedTests = (tests) => tests;
  cacheResults = () => {};
  sort = (tests) =>
    tests.toSorted(
      (a, b) => order.findIndex((path) => a.path.endsWith(path)) - order.findIndex((path) => b.path.endsWith(path)),
    );
}
