import { bounded } from './bounded.ts';
import { durable } from './durable.ts';
import { exact } from './exact.ts';
import type { Guarantee } from './guarantee.ts';
import { confidential } from './private.ts';
import { reachable } from './reachable.ts';
import { watched } from './watched.ts';

/** What a deployed gateway must keep. */
export const guarantees: Readonly<Record<string, readonly Guarantee[]>> = {
  durable,
  exact,
  private: confidential,
  reachable,
  bounded,
  watched,
};
