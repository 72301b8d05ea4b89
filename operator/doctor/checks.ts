import { z } from 'zod';
import {
  checkCall,
  checkExposed,
  checkPreflight,
  checkRequestIds,
  checkShape,
  checkStreamUsage,
  checkUsage,
  findMissingHeader,
  preflightOf,
} from './answers.ts';
import {
  chatProbe,
  countTo,
  countTokensPath,
  type DialectProbe,
  dialectProbes,
  messagesProbe,
  redSquare,
  useTool,
  whoAreYou,
} from './dialect-probes.ts';
import { checkUnpacking, faultInError, freeErrorChecks, refusalChecks, unknownKey } from './errors.ts';
import { createNameFinder, findForeignHeader, findTrace } from './hiding.ts';
import { bearer, get, list, post, quote, type Reply } from './probe.ts';
import { quotaChecks } from './quota-checks.ts';
import { type Finding, fail, note, ok, okUnless, untested } from './report.ts';
import { type Check, type CheckGroup, type Run, shared } from './run.ts';
import { signInChecks } from './sign-in.ts';
import { checkFirstEvent, checkPace, checkSilence, checkStream, readEvents } from './streams.ts';

/** The requests of the key's quota that all checks take: three in each dialect and one about a picture, if no count looks wrong. */
export const cost = 3 * dialectProbes.length + 1;

/** Everything that a client can see of a gateway, in the order in which it is asked. */
export function checksOf(run: Run): readonly CheckGroup[] {
  const { ask, key, origin, headerPrefix, models } = run;
  const headers = bearer(key);
  const exposed = (reply: Reply) => checkExposed(reply, origin, headerPrefix);
  return [
    ['models', modelChecks(run)],
    [
      'keys',
      [
        ['which header counts', () => checkWhichCounts(run)],
        ['a placeholder', () => checkPlaceholder(run)],
      ],
    ],
    ['errors', [['a body that grows too large', () => checkUnpacking(run)]]],
    ...dialectProbes.map((dialect): CheckGroup => [dialect.name, dialectChecks(dialect, run)]),
    ['chat', [['sees a picture', () => checkPicture(run)]]],
    ['streams', [['silence is bridged', () => checkSilence(run.streams, run)]]],
    ['messages', [['counts tokens', () => checkTokenCount(run)]]],
    ['errors', freeErrorChecks(run)],
    ['errors', refusalChecks(run)],
    [
      'cors',
      [
        ['preflight', async () => checkPreflight(await ask(preflightOf(origin)), origin)],
        ['headers a page can read', async () => exposed(await ask(list({ ...headers, origin })))],
        ['errors a page can read', async () => exposed(await ask(list({ origin })))],
      ],
    ],
    ['quota', quotaChecks(run, cost)],
    ['sign-in', signInChecks(run)],
    [
      'headers',
      [
        ['those of every answer', () => everyReply(run, (reply) => findMissingHeader(reply, headerPrefix))],
        ['an id for each request', () => checkRequestIds(run.replies)],
      ],
    ],
    [
      'hiding',
      [
        ['no foreign header', () => everyReply(run, (reply) => findForeignHeader(reply, headerPrefix))],
        ['no trace in bodies', () => everyReply(run, (reply) => findTrace(reply, models))],
        ['no name anywhere', () => checkNames(run)],
      ],
    ],
  ];
}

function modelChecks({ ask, key, models }: Run): readonly Check[] {
  const [owner] = models;
  const shapeOf = (id: string) =>
    z.strictObject({
      id: z.literal(id),
      object: z.literal('model'),
      created: z.literal(0),
      owned_by: z.literal(owner),
    });
  const data = z.tuple([shapeOf(models[0]), shapeOf(models[1])]);
  const whole = z.strictObject({ object: z.literal('list'), data });
  return [
    ['the list', async () => checkShape(await ask(list(bearer(key))), whole)],
    ...models.map(
      (id): Check => [id, async () => checkShape(await ask(get(`/v1/models/${id}`, bearer(key))), shapeOf(id))],
    ),
  ];
}

async function checkWhichCounts({ ask, key, headerPrefix }: Run): Promise<Finding> {
  const good = await ask(list({ 'x-api-key': key, ...bearer(unknownKey) }));
  const unknown = await ask(list({ 'x-api-key': unknownKey, ...bearer(key) }));
  if (good.status !== 200) return fail(`a good x-api-key is answered ${quote(good)}`);
  return okUnless(faultInError(unknown, 'invalid_api_key', headerPrefix), 'x-api-key before Authorization');
}

