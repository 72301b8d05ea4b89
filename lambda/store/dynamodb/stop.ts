import type { CallService } from '../../aws/call-service.ts';
import type { Stop } from '../store.ts';
import { createReadItem, type PlainItem } from './read-item.ts';

/** While this item exists, the gateway is stopped. No deployment writes it, so none undoes it. */
export const stopMarker = 'stopped';

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
