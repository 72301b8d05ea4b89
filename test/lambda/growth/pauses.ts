import { registerHooks } from 'node:module';
import type { Fields } from '../../../lambda/translate/request/members.ts';
import { createStepCounter } from '../../support/count-steps.ts';
import { everyMember } from './every-member.ts';
import { manyTools } from './many-tools.ts';
import { slowBodies } from './slow-bodies.ts';

/**
 * Prints the most steps that are done without a pause while each slow body is read, and the members that are looked for and stand in
 * no request here. All is sixteen times smaller than in earnest, the bodies and what is done between two pauses.
 */
const scale = 16;
const size = (1024 * 1024) / scale;
const mostMembers = 20_000 / scale;
const mostTools = 10_000 / scale;

const lookedFor = new Set<string>();
Object.assign(globalThis, { noteLook: (name: string) => lookedFor.add(name) });

/** By the end of its address: what is changed in a module that is loaded, and into what. */
const changes: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'lambda/json/cooperative.ts': [
    ['charactersPerSlice = 262_144', `charactersPerSlice = ${262_144 / scale}`],
    ['nodesPerTurn = 10_000', `nodesPerTurn = ${10_000 / scale}`],
  ],
  'lambda/request/body.ts': [['mostMembers = 20_000', `mostMembers = ${mostMembers}`]],
  'lambda/translate/request/request-reader.ts': [['mostTools = 10_000', `mostTools = ${mostTools}`]],
  'lambda/json/scan.ts': [
    ['    let value: Node | undefined;\n', '    noteLook(name);\n    let value: Node | undefined;\n'],
  ],
};
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const [, pairs] = Object.entries(changes).find(([end]) => url.endsWith(end)) ?? [];
    if (pairs === undefined) return loaded;
    let source = String(loaded.source);
    for (const [from, to] of pairs) {
      if (!source.includes(from)) throw new Error(`${url} does not say ${from}`);
      source = source.replace(from, to);
    }
    return { ...loaded, source };
  },
});

const counter = await createStepCounter((url) => url.includes('/lambda/') && !url.includes('/test/'));
// The counter sees only code that is loaded after it.
const { createScanner } = await import('../../../lambda/json/scan.ts');
const { allDialects, readRequest } = await import('./read-request.ts');
const { chatFields } = await import('../../../lambda/translate/chat/request-fields.ts');
const { responsesFields } = await import('../../../lambda/translate/responses/request-fields.ts');
const { messagesFields } = await import('../../../lambda/translate/messages/request-fields.ts');

/** The most steps from one pause to the next. */
async function longestWork(work: Generator): Promise<number> {
  let longest = 0;
  for (let isOver = false; !isOver; ) {
    const steps = await counter.count(() => {
      isOver = work.next().done ?? false;
    });
    longest = Math.max(longest, steps);
  }
  return longest;
}

const tables: Readonly<Record<string, Readonly<Record<string, Fields>>>> = {
  chat: chatFields,
  responses: responsesFields,
  messages: messagesFields,
};
/** The members that are translated. */
const namesIn = (fields: Fields) => Object.keys(fields).filter((name) => typeof fields[name] !== 'string');

const densest = createScanner().scanInParts(`[${'123,'.repeat(size / 4)}0]`);
console.log(JSON.stringify({ name: 'scan', steps: await longestWork(densest) }));

for (const dialect of allDialects) {
  lookedFor.clear();
  for (const name of [...dialect.controlMembers, ...dialect.outputLimits]) lookedFor.add(name);
  for (const name of Object.values(tables[dialect.name] ?? {}).flatMap(namesIn)) lookedFor.add(name);
  for (const [number, request] of everyMember[dialect.name].entries()) {
    for (const { name, text } of slowBodies(request, mostMembers, false)) {
      const steps = await longestWork(readRequest(dialect, Buffer.from(text(size))));
      console.log(JSON.stringify({ name: `${dialect.name} ${number} ${name}`, steps }));
    }
  }
  for (const { name, text } of manyTools(dialect.name, mostTools)) {
    const steps = await longestWork(readRequest(dialect, Buffer.from(text(size))));
    console.log(JSON.stringify({ name: `${dialect.name}: ${name}`, steps }));
  }
  const all = JSON.stringify(everyMember[dialect.name]);
  const missing = [...lookedFor].filter((name) => !all.includes(`${JSON.stringify(name)}:`));
  console.log(JSON.stringify({ name: dialect.name, missing }));
}
