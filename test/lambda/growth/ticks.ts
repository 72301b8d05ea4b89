import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { createThreads } from '../../../lambda/jobs/threads.ts';
import { fromFault } from '../../../lambda/upstream/fault.ts';
import { longAnswers, vectorsInBytes } from './answer-ticks.ts';
import { everyMember } from './every-member.ts';
import { longArguments } from './long-arguments.ts';
import { longestTurn } from './longest-turn.ts';
import { manySeals } from './many-seals.ts';
import { manyTools } from './many-tools.ts';
import { allDialects, createReadRequest, facts } from './read-request.ts';
import { tickOnServer } from './server-ticks.ts';
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
/** How many of them are sent to the server. */
const sent = 8;

const doInThread = createThreads({
  entry: new URL('../../../lambda/worker.ts', import.meta.url),
  facts,
  heap: 512,
  fromFault,
});
const readRequest = createReadRequest(doInThread);

/** A body of so many bytes, made by a function that counts characters. */
const ofBytes = (text: (characters: number) => string, size: number) => {
  const sample = text(small);
  return text(Math.floor((size * sample.length) / Buffer.byteLength(sample)));
};
// The bytes of a body that nobody reads are garbage of the test's own, and are collected before the next is read.
const measure = (dialect: Dialect, text: string) => {
  const bytes = Buffer.from(text);
  return longestTurn(() => readRequest(dialect, bytes));
};

const bodies = allDialects.flatMap((dialect) =>
  everyMember[dialect.name].flatMap((request, number) =>
    [...slowBodies(request, mostMembers, true)].map(({ name, text }) => ({
      name: `${dialect.name} ${number} ${name}`,
      tick: (size: number) => measure(dialect, ofBytes(text, size)),
      path: dialect.endpoints[0]?.path ?? '',
      text,
    })),
  ),
);
const lists = allDialects.flatMap((dialect) =>
  [...manyTools(dialect.name, mostTools), ...manySeals(dialect.name), ...longArguments(dialect.name)].map(
    ({ name, text }) => ({
      name: `${dialect.name}: ${name}`,
      tick: (size: number) => measure(dialect, ofBytes(text, size)),
      path: dialect.endpoints[0]?.path ?? '',
      text,
    }),
  ),
);
const measured = [];
for (const body of bodies) measured.push({ ...body, small: await body.tick(small) });
const last = measured.sort((a, b) => b.small - a.small).slice(0, finalists);
const slowest = [];
for (const { tick, ...body } of [...last, ...lists]) {
  slowest.push({ ...body, ms: Math.min(await tick(large), await tick(large), await tick(large)) });
}
slowest.sort((a, b) => b.ms - a.ms);
// A little shorter, as no body may be longer, and what its text repeats is of the length of its characters.
const requests = slowest
  .slice(0, sent)
  .map(({ name, path, text }) => ({ name, path, text: ofBytes(text, large - 4096) }));
const onServer = await tickOnServer(requests);
const read = slowest.map(({ name, ms }) => ({ name, ms }));
const worst = [...read, ...onServer].sort((a, b) => b.ms - a.ms);
const answers = [];
for (const { name, work } of longAnswers(doInThread)) {
  const tick = () => longestTurn(work);
  answers.push({ name, ms: Math.min(await tick(), await tick(), await tick()) });
}
answers.push(...(await vectorsInBytes()));
console.log(JSON.stringify({ tried: bodies.length, slowest: worst, answers: answers.sort((a, b) => b.ms - a.ms) }));
