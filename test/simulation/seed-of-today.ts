/** Each day has worlds of its own, the same on every machine: 20261128. SEED has others. */
export const seedOfToday = (): number =>
  Number(process.env.SEED ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''));
