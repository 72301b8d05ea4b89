import type { JsonObject } from '../../local/upstream/json.ts';
import type { DialectName } from '../support/fixtures.ts';
import type { Random } from '../support/random.ts';
import { createConnection, type Peer, type WorldSocket } from './connection.ts';
import { createHttpReader, type Head } from './http-reader.ts';
import { type Plan, requestsOf, type Turn, turnAt } from './plan.ts';
import type { Scheduler } from './scheduler.ts';
import { hidden, recut, type Spoken, speak, speakVectors, toWire, type WireAnswer, writeAnswer } from './speech.ts';

/** What one upstream got, and what became of it. */
export interface Try {
  readonly request: number;
  readonly upstream: number;
  readonly time: number;
  readonly head: Head;
  readonly body: string;
  readonly dialect: DialectName;
  readonly turn: Turn;
  readonly spoken: Spoken;
  readonly answer: WireAnswer;
  /** How many of its pieces have left whole. */
  sent: number;
  /** What had left in all, and when. */
  readonly sending: { readonly time: number; readonly bytes: number }[];
  /** Whether its whole head has left. */
  hasHead: boolean;
  /** When a piece left last. */
  lastSentAt: number;
  /** When its end or its failure left. */
  completeAt?: number;
  failedAt?: number;
  /** When it had no more to send, unless it then kept silent in the middle. */
  doneAt?: number;
  /** When the gateway closed the connection. */
  closedAt?: number;
}

const dialectAt: readonly (readonly [string, DialectName])[] = [
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
];

/** What becomes of a connection whose answer is whole. Of a close nobody may have told the gateway. */
function endOf({ framing, closes, speech }: Turn): 'end' | 'silent end' | 'stays' {
  if (framing === 'end' || framing === 'too long') return 'end';
  if (!closes) return 'stays';
  return speech % 2 === 0 ? 'end' : 'silent end';
}

interface Neighbours {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly trace: (line: () => string) => void;
  readonly begin: number;
}

