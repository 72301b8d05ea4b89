import { type Client, createClient, type Say, type Seen } from './client.ts';
import { createConnection, type Peer } from './connection.ts';
import { type RequestPlan, requestsOf } from './plan.ts';
import type { ClientRequest } from './request.ts';
import { endProcess, newProcess, type Process } from './scheduler.ts';
import { recut } from './speech.ts';
import type { World } from './world.ts';

/** How clients reach the gateway of a world. */
export interface Engine {
  send(request: ClientRequest, plan: RequestPlan, seen: Seen, say: Say): void;
  /** Whether clients can reach it. */
  isUp(): boolean;
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

interface Running {
  stop(grace: number): Promise<void>;
}

/** The HTTP server, one process for all. It may be told to stop, or die; then another one takes its place. */
export function startWeb(world: World): Engine {
  const { plan, scheduler, subject, trace } = world;
  let current = boot('first');
  const stops: Stop[] = [];

  function boot(name: string) {
    const process = newProcess(name);
    const state: { process: Process; server: Running | undefined } = { process, server: undefined };
    async function start(): Promise<void> {
      const { store, close } = await world.store.open(process, () => world.random.below(1_000) / 1_000);
      const serverConfig = subject.readServerConfig(world.environment);
      const server = await subject.startServer(world.config, serverConfig, {
        ...world.outside,
        openAdminStore: () => Promise.reject(new Error('no pages here')),
        store,
        pageFiles: new Map(),
        runEvery: (task, time) => {
          scheduler.setTimer(task, time, true).isRef = false;
        },
      });
      state.server = { stop: (grace) => server.stop(grace).then(close) };
    }
    scheduler.at(0, process, () => void start().catch((error) => world.escaped.push(error)));
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

  const kept: { readonly peer: Peer; readonly client: Client }[] = [];
  const stays = requestsOf(plan).some(({ connection }) => connection === 'kept');

  /** A new connection, unless nobody is there. */
  function connect() {
    const { process } = current;
    const server = world.servers.get(process);
    if (!server) return undefined;
    const { latency } = plan;
    const place = { remoteAddress: '10.0.0.1', allowHalfOpen: true };
    const { socket, peer } = createConnection({ scheduler, process, latency, ...place });
    world.sockets.push(socket);
    scheduler.at(latency, process, () => {
      if (world.servers.has(process)) server.emit('connection', socket);
      else socket.destroy();
    });
    const connection = { peer, client: createClient(peer, scheduler, stays) };
    kept.push(connection);
    return connection;
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
      const connection = (requestPlan.connection === 'kept' && kept.find(({ client }) => client.isIdle())) || connect();
      if (!connection) {
        [seen.ended, seen.end] = [scheduler.now(), 'not connected'];
        return;
      }
      connection.client.ask({ plan: requestPlan, seen, say });
      const pieces = requestPlan.pieces === 'joined' ? 'events' : requestPlan.pieces;
      for (const piece of recut([bytes], pieces, world.random.below)) connection.peer.send(piece);
    },
    isUp: () => world.servers.size > 0,
    isIdle: () => true,
    wake() {},
    async stop() {
      if (current.process.state === 'running') tellToStop();
      await scheduler.runUntil(() => stops.every(({ over }) => over !== undefined), scheduler.now() + 60_000);
      return stops;
    },
  };
}
