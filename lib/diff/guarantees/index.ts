import type { Guarantee } from './guarantee.ts';
import { durable, watched } from './lasting.ts';
import { bounded, exact } from './limits.ts';
import { confidential } from './private.ts';
import { reachable } from './reachable.ts';

/** What a deployed gateway must keep. */
export const guarantees: Readonly<Record<string, readonly Guarantee[]>> = {
  durable,
  exact,
  private: confidential,
  reachable,
  bounded,
  watched,
};
