import type { CallService } from '../../aws/call-service.ts';
import { createReadItem, type PlainItem } from './read-item.ts';

/** While this item exists, the gateway is stopped. No deployment writes it, so none undoes it. */
export const stopMarker = 'stopped';

export interface Stop {
  /** When it was stopped, in ISO 8601; empty if the item was put by hand without it. */
  readonly at: string;
  /** Shown to callers. */
  readonly reason?: string | undefined;
  /** The stops before this one that nobody had lifted, the oldest first. */
  readonly earlier?: readonly Stop[] | undefined;
}

export function createReadStop(callDynamoDb: CallService, tableName: string) {
  const read = createReadItem(callDynamoDb, tableName);
  return async (): Promise<Stop | undefined> => toStop(await read(stopMarker));
}

/** An item that was put by hand may lack all fields. */
export function toStop(item: PlainItem | undefined): Stop | undefined {
  if (item === undefined) return undefined;
  const { at, reason, earlier } = item;
  return {
    at: typeof at === 'string' ? at : '',
    ...(typeof reason === 'string' && reason && { reason }),
    ...(Array.isArray(earlier) && { earlier: earlier.flatMap((stop) => toStop(stop) ?? []) }),
  };
}
