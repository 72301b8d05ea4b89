import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import dynalite from 'dynalite';
import { listenLocally } from '../../local/listen-locally.ts';

const dynalitePath = createRequire(import.meta.url).resolve('dynalite');
const requireFromDynalite = createRequire(dynalitePath);

/** Starts an in-memory DynamoDB emulator on a free port of 127.0.0.1. It accepts any credentials. */
export async function startDynamoDb() {
  mendConditions();
  const server = dynalite({ createTableMs: 0 });
  const answers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  let closing = false;
  server.on('connection', (socket) => closing && socket.destroy());
  const running = new Set<Promise<void>>();
  server.on('request', (request, response) => {
    for (const answer of answers) answer(request, response);
    // dynalite throws from an event listener when a client leaves in the middle of a request. That must not end the process.
    request.removeAllListeners('error');
    request.on('error', () => {});
    const over = whenOver(request, response);
    running.add(over);
    over.then(() => running.delete(over));
  });
  const { url, close } = await listenLocally(server);

  return {
    endpoint: url,
    async close() {
      closing = true;
      server.closeAllConnections();
      // A write to a closed table throws where nobody can catch it.
      await Promise.all(running);
      await close();
    },
  };
}

/** A request that has come whole is worked on to its answer, even if nobody is there to take it. */
function whenOver(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = response.end.bind(response) as ServerResponse['end'];
  response.end = ((...words: Parameters<typeof end>) => {
    resolve();
    return end(...words);
  }) as ServerResponse['end'];
  request.once('close', () => {
    if (!request.complete) resolve();
  });
  if (response.writableEnded) resolve();
  return promise;
}

/**
 * dynalite compares bytes as texts, in which all bytes that are no UTF-8 are alike, and never returns the item that a condition
 * refused. DynamoDB does neither. Here conditions compare base64 instead.
 */
function mendConditions(): void {
  const actions = ['putItem', 'updateItem', 'deleteItem'].map(
    (name) => requirePart(`validations/${name}.js`) as Validation,
  );
  for (const { types } of actions) types[returned] ??= { type: 'String', enum: ['ALL_OLD', 'NONE'] };
  const conditions = requirePart('db/index.js') as Conditions;
  if (mended in conditions) return;
  const { checkConditional } = conditions;
  conditions.checkConditional = ({ _condition, ...request }, item) => {
    if (!_condition) return checkConditional(request, item);
    const refusal = checkConditional({ ...request, _condition: withBase64(_condition) }, item && withBase64(item));
    if (refusal && item && request[returned] === 'ALL_OLD') refusal.body.Item = item;
    return refusal;
  };
  Object.assign(conditions, { [mended]: true });
}

/** By its whole path, so that tests get the very module that runs. */
const requirePart = (path: string): unknown => requireFromDynalite(join(dirname(dynalitePath), path));

const returned = 'ReturnValuesOnConditionCheckFailure';
const mended = Symbol.for('mended');

interface Validation {
  readonly types: Record<string, object>;
}

interface Conditions {
  checkConditional: (
    request: { readonly _condition?: object; readonly [returned]?: string },
    item: object | undefined,
  ) => { readonly body: { Item?: object } } | null | undefined;
}

/** A copy with bytes and sets of bytes as texts. */
function withBase64(values: object): object {
  return JSON.parse(JSON.stringify(values), (_, value) => {
    if (typeof value?.B === 'string') return { S: value.B };
    return Array.isArray(value?.BS) ? { SS: value.BS } : value;
  });
}
