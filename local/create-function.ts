import { createHandler } from '../lambda/engines/function-url.ts';
import type { App } from '../lambda/request/call.ts';
import type { StreamingHandler } from './invoke-function.ts';

/** An app as a function. Lambda's types omit the stream, which a function gets between event and context. */
export function createFunction(app: App): StreamingHandler {
  const handler: unknown = createHandler(app);
  return handler as StreamingHandler;
}
