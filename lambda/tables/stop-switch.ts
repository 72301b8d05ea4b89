import type { CallService } from '../aws/call-service.ts';
import { createItems, type Item } from './items.ts';

/** While this item exists, the gateway is stopped. No deployment writes it, so none undoes it. */
const marker = 'stopped';

export interface Stop {
  /** When it was stopped, in ISO 8601; empty if the item was put by hand without it. */
  readonly at: string;
  /** Shown to callers. */
  readonly reason?: string | undefined;
  /** The stops before this one that nobody had lifted, the oldest first. */
  readonly earlier?: readonly Stop[] | undefined;
}

export type StopSwitch = ReturnType<typeof createStopSwitch>;

/** The gateway reads it, and operators set it. */
export function createStopSwitch(callDynamoDb: CallService, tableName: string) {
  const { read, put, remove } = createItems(callDynamoDb, tableName);
  return {
    read: async (): Promise<Stop | undefined> => toStop(await read(marker)),
    /** Returns the stop as it now stands, with those before it, whose last reason holds where there is no new one. */
    async stop({ at, reason }: Stop): Promise<Stop> {
      const before = toStop(await read(marker));
      const earlier = before && [...(before.earlier ?? []), { ...before, earlier: undefined }];
      const stop = { at, reason: reason ?? before?.reason, earlier };
      await put(marker, stop);
      return stop;
    },
    /** The stop that was lifted; undefined if there was none. */
    resume: async (): Promise<Stop | undefined> => toStop(await remove(marker)),
  };
}

/** An item that was put by hand may lack all fields. */
function toStop(item: Item | undefined): Stop | undefined {
  if (item === undefined) return undefined;
  const { at, reason, earlier } = item;
  return {
    at: typeof at === 'string' ? at : '',
    ...(typeof reason === 'string' && reason && { reason }),
    ...(Array.isArray(earlier) && { earlier: earlier.flatMap((stop) => toStop(stop) ?? []) }),
  };
}
