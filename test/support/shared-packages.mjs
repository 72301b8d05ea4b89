import { createRequire } from 'node:module';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);
const isShared = /\/node_modules\/(aws-cdk-lib|constructs|cdk-nag|dynalite)\//;

/**
 * Jest's modules, with the largest packages loaded once in a worker. Jest evaluates packages anew for each test file, and
 * compiles them without a cache: the CDK took longer than most tests of the stack. Their objects are not instances of a
 * test's own globals, and the environment they read is the worker's.
 */
export default class SharedPackages extends Runtime {
  requireModule(from, name, ...others) {
    const path = name ?? from;
    return isShared.test(path) ? require(path) : super.requireModule(from, name, ...others);
  }
}
