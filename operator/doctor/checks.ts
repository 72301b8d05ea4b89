import { z } from 'zod';
import { CommandError } from '../command-line.ts';
import { checkShape } from './answers.ts';
import { checkBedrock } from './bedrock.ts';
import { dialectProbes } from './dialect-probes.ts';
import { checkDialect, checkPicture, checkTokenCount } from './dialects.ts';
import { checkEmbeddings } from './embeddings.ts';
import { checkErrors, faultInError } from './errors.ts';
import { checkCors, findMissingHeader } from './headers.ts';
import { createNameFinder, findForeignHeader, findTrace } from './hiding.ts';
import { bearer, list, type Reply } from './probe.ts';
import { checkQuota } from './quota.ts';
import { type Checked, type Finding, fail, note, ok, type Row, untested } from './report.ts';
import type { Models, Run } from './run.ts';
import { checkSignIn } from './sign-in.ts';

/** What all checks cost of the key's quota, in requests: three per dialect, one with an image, and one for embeddings if offered. */
export const costOf = (models: Models): number => 3 * dialectProbes.length + models.length - 1;

type Look = (run: Run) => AsyncIterable<Checked> | Iterable<Checked>;

/** All areas, in the order in which they are checked. */
const areas: readonly (readonly [area: string, look: Look])[] = [
  ['models', checkModels],
  ['keys', checkPlaceholder],
  // While there is quota left: one of these is charged, and then refunded.
  ['errors', checkErrors],
  ...dialectProbes.map((dialect) => [dialect.name, (run: Run) => checkDialect(dialect, run)] as const),
  ['chat', checkPicture],
  ['messages', checkTokenCount],
  ['embeddings', checkEmbeddings],
  ['bedrock', checkBedrock],
  ['cors', checkCors],
  ['quota', checkQuota],
  ['sign-in', checkSignIn],
  ['headers', checkHeaders],
  ['hiding', checkHiding],
];

export async function* examine(run: Run): AsyncGenerator<Row> {
  for (const [area, look] of areas) {
    try {
      for await (const [check, finding] of look(run)) yield { area, check, ...finding };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      yield { area, check: 'can be asked', ...fail(error.message) };
    }
  }
}

async function* checkModels({ ask, key, models: [text, vision, embedding] }: Run): AsyncGenerator<Checked> {
  const fixed = { object: z.literal('model'), created: z.literal(0), owned_by: z.literal(text) };
  const shapeOf = (id: string) => z.strictObject({ id: z.literal(id), ...fixed });
  const data = z.tuple([shapeOf(text), shapeOf(vision), ...(embedding === undefined ? [] : [shapeOf(embedding)])]);
  yield ['the list', checkShape(await ask(list(bearer(key))), z.strictObject({ object: z.literal('list'), data }))];
}

async function* checkPlaceholder({ ask, closed, headerPrefix }: Run): AsyncGenerator<Checked> {
  const guest = await ask(list(bearer('guest')));
  const check = 'a placeholder';
  if (guest.status === 200) {
    yield [check, closed ? fail('is served, though the stage has ACCESS=keys') : ok('is a guest')];
    return;
  }
  const fault = faultInError(guest, 'invalid_api_key', headerPrefix);
  yield [check, fault === undefined ? note('is refused: there are no guests') : fail(fault)];
}

function everyReply({ replies }: Run, find: (reply: Reply) => string | undefined): Finding {
  for (const reply of replies) {
    const fault = find(reply);
    if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
  }
  return ok(`in ${replies.length} replies`);
}

function* checkHeaders(run: Run): Generator<Checked> {
  yield ['those of every answer', everyReply(run, (reply) => findMissingHeader(reply, run.headerPrefix))];
  const seen = new Map<string, string>();
  const findRepeatedId = ({ headers, title }: Reply) => {
    const id = headers.get('x-request-id');
    if (id === null) return undefined;
    const other = seen.get(id);
    seen.set(id, title);
    return other && `it has the id of ${other}, ${id}`;
  };
  yield ['an id for each request', everyReply(run, findRepeatedId)];
}

function* checkHiding(run: Run): Generator<Checked> {
  yield ['no foreign header', everyReply(run, (reply) => findForeignHeader(reply, run.headerPrefix))];
  yield ['no trace in bodies', everyReply(run, (reply) => findTrace(reply, run.models))];
  const nameless = untested('say what must not appear, by --stage or --names a,b');
  yield [
    'no name anywhere',
    run.names.length === 0 ? nameless : everyReply(run, createNameFinder(run.names, run.hideInText)),
  ];
  for (const warning of run.spoilsCode ?? []) yield ['names in code', note(warning)];
}
