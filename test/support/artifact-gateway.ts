import { pipeline } from 'node:stream/promises';
import { startFunctionUrl } from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';
import type { Artifact } from './artifact.ts';

/** Puts a Function URL in front of an artifact, for clients that speak HTTP. Every request goes through the Runtime API. */
export async function startArtifactGateway(artifact: Artifact) {
  installAwslambda();
  const functionUrl = await startFunctionUrl({
    host: '127.0.0.1',
    port: 0,
    handler: async (event, stream) => {
      const { body, ...prelude } = await artifact.invoke(event);
      const response = awslambda.HttpResponseStream.from(stream, prelude);
      response.write(''); // the head leaves now, whenever the body begins
      await pipeline(body, response);
    },
  });
  return { url: functionUrl.url, [Symbol.asyncDispose]: () => functionUrl.close(0) };
}
