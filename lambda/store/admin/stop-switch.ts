import { type Stop, stopMarker, toStop } from '../dynamodb/stop.ts';
import type { Documents } from './documents.ts';
import { createItems } from './items.ts';

export type StopSwitch = ReturnType<typeof createStopSwitch>;

/** Operators set it. */
export function createStopSwitch(documents: Documents, tableName: string) {
  const { read, put, remove } = createItems(documents, tableName);
  return {
    read: async (): Promise<Stop | undefined> => toStop(await read(stopMarker)),
    /** Returns the stop as it now stands, with those before it, whose last reason holds where there is no new one. */
    async stop({ at, reason }: Stop): Promise<Stop> {
      const before = toStop(await read(stopMarker));
      const earlier = before && [...(before.earlier ?? []), { ...before, earlier: undefined }];
      const stop = { at, reason: reason ?? before?.reason, earlier };
      await put(stopMarker, stop);
      return stop;
    },
    /** The stop that was lifted; undefined if there was none. */
    resume: async (): Promise<Stop | undefined> => toStop(await remove(stopMarker)),
  };
}
