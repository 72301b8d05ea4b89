import { stopMarker, toStop } from '../dynamodb/stop.ts';
import type { StopSwitch } from '../store.ts';
import type { Documents } from './documents.ts';
import { createItems } from './items.ts';

export function createStopSwitch(documents: Documents, tableName: string): StopSwitch {
  const { read, put, remove } = createItems(documents, tableName);
  return {
    read: async () => toStop(await read(stopMarker)),
    async stop({ at, reason }) {
      const before = toStop(await read(stopMarker));
      const earlier = before && [...(before.earlier ?? []), { ...before, earlier: undefined }];
      const stop = { at, reason: reason ?? before?.reason, earlier };
      await put(stopMarker, stop);
      return stop;
    },
    resume: async () => toStop(await remove(stopMarker)),
  };
}
