import type { Server } from 'node:http';
import type { GatewayDependencies } from '../../lambda/gateway.ts';
import type { WriteLog } from '../../lambda/report/log.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { Subject } from './bundle.ts';
import { admit } from './callers.ts';
import { newSeen, type Seen } from './client.ts';
import type { WorldSocket } from './connection.ts';
import { startFunction } from './function-engine.ts';
import { callersOf, type Plan, requestsOf } from './plan.ts';
import { requestOf } from './request.ts';
import { createScheduler, type Process, type Timer } from './scheduler.ts';
import { settingsOf } from './settings.ts';
import { createStore, type WorldStore } from './store/store.ts';
import { createUpstreams, type Try } from './upstream.ts';
import { type Engine, type Stop, startWeb } from './web-engine.ts';

/** All that has happened in a world. */
export interface History {
  readonly plan: Plan;
  readonly begin: number;
  readonly seen: readonly Seen[];
  readonly tries: readonly Try[];
  readonly store: WorldStore;
  /** The log, line by line, and when each was written. */
  readonly log: readonly string[];
  readonly logTimes: readonly number[];
  /** What nobody caught. */
  readonly escaped: readonly unknown[];
  /** What is still open after all is over. */
  readonly left: {
    readonly timers: readonly Timer[];
    /** What requests still hold of the memory for bodies. */
    readonly bytes: number;
    /** How many listeners each idle connection has. */
    readonly listeners: readonly number[];
    readonly unfinished: readonly string[];
  };
  readonly stops: readonly Stop[];
  readonly trace: readonly string[];
}

/** What the parts of a world share. */
export interface World {
  readonly plan: Plan;
  readonly subject: Subject;
  readonly scheduler: ReturnType<typeof createScheduler>;
  readonly store: WorldStore;
  readonly environment: Readonly<Record<string, string>>;
  readonly config: ReturnType<Subject['readConfig']>;
  readonly trace: (line: () => string) => void;
  /** What every process is given. */
  readonly outside: Pick<GatewayDependencies, 'readSecret' | 'readToken' | 'now'> & { readonly writeLog: WriteLog };
  readonly random: Random;
  readonly escaped: unknown[];
  readonly servers: Map<Process, Server>;
  /** The gateway's ends of its clients' connections. */
  readonly sockets: WorldSocket[];
}

/** Noon, or as long before midnight as is planned, of a day in the middle of nothing. */
const midnight = Date.UTC(2026, 10, 22);
/** Nothing takes longer. */
const longest = 3_600_000;

/** Lives through a plan. */
export async function runWorld(subject: Subject, plan: Plan, isTraced = false): Promise<History> {
  // The log shows stacks, which differ with whoever calls this.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await live(subject, plan, isTraced);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function live(subject: Subject, plan: Plan, isTraced: boolean): Promise<History> {
  const world = openWorld(subject, plan, isTraced);
  const { begin, scheduler, store, upstreams, log, logTimes, escaped, memory } = world;
  const engine = plan.engine === 'web' ? startWeb(world) : startFunction(world);
  await scheduler.runUntil(engine.isUp, begin + 1_000);
  const opened = scheduler.now();
  const seen = requestsOf(plan).map(({ at }) => newSeen(opened + at));
  sendAll(world, engine, seen);
  const isAnswered = () => seen.every(({ ended }) => ended !== undefined) && engine.isIdle();
  await untilCalm(world, engine, isAnswered);
  const unfinished = seen.flatMap(({ ended }, number) => (ended === undefined ? [`client ${number}`] : []));
  const left = {
    timers: [...scheduler.timers].filter((timer) => isLeft(timer, scheduler.now())),
    listeners: upstreams.sockets.filter(isIdle).map(countListeners),
    unfinished: engine.isIdle() ? unfinished : [...unfinished, 'a process'],
  };
  const stops = await engine.stop();
  const bytes = memory.reduce((sum, { held }) => sum + held, 0);
  for (const socket of [...world.sockets, ...upstreams.sockets]) socket.forget();
  const { tries } = upstreams;
  return {
    plan,
    begin,
    seen,
    tries,
    store,
    log,
    logTimes,
    escaped,
    left: { ...left, bytes },
    stops,
    trace: world.lines,
  };
}

