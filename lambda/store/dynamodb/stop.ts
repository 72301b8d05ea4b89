import type { CallService } from '../../aws/call-service.ts';
import type { Stop } from '../store.ts';
import { createReadItem, type PlainItem } from './read-item.ts';

/** While this item exists, the gateway is stopped. Deploying doesn't touch it. */
export const stopMarker = 'stopped';

export function createReadStop(callDynamoDb: CallService, tableName: string) {
  const read = createReadItem(callDynamoDb, tableName);
  return async (): Promise<Stop | undefined> => toStop(await read(stopMarker));
}

/** An item that was created by hand may lack any field. */
export function toStop(item: PlainItem | undefined): Stop | undefined {
  if (item === undefined) return undefined;
  const { at, reason, earlier } = item;
  return {
    at: typeof at === 'string' ? at : '',
    ...(typeof reason === 'string' && reason && { reason }),
    ...(Array.isArray(earlier) && { earlier: earlier.flatMap((stop) => toStop(stop) ?? []) }),
  };
}