/** All upstreams of a world. */
export function createUpstreams(plan: Plan, { scheduler, random, trace, begin }: Neighbours) {
  const tries: Try[] = [];
  const sockets: WorldSocket[] = [];
  const requests = requestsOf(plan);
  /** Connections that have ended on this side. */
  const ended = new WeakSet<Peer>();

  /** Answers a request that has come whole. */
  function answer(peer: Peer, upstream: number, head: Head, body: string): Try | undefined {
    const [, path = ''] = head.first.split(' ');
    const dialect = dialectAt.find(([end]) => path.includes(end))?.[1] ?? 'chat';
    const request = Number(/case-(\d+)/.exec(body)?.[1] ?? -1);
    const asked = requests[request];
    if (!asked) throw new Error(`an upstream got a request of nobody: ${body.slice(0, 200)}`);
    const turn = turnAt(asked, tries.filter((one) => one.request === request).length);
    const json: JsonObject = JSON.parse(body);
    const spoken = path.endsWith('/embeddings') ? speakVectors(turn) : speak(turn, asked.choices);
    const isCount = /count_tokens|input_tokens/.test(path);
    const said: WireAnswer = isCount
      ? { type: 'application/json', pieces: [Buffer.from('{"input_tokens":10}')], completeAt: 1 }
      : writeAnswer(turn, dialect, json, spoken);
    const made: Try = {
      ...{ request, upstream, head, body, dialect, turn, spoken, answer: said },
      time: scheduler.now(),
      sent: 0,
      sending: [],
      hasHead: false,
      lastSentAt: scheduler.now(),
    };
    tries.push(made);
    trace(() => `upstream ${upstream} gets request ${request} ${path} ${body.length}`);
    send(peer, made);
    return made;
  }

  /** Sends one piece after the other, up to where the turn stops. */
  function send(peer: Peer, made: Try): void {
    const { turn } = made;
    const wire = toWire(turn, made.answer);
    const pieces = recut(wire, turn.pieces, random.below);
    const isWhole = turn.stopsAfter < 0 || turn.stopsAfter >= pieces.length;
    // Any other answer ends where its framing says.
    const isStream = made.answer.type === 'text/event-stream';
    const kept = isWhole ? pieces : pieces.slice(0, turn.stopsAfter);
    let bytes = 0;
    const next = (at: number) => {
      if (ended.has(peer)) {
        // It had come before that, and is lost.
        made.doneAt ??= scheduler.now();
        peer.reset();
      }
      if (made.closedAt !== undefined || ended.has(peer)) return;
      const piece = kept[at];
      if (piece) {
        peer.send(piece);
        bytes += piece.length;
        made.lastSentAt = scheduler.now();
        made.sending.push({ time: scheduler.now(), bytes });
        noteSent(made, wire, bytes);
        trace(() => `upstream ${made.upstream} sends ${piece.length} to request ${made.request}`);
        scheduler.at(turn.gap, undefined, () => next(at + 1));
        return;
      }
      if (turn.framing === 'too long') made.failedAt = scheduler.now();
      else if (made.completeAt === undefined || turn.status !== 200 || !(isWhole || isStream)) {
        made.failedAt ??= isWhole ? made.lastSentAt : scheduler.now();
      }
      const stops = isWhole ? endOf(turn) : turn.stops;
      trace(() => `upstream ${made.upstream} is done with request ${made.request}: ${stops}`);
      if (isWhole || stops !== 'silence') made.doneAt = scheduler.now();
      if (stops === 'end') peer.end();
      if (stops === 'reset') peer.reset();
      // Whatever comes now finds it closed.
      if (stops === 'end' || stops === 'silent end') {
        ended.add(peer);
        peer.onBytes = () => peer.reset();
      }
    };
    scheduler.at(turn.thinks, undefined, () => next(0));
  }

  /** How far the answer has left, whatever pieces it is cut into. */
  function noteSent(made: Try, wire: readonly Buffer[], bytes: number): void {
    const { framing } = made.turn;
    const isJoined = framing === 'gzip';
    const behind = (framing === 'chunked' ? 2 : 0) + (made.answer.type === 'text/event-stream' ? 2 : 0);
    let left = bytes - (wire[0]?.length ?? 0);
    made.hasHead = left >= 0;
    let sent = 0;
    for (const piece of wire.slice(1)) {
      left -= piece.length;
      // The blank line behind an event says nothing, nor does the line end behind a chunk. Compressed, it is read at its very end.
      if (left < (isJoined ? 0 : -behind)) break;
      sent += 1;
    }
    made.sent = isJoined
      ? sent === wire.length - 1
        ? made.answer.pieces.length
        : 0
      : Math.min(sent, made.answer.pieces.length);
    if (made.sent >= made.answer.completeAt) made.completeAt ??= scheduler.now();
    else if (made.sent === made.answer.pieces.length) made.failedAt ??= scheduler.now();
  }

  return {
    tries: tries as readonly Try[],
    /** The gateway's ends of all connections. */
    sockets: sockets as readonly WorldSocket[],
    /** The gateway connects to a host. */
    connect(host: string): WorldSocket {
      const upstream = hidden.hosts.indexOf(host);
      const process = scheduler.running;
      if (upstream < 0 || !process) throw new Error(`nobody is at ${host}`);
      const { latency } = plan;
      const { socket, peer } = createConnection({
        ...{ scheduler, process, latency },
        remoteAddress: '203.0.113.200',
        allowHalfOpen: false,
      });
      sockets.push(socket);
      socket.connecting = true;
      const time = scheduler.now() - begin;
      const outage = plan.outages.find((one) => one.upstream === upstream && one.from <= time && time < one.until);
      trace(() => `a connection to upstream ${upstream}: ${outage?.how ?? 'accepted'}`);
      if (outage?.how === 'silent') return socket;
      scheduler.at(2 * latency, process, () => {
        if (outage) socket.destroy(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
        else socket.connected();
      });
      serve(peer, upstream);
      return socket;
    },
  };

  function serve(peer: Peer, upstream: number): void {
    let head: Head = { first: '', headers: {} };
    let body: Buffer[] = [];
    let current: Try | undefined;
    const reader = createHttpReader({
      onHead: (read) => {
        [head, body] = [read, []];
      },
      onBody: (bytes) => body.push(bytes),
      onEnd: () => {
        current = answer(peer, upstream, head, Buffer.concat(body).toString());
      },
    });
    peer.onBytes = (bytes) => reader.push(bytes);
    const close = () => {
      if (current) current.closedAt ??= scheduler.now();
    };
    peer.onClose = close;
    peer.onEnd = () => {
      close();
      peer.end();
    };
  }
}
