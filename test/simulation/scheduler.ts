import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WorldTimer } from './stand-ins/current.ts';

/** A process of the gateway. While it is frozen, what happens to it waits; a dead one never hears of it. */
export interface Process {
  readonly name: string;
  state: 'running' | 'frozen' | 'dead';
  /** What happened meanwhile. */
  readonly missed: Happening[];
  /** Closes its connections, one each, as its end does. */
  readonly closings: (() => void)[];
}

export const newProcess = (name: string): Process => ({ name, state: 'running', missed: [], closings: [] });

/** Nothing of it happens any more, and all its connections break. */
export function endProcess(process: Process): void {
  process.state = 'dead';
  for (const close of process.closings.splice(0)) close();
}

interface Happening {
  due: number;
  order: number;
  act: (() => void) | undefined;
  /** Undefined for what happens outside. */
  readonly process: Process | undefined;
}

export interface Timer extends WorldTimer {
  readonly process: Process | undefined;
  readonly delay: number;
  /** When it began. */
  readonly since: number;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** Virtual time: what is due happens in order, each time until no process can go on by itself. */
export function createScheduler(begin: number) {
  const queue = createHeap();
  const immediates: Happening[] = [];
  const timers = new Set<Timer>();
  let time = begin;
  let order = 0;
  let running: Process | undefined;

  const happeningAt = (due: number, process: Process | undefined, act: () => void): Happening => {
    order += 1;
    return { due, order, act, process };
  };

  function at(delay: number, process: Process | undefined, act: () => void): Happening {
    const happening = happeningAt(time + delay, process, act);
    queue.push(happening);
    return happening;
  }

  /** Lets the processes go on until each of them waits. */
  async function settle(): Promise<void> {
    await nextTurn();
    for (let next = immediates.shift(); next; next = immediates.shift()) {
      if (!mayHappen(next)) continue;
      running = next.process;
      next.act?.();
      await nextTurn();
    }
  }

  function mayHappen(happening: Happening): boolean {
    const { process } = happening;
    if (process?.state === 'frozen') process.missed.push(happening);
    return process === undefined || process.state === 'running';
  }

  return {
    now: () => time,
    at,
    timers: timers as ReadonlySet<Timer>,
    /** Whose code runs at this moment. */
    get running() {
      return running;
    },
    setImmediate(act: () => void): void {
      immediates.push(happeningAt(time, running, act));
    },
    setTimer(act: () => void, delay: number, repeats: boolean): WorldTimer {
      const process = running;
      let happening: Happening | undefined;
      let isCleared = false;
      const start = () => {
        happening = at(timer.delay, process, fire);
        timer.since = time;
        timers.add(timer);
      };
      const fire = () => {
        timers.delete(timer);
        if (repeats) start();
        act();
      };
      const stop = () => {
        if (happening) happening.act = undefined;
        timers.delete(timer);
      };
      const timer: Timer & { since: number } = {
        isRef: true,
        process,
        delay: Math.ceil(delay),
        since: time,
        refresh() {
          if (isCleared) return;
          stop();
          start();
        },
        clear() {
          isCleared = true;
          stop();
        },
      };
      start();
      return timer;
    },
    /** What happened to it meanwhile happens now, or a moment after it goes on. */
    thaw(process: Process, moment: number): void {
      process.state = 'running';
      for (const happening of process.missed.splice(0)) {
        order += 1;
        queue.push(Object.assign(happening, { due: time + moment, order }));
      }
    },
    /** Runs until this is true, or nothing more can happen. Returns whether it is true. */
    async runUntil(isOver: () => boolean, latest = Number.POSITIVE_INFINITY): Promise<boolean> {
      while (!isOver()) {
        const next = queue.pop();
        if (!next) return false;
        if (next.due > latest) {
          queue.push(next);
          return false;
        }
        if (!next.act || !mayHappen(next)) continue;
        time = Math.max(time, next.due);
        running = next.process;
        next.act();
        // Outside, nothing goes on by itself.
        if (running) await settle();
      }
      return true;
    },
  };
}

/** What comes first by time, then by order. */
function createHeap() {
  const heap: Happening[] = [];
  const isBefore = (one: Happening, other: Happening) =>
    one.due < other.due || (one.due === other.due && one.order < other.order);
  return {
    push(happening: Happening): void {
      let at = heap.length;
      for (; at > 0; ) {
        const above = (at - 1) >> 1;
        const parent = heap[above] as Happening;
        if (!isBefore(happening, parent)) break;
        heap[at] = parent;
        at = above;
      }
      heap[at] = happening;
    },
    pop(): Happening | undefined {
      const [first] = heap;
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return first;
      let at = 0;
      for (let below = 1; below < heap.length; below = 2 * at + 1) {
        const right = heap[below + 1];
        const child = right && isBefore(right, heap[below] as Happening) ? below + 1 : below;
        if (!isBefore(heap[child] as Happening, last)) break;
        heap[at] = heap[child] as Happening;
        at = child;
      }
      heap[at] = last;
      return first;
    },
  };
}
