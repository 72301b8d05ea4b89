import type { App } from '../lambda/app.ts';
import { createHandler } from '../lambda/engines/function-url.ts';
import type { StreamingHandler } from './invoke-function.ts';

/** An app as a function. The types of Lambda know nothing of the stream that one gets between event and context. */
export function createFunction(app: App): StreamingHandler {
  const handler: unknown = createHandler(app);
  return handler as StreamingHandler;
}
