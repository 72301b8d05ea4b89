import { Writable } from 'node:stream';
import { hear, type Seen } from './client.ts';
import { newProcess, type Process } from './scheduler.ts';
import type { Engine } from './web-engine.ts';
import type { World } from './world.ts';

/** What a function may take in all. */
const timeLimit = 900_000;

/** What the head of a response is, before its first write. */
const preludes = new WeakMap<Writable, { readonly statusCode: number; readonly headers: Record<string, string> }>();

/** Lambda's global for functions that stream. */
function installAwslambda(): void {
  Reflect.set(globalThis, 'awslambda', {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from(stream: Writable, prelude: { statusCode: number; headers: Record<string, string> }) {
        preludes.set(stream, prelude);
        return stream;
      },
    },
  });
}

type Handler = (event: object, stream: Writable, context: object) => Promise<void>;

interface Environment {
  readonly process: Process;
  handler: Promise<Handler> | undefined;
  isBusy: boolean;
}

/** The Function URL: each request has an environment for itself, which is frozen as soon as its promise is kept. */
export function startFunction(world: World): Engine {
  const { scheduler, subject, trace } = world;
  const environments: Environment[] = [];
  installAwslambda();

  function open(): Environment {
    const process = newProcess(`environment ${environments.length}`);
    const environment: Environment = { process, handler: undefined, isBusy: true };
    environments.push(environment);
    return environment;
  }

  async function handlerOf({ process }: Environment): Promise<Handler> {
    const { store } = await world.store.open(process, () => world.random.below(1_000) / 1_000);
    const { writeLog: write, now, ...outside } = world.outside;
    const app = subject.createGateway(world.config, {
      ...outside,
      now,
      log: subject.createLog({ write, now, metricsNamespace: world.config.log.metricsNamespace }),
      store,
    });
    return subject.createHandler(app) as unknown as Handler;
  }

  /** Everything that leaves arrives, whoever still reads it: Lambda takes it. */
  function responseStream(seen: Seen, say: (what: string) => void): Writable {
    const begin = () => {
      if (seen.status !== undefined) return;
      const { statusCode, headers } = preludes.get(stream) ?? { statusCode: 200, headers: {} };
      seen.status = statusCode;
      seen.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      seen.answeredAt = scheduler.now();
      say(`is answered ${seen.status}`);
    };
    const stream = new Writable({
      write(bytes: Buffer, _encoding, done) {
        begin();
        if (bytes.length > 0) say(`gets ${bytes.length} bytes`);
        if (bytes.length > 0) hear(seen, bytes, scheduler.now());
        done();
      },
      final(done) {
        begin();
        done();
      },
    });
    return stream.on('error', () => {});
  }

  return {
    send({ method, path, headers, body, address }, plan, seen, say) {
      const environment = environments.find(({ isBusy }) => !isBusy) ?? open();
      const { process } = environment;
      environment.isBusy = true;
      if (process.state === 'frozen') scheduler.thaw(process, world.random.below(3));
      const deadline = scheduler.now() + timeLimit;
      const isText = plan.gzip === false && plan.wrong !== 'gzip cut';
      const event = {
        rawPath: path,
        rawQueryString: '',
        headers,
        requestContext: {
          domainName: 'gateway.example',
          http: { method, path, sourceIp: address },
        },
        ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
        isBase64Encoded: !isText,
      };
      const stream = responseStream(seen, say);
      const context = { getRemainingTimeInMillis: () => deadline - scheduler.now() };
      const settle = (end: 'whole' | 'cut') => {
        environment.isBusy = false;
        process.state = 'frozen';
        seen.ended = scheduler.now();
        seen.end = end;
        say(`is done: ${end}`);
        trace(() => `${process.name} is frozen`);
      };
      scheduler.at(1, process, () => {
        environment.handler ??= handlerOf(environment);
        environment.handler
          .then((handler) => handler(event, stream, context))
          .then(
            () => settle(stream.writableFinished ? 'whole' : 'cut'),
            (error) => {
              world.escaped.push(error);
              settle('cut');
            },
          );
      });
    },
    isUp: () => true,
    isIdle: () => environments.every(({ isBusy }) => !isBusy),
    wake() {
      for (const { process } of environments) if (process.state === 'frozen') scheduler.thaw(process, 0);
    },
    stop: async () => [],
  };
}
