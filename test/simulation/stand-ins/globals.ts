import { here, type WorldTimer } from './current.ts';

type Act = (...given: unknown[]) => void;

class Timeout {
  readonly #timer: WorldTimer;

  constructor(act: () => void, delay: number, repeats: boolean) {
    this.#timer = here().setTimer(act, Math.max(1, delay || 0), repeats);
  }

  refresh(): this {
    this.#timer.refresh();
    return this;
  }

  ref(): this {
    this.#timer.isRef = true;
    return this;
  }

  unref(): this {
    this.#timer.isRef = false;
    return this;
  }

  close(): void {
    this.#timer.clear();
  }
}

export const setTimeout = (act: Act, delay = 1, ...given: unknown[]) => new Timeout(() => act(...given), delay, false);
export const setInterval = (act: Act, delay = 1, ...given: unknown[]) => new Timeout(() => act(...given), delay, true);
export const clearTimeout = (timer?: Timeout) => timer?.close();
export const clearInterval = clearTimeout;
export const setImmediate = (act: Act, ...given: unknown[]) => here().setImmediate(() => act(...given));
export const performance = { now: () => here().now() };
