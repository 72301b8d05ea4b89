import { readAnswer, type Say, type Seen } from './client.ts';
import { createConnection } from './connection.ts';
import type { RequestPlan } from './plan.ts';
import type { ClientRequest } from './request.ts';
import { endProcess, newProcess, type Process } from './scheduler.ts';
import { recut } from './speech.ts';
import type { World } from './world.ts';

/** How clients reach the gateway of a world. */
export interface Engine {
  send(request: ClientRequest, plan: RequestPlan, seen: Seen, say: Say): void;
  /** Whether no request is being answered. */
  isIdle(): boolean;
  /** Wakes what is frozen, so that what it has left open shows. */
  wake(): void;
  /** Stops what runs. Returns how each process has stopped. */
  stop(): Promise<readonly Stop[]>;
}

export interface Stop {
  readonly told: number;
  over?: number;
}

type Running = Awaited<ReturnType<World['subject']['startServer']>>;

/** The HTTP server, one process for all. It may be told to stop, or die; then another one takes its place. */
export function startWeb(world: World): Engine {
  const { plan, scheduler, subject, trace } = world;
  let current = boot('first');
  const stops: Stop[] = [];

  function boot(name: string) {
    const process = newProcess(name);
    const state: { process: Process; server: Running | undefined } = { process, server: undefined };
    scheduler.at(0, process, () => {
      const serverConfig = subject.readServerConfig(world.environment);
      const starting = subject.startServer(world.config, serverConfig, {
        ...world.outside,
        openAdminStore: () => Promise.reject(new Error('no pages here')),
        store: world.store.openFor(process, subject, () => world.random.below(1_000) / 1_000),
        pageFiles: new Map(),
        runEvery: (task, time) => {
          scheduler.setTimer(task, time, true).isRef = false;
        },
      });
      starting.then(
        (server) => {
          state.server = server;
        },
        (error) => world.escaped.push(error),
      );
    });
    return state;
  }

  /** As SIGTERM does. */
  function tellToStop(): void {
    const { process, server } = current;
    trace(() => 'SIGTERM');
    const outcome: Stop = { told: scheduler.now() };
    stops.push(outcome);
    const end = () => {
      outcome.over = scheduler.now();
      endProcess(process);
      trace(() => 'the process ends');
    };
    // Until it serves, nothing keeps it from ending at once.
    scheduler.at(0, process, () => (server ? void server.stop(plan.grace).then(end) : end()));
  }

  if (plan.diesAt >= 0) {
    scheduler.at(plan.diesAt, undefined, () => {
      trace(() => 'the process dies');
      world.servers.delete(current.process);
      endProcess(current.process);
      current = boot('next');
    });
  }
  if (plan.stopsAt >= 0) {
    scheduler.at(plan.stopsAt, undefined, () => {
      tellToStop();
      current = boot('next');
    });
  }

  return {
    send({ bytes }, requestPlan, seen, say) {
      const { process } = current;
      const server = world.servers.get(process);
      if (!server) {
        [seen.ended, seen.end] = [scheduler.now(), 'not connected'];
        return;
      }
      const { latency } = plan;
      const place = { remoteAddress: '10.0.0.1', allowHalfOpen: true };
      const { socket, peer } = createConnection({ scheduler, process, latency, ...place });
      scheduler.at(latency, process, () => {
        if (world.servers.has(process)) server.emit('connection', socket);
        else socket.destroy();
      });
      readAnswer(peer, requestPlan, seen, scheduler, say);
      const pieces = requestPlan.pieces === 'joined' ? 'events' : requestPlan.pieces;
      for (const piece of recut([bytes], pieces, world.random.below)) peer.send(piece);
    },
    isIdle: () => true,
    wake() {},
    async stop() {
      if (current.process.state === 'running') tellToStop();
      await scheduler.runUntil(() => stops.every(({ over }) => over !== undefined), scheduler.now() + 60_000);
      return stops;
    },
  };
}