async function checkPlaceholder({ ask, closed, headerPrefix }: Run): Promise<Finding> {
  const guest = await ask(list(bearer('guest')));
  if (guest.status === 200) return closed ? fail('is served, though the stage has ACCESS=keys') : ok('is a guest');
  const fault = faultInError(guest, 'invalid_api_key', headerPrefix);
  return fault === undefined ? note('is refused: there are no guests') : fail(fault);
}

/** Asks for a plain answer by an alias, for a stream, and for a call: three requests of quota. */
function dialectChecks(dialect: DialectProbe, run: Run): readonly Check[] {
  const { charged, models, key, length } = run;
  const [model] = models;
  const measure = (body: object) => charged.measure(post(dialect.path, dialect.keyHeaders(key), body));
  const plain = shared(() => measure(dialect.question(dialect.alias(model), whoAreYou)));
  const streamed = shared(async () => {
    const stream = await measure({ ...dialect.question(model, countTo(length)), ...dialect.streaming });
    run.streams.push(stream);
    return { stream, events: readEvents(stream.arrivals) };
  });
  const advised = (finding: Finding, reply: Reply) => advise(finding, reply, dialect.name, run);
  const answers = async () => advised(checkShape(await plain(), dialect.answer(model)), await plain());
  const streams = async () => {
    const { stream, events } = await streamed();
    return advised(checkStream(stream, events, dialect), stream);
  };
  const calls = async () => {
    const reply = await measure({ ...dialect.question(model, useTool), tools: [dialect.tool] });
    return advised(checkCall(reply, dialect.answer(model), dialect.call), reply);
  };
  /** A stream without events makes no further rows. */
  const ofEvents = (judge: (asked: Awaited<ReturnType<typeof streamed>>) => Finding | Promise<Finding>) => async () => {
    const asked = await streamed();
    return asked.events.length > 0 ? judge(asked) : undefined;
  };
  return [
    ['answers', answers],
    ['streams to the end', streams],
    ['calls a tool', calls],
    ['reports usage', async () => ((await plain()).status === 200 ? checkUsage(await plain()) : undefined)],
    ['reports usage in streams', ofEvents(async ({ stream }) => checkStreamUsage(stream, await plain()))],
    ['streams event by event', ofEvents(({ events }) => checkPace(events.filter(dialect.isText)))],
    ['has a first event', ofEvents(({ events }) => checkFirstEvent(events))],
  ];
}

/** Says what to do where only one dialect fails: most upstreams speak one well. */
function advise(finding: Finding, { status }: Reply, dialect: string, { translated }: Run): Finding {
  if (finding.mark !== 'fail' || status < 400 || dialect === chatProbe.name) return finding;
  const remedy = translated.includes(dialect)
    ? `the gateway translates ${dialect} for this upstream: look up its settings in docs/upstreams.md`
    : `if the upstream does not speak ${dialect} itself, leave it out of UPSTREAM_DIALECTS, and the gateway translates it`;
  return fail(`${finding.detail}; ${remedy}`);
}

/** Asks the vision model, by its alias. Nothing else needs that model. */
async function checkPicture({ charged, key, models: [text, vision] }: Run): Promise<Finding> {
  const content = [
    { type: 'text', text: 'Which colour is this?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${redSquare}` } },
  ];
  const body = { model: `${text}-image`, messages: [{ role: 'user', content }] };
  const reply = await charged.measure(post(chatProbe.path, chatProbe.keyHeaders(key), body));
  return checkShape(reply, chatProbe.answer(vision));
}

async function checkTokenCount({ ask, key, models: [model] }: Run): Promise<Finding> {
  const { max_tokens: _, ...body } = messagesProbe.question(model, whoAreYou);
  const reply = await ask(post(countTokensPath, messagesProbe.keyHeaders(key), body));
  if (reply.status === 404) return note('the upstream does not offer it');
  return checkShape(reply, z.object({ input_tokens: z.int().positive() }));
}

function everyReply({ replies }: Run, find: (reply: Reply) => string | undefined): Finding {
  for (const reply of replies) {
    const fault = find(reply);
    if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
  }
  return ok(`in ${replies.length} replies`);
}

function checkNames(run: Run): Finding {
  if (run.names.length === 0) return untested('name what must not appear, with --names a,b');
  return everyReply(run, createNameFinder(run.names));
}
