// Preloaded into the runtime client in place of its native addon, which takes a C++ compiler to build. The addon asks for the
// next invocation and posts buffered answers; the first the client can do by itself (AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1),
// the second never happens here, as a streaming handler's answers and errors both go through the client's own stream.
import { registerHooks } from 'node:module';

const refuse = 'throw new Error("The handler is not in streaming mode, so its answer would not stream once deployed.")';
const source = `module.exports = { done() { ${refuse} }, error() { ${refuse} } }`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith('/rapid-client.node')
      ? { url: 'stub:rapid-client', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === 'stub:rapid-client' ? { format: 'commonjs', source, shortCircuit: true } : next(url, context),
});
