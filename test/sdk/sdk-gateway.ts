import { execFile } from 'node:child_process';
import { mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { answerPrompt } from '../../local/demo/answer.ts';
import { messages } from '../../local/upstream/messages.ts';
import { json, sse } from '../../local/upstream/script.ts';
import { startDemoGateway } from '../support/demo-gateway.ts';
import type { Answer } from '../support/fake-upstream.ts';
import type { DialectName } from '../support/fixtures.ts';
import { identity, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { strictly } from '../support/message-rules.ts';
import { chargesIn } from '../support/quota.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Far above every limit, so that a test hits only those that it sets. */
const roomy = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };

/** A gateway whose upstream gives the answers that the test scripts. */
export function startScriptedGateway(): Promise<TestGateway> {
  return failOnEscapedErrors(startTestGateway({ environment: roomy }));
}

interface UpstreamKind {
  readonly kind: string;
  /** The dialects that are translated for it. */
  readonly translates: readonly DialectName[];
  /** Starts a gateway in front of it. */
  readonly start: () => Promise<TestGateway>;
}

/** What a gateway's upstream may speak. */
export const upstreams: readonly UpstreamKind[] = [
  { kind: 'of every dialect', translates: [], start: startRoomyDemoGateway },
  {
    ...{ kind: 'of chat alone', translates: ['responses', 'messages'] },
    start: () => startRoomyDemoGateway({ UPSTREAM_DIALECTS: 'chat', UPSTREAM_REASONING: 'reasoning_effort' }),
  },
  {
    ...{ kind: 'of messages alone, as strict as their maker', translates: ['chat', 'responses'] },
    start: () => startStrictGateway(answerAsDemo()),
  },
];

/** The upstreams that a client of this dialect must work with. */
export const upstreamsFor = (dialect: DialectName): readonly UpstreamKind[] =>
  upstreams.filter(({ translates }) => translates.length === 0 || translates.includes(dialect));

/** The demo's answer to the question who it is. */
export const answer = 'I am svc, a pretend model. svc, the company that made me, does not exist either.';

/** A gateway in front of the demo upstream. */
export function startRoomyDemoGateway(settings: Readonly<Record<string, string>> = {}): Promise<TestGateway> {
  return failOnEscapedErrors(startDemoGateway({ environment: { ...roomy, ...settings } }));
}

/** A gateway whose upstream speaks only messages, gives this answer, and refuses what the API of its vendor would. */
export async function startStrictGateway(answer: Answer): Promise<TestGateway> {
  const environment = {
    ...{ ...roomy, UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '4096' },
    UPSTREAM_NAMES: `${identity.UPSTREAM_NAMES},Quillon,Quill-4`,
  };
  const gateway = await failOnEscapedErrors(startTestGateway({ environment }));
  gateway.upstream.otherwise(strictly(answer));
  return gateway;
}

/** Answers as the demo would. */
function answerAsDemo(): Answer {
  let count = 0;
  return ({ body: bytes }) => {
    const body = JSON.parse(`${bytes}`);
    count += 1;
    const reply = {
      ...{ answer: answerPrompt(messages.read(body)), body, model: body.model },
      ...{ id: `quillon${count}`, created: 1_790_000_000, marks: { provider: 'Quillon' } },
    };
    return body.stream ? sse(messages.events(reply)) : json(200, messages.whole(reply));
  };
}

/** Checks on disposal that no exception has escaped from the gateway. */
async function failOnEscapedErrors(starting: Promise<TestGateway>): Promise<TestGateway> {
  const gateway = await starting;
  const close = gateway[Symbol.asyncDispose];
  return Object.assign(gateway, {
    async [Symbol.asyncDispose]() {
      await close.call(gateway);
      expect(gateway.faults).toEqual([]);
    },
  });
}

/** Names of both upstreams, and members that would reveal them. */
const traces = /quillon|quill-4|acmecorp|thunder|fingerprint|"provider":"svc"|native_finish/i;

/** Fails if a value from an SDK, even inside an error, reveals the upstream. Returns the value. */
export function expectHidden<T>(value: T): T {
  const seen = value instanceof Error ? { ...value, message: value.message, stack: value.stack } : value;
  expect(JSON.stringify(seen)).not.toMatch(traces);
  return value;
}

/** The error of a rejected promise, which must not reveal the upstream either. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome) return expectHidden(outcome.error);
  throw new Error(`no error, but ${JSON.stringify(outcome.value)}`);
}

/** Everything that a stream yields. */
export async function readAll<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** How requests ended, in order: answered, or with an error code. */
const ends = ({ log }: TestGateway): unknown[] =>
  log.filter(({ message }) => message === 'answered' || message === 'refused').map(({ code }) => code ?? 'answered');

/** Runs a step and returns how the gateway ended its requests. */
export async function outcomesOf(gateway: TestGateway, step: () => PromiseLike<unknown>): Promise<unknown[]> {
  const before = ends(gateway).length;
  await step();
  return ends(gateway).slice(before);
}

/** Runs a step with one request and returns its charge. An SDK that throws on an error event does so before the refund. */
export async function costOf(gateway: TestGateway, step: () => PromiseLike<unknown>): Promise<number> {
  const chargesBefore = await chargesIn(gateway);
  const endsBefore = ends(gateway).length;
  await step();
  await waitUntil(() => ends(gateway).length > endsBefore, 'the request has ended');
  return (await chargesIn(gateway)) - chargesBefore;
}

const ofLibraries = 'test/sdk/frameworks';
const between = '\u0000\n';

/** Runs a module in the folder of a package, by default of the separately installed libraries, and returns its output. */
export async function runModule(script: string, folder = ofLibraries): Promise<string> {
  // With a clean environment, in which nobody's own key can replace one that the script lacks.
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH, NODE_COMPILE_CACHE, HTTPS_PROXY: 'http://127.0.0.1:9' },
    cwd: folder,
    timeout: 30_000,
  });
  return stdout;
}

/** The same for several modules, one after another in one process, because loading a library takes long. */
export async function runModules(scripts: readonly string[], folder = ofLibraries): Promise<string[]> {
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'modules-'));
  await symlink(resolve(folder, 'node_modules'), join(scratch.path, 'node_modules'));
  const files = scripts.map((_, index) => join(scratch.path, `${index}.mjs`));
  await Promise.all(files.map((file, index) => writeFile(file, scripts[index] ?? '')));
  const printed = await runModule(
    `for (const file of ${JSON.stringify(files)}) {
    await import(file);
    process.stdout.write(${JSON.stringify(between)});
  }`,
    folder,
  );
  return printed.split(between).slice(0, -1);
}
