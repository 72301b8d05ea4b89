import { registerHooks } from 'node:module';
import type { Fields } from '../../../lambda/dialects/model/request/take-members.ts';
import { everyMember } from './every-member.ts';
import { manyTools } from './many-tools.ts';
import { slowBodies } from './slow-bodies.ts';

/** Prints the members that are looked for in requests and stand in none here. */
const size = 65_536;
const mostMembers = 1_000;
const mostTools = 500;

const lookedFor = new Set<string>();
Object.assign(globalThis, { noteLook: (name: string) => lookedFor.add(name) });

const look = '    let value: Node | undefined;\n';
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith('lambda/json/scan.ts')) return loaded;
    const source = String(loaded.source);
    if (!source.includes(look)) throw new Error(`${url} does not say ${look}`);
    return { ...loaded, source: source.replace(look, `    noteLook(name);\n${look}`) };
  },
});

// Only what is loaded from now on tells what it looks for.
const { allDialects, createReadRequest } = await import('./read-request.ts');
const { chatFields } = await import('../../../lambda/dialects/chat/request-fields.ts');
const { responsesFields } = await import('../../../lambda/dialects/responses/request-fields.ts');
const { messagesFields } = await import('../../../lambda/dialects/messages/request-fields.ts');

const tables: Readonly<Record<string, Readonly<Record<string, Fields>>>> = {
  chat: chatFields,
  responses: responsesFields,
  messages: messagesFields,
};
/** The members that are translated. */
const namesIn = (fields: Fields) => Object.keys(fields).filter((name) => typeof fields[name] !== 'string');

const readRequest = createReadRequest();

for (const dialect of allDialects) {
  lookedFor.clear();
  for (const name of [...dialect.controlMembers, ...dialect.outputLimits]) lookedFor.add(name);
  for (const name of Object.values(tables[dialect.name] ?? {}).flatMap(namesIn)) lookedFor.add(name);
  for (const request of everyMember[dialect.name]) {
    for (const { text } of slowBodies(request, mostMembers, false)) {
      await readRequest(dialect, Buffer.from(text(size)));
    }
  }
  for (const { text } of manyTools(dialect.name, mostTools)) await readRequest(dialect, Buffer.from(text(size)));
  const all = JSON.stringify(everyMember[dialect.name]);
  const missing = [...lookedFor].filter((name) => !all.includes(`${JSON.stringify(name)}:`));
  console.log(JSON.stringify({ name: dialect.name, missing }));
}
