const ahead = Date.UTC(2026, 10, 21, 12) - Date.now();

/** The clock of what a test starts: it is noon when the test's file begins, so no daily limit begins anew while it runs. */
export const now = (): number => Date.now() + ahead;

const today = (): string => new Date().toISOString().slice(0, 10);

/** A test of processes, whose clock is the real one: if a day (UTC) ends while it runs and it fails, it runs once more. */
export const withinOneDay = (run: () => Promise<void>) => async (): Promise<void> => {
  const day = today();
  try {
    await run();
  } catch (error) {
    if (today() === day) throw error;
    await run();
  }
};
