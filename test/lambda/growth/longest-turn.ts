/** Below this, in milliseconds, the processor's time is told less exactly than the clock's. */
const exact = 8;

/** The longest turn of the event loop that some work takes, in milliseconds. Neighbours on the machine do not count. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let [at, used] = [performance.now(), process.threadCpuUsage()];
  const turn = () => {
    const taken = performance.now() - at;
    const { user, system } = process.threadCpuUsage(used);
    longest = Math.max(longest, taken < exact ? taken : Math.min(taken, (user + system) / 1000));
    [at, used] = [performance.now(), process.threadCpuUsage()];
    if (!isOver) setImmediate(turn);
  };
  const done = work().finally(() => {
    isOver = true;
  });
  turn();
  await done;
  turn();
  return longest;
}
