/** Both ends of the world: where the day, seen from noon in UTC, is tomorrow's, and where at midnight it is still yesterday's. */
export const timeZones = ['Pacific/Kiritimati', 'America/Los_Angeles'] as const;
