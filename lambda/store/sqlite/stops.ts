import type { DatabaseSync } from 'node:sqlite';
import type { Stop } from '../store.ts';

/** The stops in force, oldest first. The gateway is stopped while there is any. */
export function createStops(database: DatabaseSync) {
  const all = database.prepare('SELECT at, reason FROM stops ORDER BY rowid');
  const add = database.prepare('INSERT INTO stops (at, reason) VALUES (?, ?)');
  const clear = database.prepare('DELETE FROM stops');

  const readStop = (): Stop | undefined => {
    const stops = all
      .all()
      .map(({ at, reason }): Stop => ({ at: String(at), reason: reason === null ? undefined : String(reason) }));
    const last = stops.pop();
    return last && { ...last, ...(stops.length > 0 && { earlier: stops }) };
  };

  return {
    read: readStop,
    stop({ at, reason }: Stop): Stop {
      const before = readStop();
      const stop = { at, reason: reason ?? before?.reason };
      add.run(at, stop.reason ?? null);
      return before ? { ...stop, earlier: [...(before.earlier ?? []), { ...before, earlier: undefined }] } : stop;
    },
    resume(): Stop | undefined {
      const lifted = readStop();
      clear.run();
      return lifted;
    },
  };
}
