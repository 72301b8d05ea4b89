import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { longAnswers, vectorsInBytes } from './answer-ticks.ts';
import { tickOnEngines } from './engine-ticks.ts';
import { everyMember } from './every-member.ts';
import { manyTools } from './many-tools.ts';
import { allDialects, readRequest } from './read-request.ts';
import { slowBodies } from './slow-bodies.ts';

/**
 * Prints for how long long plain answers and the slowest bodies of 6 MiB keep the event loop to themselves, in milliseconds. They are found among many
 * more by smaller ones. Neighbours on the machine do not count, and garbage that happens to be collected counts once at most: each is
 * read three times.
 */
const [small, large] = [512 * 1024, 6 * 1024 * 1024];
const mostMembers = 20_000;
const mostTools = 10_000;
const finalists = 60;
/** How many of them are sent to each engine. */
const sent = 8;

/** Below this, the processor's time is told less exactly than the clock's. */
const exact = 8;

/** The longest time from one pause to the next. */
function longestTick(work: Generator): number {
  let longest = 0;
  for (let isOver = false; !isOver; ) {
    const [begun, used] = [performance.now(), process.threadCpuUsage()];
    isOver = work.next().done ?? false;
    const taken = performance.now() - begun;
    const { user, system } = process.threadCpuUsage(used);
    longest = Math.max(longest, taken < exact ? taken : Math.min(taken, (user + system) / 1000));
  }
  return longest;
}

// The bytes of a body that nobody reads are garbage of the test's own, and are collected before the next is read.
const measure = (dialect: Dialect, text: string) => {
  const bytes = Buffer.from(text);
  return longestTick(readRequest(dialect, bytes));
};

const bodies = allDialects.flatMap((dialect) =>
  everyMember[dialect.name].flatMap((request, number) =>
    [...slowBodies(request, mostMembers, true)].map(({ name, text }) => ({
      name: `${dialect.name} ${number} ${name}`,
      tick: (size: number) => measure(dialect, text(size)),
      path: dialect.endpoints[0]?.path ?? '',
      text,
    })),
  ),
);
const toolLists = allDialects.flatMap((dialect) =>
  manyTools(dialect.name, mostTools).map(({ name, text }) => ({
    name: `${dialect.name}: ${name}`,
    tick: (size: number) => measure(dialect, text(size)),
    path: dialect.endpoints[0]?.path ?? '',
    text,
  })),
);
const slowest = bodies
  .map((body) => ({ ...body, small: body.tick(small) }))
  .sort((a, b) => b.small - a.small)
  .slice(0, finalists)
  .concat(toolLists.map((body) => ({ ...body, small: 0 })))
  .map(({ tick, ...body }) => ({ ...body, ms: Math.min(tick(large), tick(large), tick(large)) }))
  .sort((a, b) => b.ms - a.ms);
// A little shorter, as no body may be longer.
const requests = slowest.slice(0, sent).map(({ name, path, text }) => ({ name, path, text: text(large - 100) }));
const onEngines = await tickOnEngines(requests);
const read = slowest.map(({ name, ms }) => ({ name, ms }));
const worst = [...read, ...onEngines].sort((a, b) => b.ms - a.ms);
const answers = [...longAnswers()].map(({ name, work }) => {
  const tick = () => longestTick(work());
  return { name, ms: Math.min(tick(), tick(), tick()) };
});
answers.push(...(await vectorsInBytes()));
console.log(JSON.stringify({ tried: bodies.length, slowest: worst, answers: answers.sort((a, b) => b.ms - a.ms) }));
