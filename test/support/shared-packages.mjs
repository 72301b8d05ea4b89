import { createRequire } from 'node:module';
import vm from 'node:vm';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);
const isShared = /\/node_modules\/(aws-cdk-lib|@aws-cdk|@cdklabs|constructs|cdk-nag|dynalite)\//;
/** What of Jest itself keeps nothing of a test, and compares nothing: values are compared by a test's own globals. */
const ofJest = ['jest-diff', 'jest-message-util', 'jest-snapshot', 'jest-util', 'pretty-format'];

/** What the compilation of a source has left, for the next time: until a test changes V8's flags, which V8 notices. */
const compiled = new Map();
vm.SourceTextModule = new Proxy(vm.SourceTextModule, {
  construct(SourceTextModule, [source, options]) {
    const cachedData = compiled.get(source);
    try {
      if (cachedData) return new SourceTextModule(source, { ...options, cachedData });
    } catch (error) {
      if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
    }
    const module = new SourceTextModule(source, options);
    compiled.set(source, module.createCachedData());
    return module;
  },
});
vm.compileFunction = new Proxy(vm.compileFunction, {
  apply(compileFunction, _, [source, names, options]) {
    const cachedData = compiled.get(source);
    const made = compileFunction(source, names, { ...options, cachedData, produceCachedData: !cachedData });
    if (made.cachedData) compiled.set(source, made.cachedData);
    return made;
  },
});
/** The names that packages export. */
const exported = new Map();

/**
 * Jest's modules, compiled once in a worker, and the largest packages also loaded once. Jest compiles and evaluates all of them
 * anew for each test file: the CDK took longer than most tests of the stack. The shared packages' objects are not instances of
 * a test's own globals, and the environment they read is the worker's.
 */
export default class SharedPackages extends Runtime {
  constructor(...parameters) {
    super(...parameters);
    this.cjsExportsCache.cache = exported;
  }

  requireModule(from, name, ...others) {
    const path = name ?? from;
    return isShared.test(path) ? require(path) : super.requireModule(from, name, ...others);
  }

  requireInternalModule(from, name) {
    return ofJest.includes(name) ? createRequire(from)(name) : super.requireInternalModule(from, name);
  }
}
