import { Duplex } from 'node:stream';
import type { Process, Scheduler } from './scheduler.ts';

/** The other end of a connection, outside of the gateway. */
export interface Peer {
  send(bytes: Uint8Array): void;
  end(): void;
  reset(): void;
  /** Takes no more for now, or takes all that waits. */
  hold(held: boolean): void;
  onBytes: (bytes: Buffer) => void;
  /** The gateway sends no more. */
  onEnd: () => void;
  /** Nothing comes or goes any more. */
  onClose: () => void;
}

interface Connecting {
  readonly scheduler: Scheduler;
  /** Whose end it is. */
  readonly process: Process;
  /** Milliseconds from one end to the other. */
  readonly latency: number;
  readonly remoteAddress: string;
  /** Whether this end may send on when the other has ended. */
  readonly allowHalfOpen: boolean;
}

/** Bytes on their way, or not read, above which a writer waits. */
const window = 16_384;

/** A connection over the network of the world. The gateway's end looks like a socket of Node. */
export function createConnection(options: Connecting): { readonly socket: WorldSocket; readonly peer: Peer } {
  const { scheduler, process, latency } = options;
  const towards = { waiting: [] as (() => void)[], isHeld: false, unread: 0, isOver: false };
  let written: (() => void) | undefined;

  const peer: Peer = {
    onBytes: () => {},
    onEnd: () => {},
    onClose: () => {},
    send: (bytes) => void scheduler.at(latency, process, () => socket.receive(Buffer.from(bytes))),
    end: () => void scheduler.at(latency, process, () => socket.receive(null)),
    reset() {
      towards.isOver = true;
      scheduler.at(latency, process, () => socket.destroy(resetByPeer()));
    },
    hold(held) {
      towards.isHeld = held;
      if (!held) for (const take of towards.waiting.splice(0)) take();
    },
  };

  /** What the gateway sends arrives in order; unless it is held, it is taken at once. */
  function toPeer(take: () => void): void {
    scheduler.at(latency, undefined, () => {
      if (towards.isOver) return;
      if (towards.isHeld) towards.waiting.push(take);
      else take();
    });
  }

  function breakOff(): void {
    scheduler.at(latency, undefined, () => {
      if (towards.isOver) return;
      towards.isOver = true;
      peer.onClose();
    });
  }

  const socket = new WorldSocket(options, {
    write(bytes, done) {
      towards.unread += bytes.length;
      toPeer(() => {
        towards.unread -= bytes.length;
        peer.onBytes(bytes);
        if (!written || towards.unread > window) return;
        scheduler.at(latency, process, written);
        written = undefined;
      });
      if (towards.unread <= window) done();
      else written = done;
    },
    end: () => toPeer(() => peer.onEnd()),
    close: breakOff,
  });
  process.closings.push(breakOff);
  return { socket, peer };
}

const resetByPeer = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

interface Sending {
  write(bytes: Buffer, done: () => void): void;
  end(): void;
  close(): void;
}

/** What Node's HTTP asks of a socket. */
export class WorldSocket extends Duplex {
  connecting = false;
  /** Node's, while it reads. */
  declare parser?: { close(): void };
  readonly remoteAddress: string;
  readonly #sending: Sending;
  readonly #scheduler: Scheduler;
  #arrived: (Buffer | null)[] = [];
  #wantsMore = false;
  #idle: { clear(): void } | undefined;

  constructor({ remoteAddress, allowHalfOpen, scheduler }: Connecting, sending: Sending) {
    super({ allowHalfOpen });
    this.remoteAddress = remoteAddress;
    this.#sending = sending;
    this.#scheduler = scheduler;
  }

  receive(bytes: Buffer | null): void {
    if (this.destroyed) return;
    if (this.#wantsMore) this.#wantsMore = this.push(bytes);
    else this.#arrived.push(bytes);
  }

  /** The other end has accepted the connection. */
  connected(): void {
    if (this.destroyed) return;
    this.connecting = false;
    this.emit('connect');
    this.emit('secureConnect');
    this.emit('ready');
  }

  override _read(): void {
    this.#wantsMore = true;
    while (this.#wantsMore && this.#arrived.length > 0) this.#wantsMore = this.push(this.#arrived.shift());
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#whenConnected(() => this.#sending.write(bytes, done));
  }

  override _writev(pieces: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(pieces.map(({ chunk }) => chunk)), '', done);
  }

  override _final(done: () => void): void {
    this.#whenConnected(() => {
      this.#sending.end();
      done();
    });
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#idle?.clear();
    this.#sending.close();
    done(error);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', this.destroy);
  }

  setTimeout(delay: number, act?: () => void): this {
    this.#idle?.clear();
    if (act) this.once('timeout', act);
    this.#idle = delay > 0 ? this.#scheduler.setTimer(() => this.emit('timeout'), delay, false) : undefined;
    if (this.#idle) Object.assign(this.#idle, { isRef: false });
    return this;
  }

  /** Lets go of Node's parser, which would hold a world whose process has died. */
  forget(): void {
    if (!this.destroyed) this.parser?.close();
  }

  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;

  #whenConnected(act: () => void): void {
    if (this.connecting) this.once('connect', act);
    else act();
  }
}
