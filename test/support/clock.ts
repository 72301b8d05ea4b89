const ahead = Date.UTC(2026, 10, 21, 12) - Date.now();

/** Shifted so that it is noon when a test file starts, and no daily limit resets while it runs. */
export const now = (): number => Date.now() + ahead;

const today = (): string => new Date().toISOString().slice(0, 10);

/** Retries a failed test once if a day (UTC) ended while it ran. For tests of child processes, which use the real clock. */
export const withinOneDay = (run: () => Promise<void>) => async (): Promise<void> => {
  const day = today();
  try {
    await run();
  } catch (error) {
    if (today() === day) throw error;
    await run();
  }
};