function openWorld(subject: Subject, plan: Plan, isTraced: boolean) {
  const begin = midnight - plan.untilMidnight;
  const scheduler = createScheduler(begin);
  const random = createRandom(plan.seed);
  const lines: string[] = [];
  const trace = (line: () => string) => {
    if (isTraced) lines.push(`${scheduler.now() - begin} ${line()}`);
  };
  const store = createStore({ plan, subject, scheduler, trace });
  const upstreams = createUpstreams(plan, { scheduler, random, trace, begin });
  const servers = new Map<Process, Server>();
  const memory: { held: number }[] = [];
  const log: string[] = [];
  const logTimes: number[] = [];
  subject.enter({
    now: scheduler.now,
    setTimer: scheduler.setTimer,
    setImmediate: scheduler.setImmediate,
    randomBytes: (size) => Buffer.from(Array.from({ length: size }, () => random.below(256))),
    connect: ({ host }) => upstreams.connect(host ?? ''),
    listen: (server) => void (scheduler.running && servers.set(scheduler.running, server)),
    close: (server) => {
      for (const [process, one] of servers) if (one === server) servers.delete(process);
    },
    fateOfThread: () => plan.threads,
    startStoreThread: store.startThread,
    openMemory() {
      const account = { held: 0 };
      memory.push(account);
      return account;
    },
  });
  admit(plan, store, begin);
  const environment = settingsOf(plan);
  const config = configOf(subject, environment);
  const writeLog = (line: string) => {
    log.push(line);
    logTimes.push(scheduler.now());
    trace(() => `log ${line.trim()}`);
  };
  const none = () => Promise.reject(new Error('there is none here'));
  const outside = { readSecret: none, readToken: none, writeLog, now: scheduler.now };
  const sockets: WorldSocket[] = [];
  const shared = { plan, subject, scheduler, store, environment, config, outside, trace, random, servers, sockets };
  const escaped: unknown[] = [];
  return { ...shared, escaped, begin, upstreams, memory, log, logTimes, lines };
}

/** Has each client send its request when its time comes. */
function sendAll({ plan, scheduler, trace }: World, engine: Engine, seen: readonly Seen[]): void {
  const callers = callersOf(plan);
  for (const [number, request] of requestsOf(plan).entries()) {
    const caller = callers[request.caller] ?? callers[0];
    const view = seen[number];
    if (!caller || !view) continue;
    const say = (what: string) => trace(() => `client ${number} ${what}`);
    scheduler.at(request.at, undefined, () => {
      say('begins');
      engine.send(requestOf(request, number, caller), request, view, say);
    });
  }
}

/** Lets everything happen, until nobody waits for anything and what was let go of has had some seconds to end. */
async function untilCalm(
  world: ReturnType<typeof openWorld>,
  engine: Engine,
  isAnswered: () => boolean,
): Promise<void> {
  const { scheduler, begin, upstreams, escaped } = world;
  const { tries } = upstreams;
  const isOver = () =>
    isAnswered() && tries.every(({ doneAt, closedAt }) => doneAt !== undefined || closedAt !== undefined);
  const catching = (error: unknown) => escaped.push(error);
  process.on('uncaughtException', catching).on('unhandledRejection', catching);
  await scheduler.runUntil(isAnswered, begin + longest);
  engine.wake();
  for (let isCalm = false; !isCalm && (await scheduler.runUntil(isOver, begin + longest)); ) {
    const { length } = tries;
    await scheduler.runUntil(() => false, scheduler.now() + 15_000);
    isCalm = isOver() && tries.length === length;
  }
  process.off('uncaughtException', catching).off('unhandledRejection', catching);
}

/** Whether a timer should not be there any more. What a process does at intervals may just have begun. */
const isLeft = ({ isRef, process, since }: Timer, now: number): boolean =>
  isRef && process?.state !== 'dead' && since < now - 5_000;

const configs = new WeakMap<Subject, Map<string, World['config']>>();

/** Most worlds have the same settings, and reading them takes longer than a request. */
function configOf(subject: Subject, environment: World['environment']): World['config'] {
  const known = configs.get(subject) ?? new Map<string, World['config']>();
  configs.set(subject, known);
  const name = JSON.stringify(environment);
  const config = known.get(name) ?? subject.readConfig(environment);
  known.set(name, config);
  return config;
}

/** Whether no request has it any more. */
const isIdle = (socket: WorldSocket): boolean => !socket.destroyed && Reflect.get(socket, '_httpMessage') === null;

const countListeners = (socket: NodeJS.EventEmitter): number =>
  socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0);
