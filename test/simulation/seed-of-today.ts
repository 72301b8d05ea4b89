/** Each day has worlds of its own, the same on every machine: 20261128. */
export const seedOfToday = (): number => Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''));
