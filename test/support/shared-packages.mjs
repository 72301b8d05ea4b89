import { createRequire } from 'node:module';
import vm from 'node:vm';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);
const isShared = /\/node_modules\/(aws-cdk-lib|@aws-cdk|@cdklabs|constructs|cdk-nag|dynalite)\//;
/** Jest's own modules that retain nothing of a test, and compare no values: values are compared in a test's own realm. */
const ofJest = ['jest-diff', 'jest-message-util', 'jest-snapshot', 'jest-util', 'pretty-format'];

/** V8's code cache of each source, for reuse: until a test changes V8's flags, which V8 detects. */
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
 * Compiles Jest's modules once per worker, and also evaluates the largest packages only once. Jest compiles and evaluates all of
 * them for each test file: the CDK took longer than most tests of the stack. Objects of shared packages are not instances of a
 * test's own globals, and the environment that they read is the worker's.
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
