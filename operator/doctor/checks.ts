import { z } from 'zod';
import {
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
  bearer,
  chatProbe,
  countTo,
  countTokensPath,
  type DialectProbe,
  dialectProbes,
  messagesProbe,
  redSquare,
  whoAreYou,
} from './dialect-probes.ts';
import {
  askCases,
  checkBurst,
  checkCases,
  checkLarge,
  countUntilRefused,
  faultInError,
  freeErrors,
  largeBody,
  needsSpentKey,
  spentQuota,
  unknownKey,
  unpacksTooLarge,
} from './errors.ts';
import { createNameFinder, findForeignHeader, findTrace } from './hiding.ts';
import { type ProbeRequest, quote, type Reply } from './probe.ts';
import {
  checkCharges,
  checkFree,
  checkGuestApart,
  checkGuestLimit,
  checkKeyLimit,
  checkRefunds,
  checkStated,
  findSuspect,
  type Measurement,
} from './quota.ts';
import { type Finding, fail, note, ok, untested } from './report.ts';
import type { Check, CheckGroup, Run } from './run.ts';
import { checkFirstEvent, checkPace, checkSilence, checkStream, readEvents } from './streams.ts';

/** Lets the compiler match what a check asks with what it judges. */
const check = <Asked>(one: Check<Asked>): Check<unknown> => one;

const list = (headers: Record<string, string>): ProbeRequest => ({ method: 'GET', path: '/v1/models', headers });

// Models

const modelOf = (id: string, { models: [owner] }: Run) =>
  z.strictObject({ id: z.literal(id), object: z.literal('model'), created: z.literal(0), owned_by: z.literal(owner) });

const modelCheck = (index: 0 | 1) =>
  check({
    name: ({ models }) => models[index],
    ask: ({ ask, key, models }) => ask({ method: 'GET', path: `/v1/models/${models[index]}`, headers: bearer(key) }),
    judge: (reply, run) => checkShape(reply, modelOf(run.models[index], run)),
  });

function checkList(reply: Reply, run: Run): Finding {
  const [text, vision] = run.models;
  const data = z.tuple([modelOf(text, run), modelOf(vision, run)]);
  return checkShape(reply, z.strictObject({ object: z.literal('list'), data }));
}

// Whose quota a request uses: which header wins, and what happens without a real key.

const invalidKey = { code: 'invalid_api_key', shape: 'openai' } as const;

const askWithTwoKeys = async ({ ask, key }: Run) => ({
  good: await ask(list({ 'x-api-key': key, ...bearer(unknownKey) })),
  unknown: await ask(list({ 'x-api-key': unknownKey, ...bearer(key) })),
});

function checkWhichCounts({ good, unknown }: { good: Reply; unknown: Reply }, { headerPrefix }: Run): Finding {
  if (good.status !== 200) return fail(`a good x-api-key is answered ${quote(good)}`);
  const fault = faultInError(unknown, invalidKey, headerPrefix);
  return fault === undefined ? ok('x-api-key before Authorization') : fail(fault);
}

function checkPlaceholder(guest: Reply, { headerPrefix, closed }: Run): Finding {
  if (guest.status === 200) return closed ? fail('is served, though the stage has ACCESS=keys') : ok('is a guest');
  const fault = faultInError(guest, invalidKey, headerPrefix);
  return fault === undefined ? note('is refused: there are no guests') : fail(fault);
}

// Dialects

/** Asks for a plain answer, by an alias, and for a stream: two requests of quota. */
function dialectChecks(dialect: DialectProbe): CheckGroup {
  const post = ({ key }: Run, body: object): ProbeRequest => {
    return { method: 'POST', path: dialect.path, headers: dialect.keyHeaders(key), body };
  };
  const plainAnswer = (run: Run) =>
    run.charged.measure(post(run, dialect.question(dialect.alias(run.models[0]), whoAreYou)));
  const streamedAnswer = async (run: Run) => {
    const body = { ...dialect.question(run.models[0], countTo(run.length)), ...dialect.streaming };
    const stream = await run.charged.measure(post(run, body));
    run.streams.push(stream);
    return { plain: await run.once(plainAnswer), stream, events: readEvents(stream.arrivals) };
  };
  return {
    area: dialect.name,
    checks: [
      check({
        name: 'answers',
        cost: 1,
        ask: plainAnswer,
        judge: (plain, { models }) => checkShape(plain, dialect.answer(models[0])),
      }),
      check({
        name: 'streams to the end',
        cost: 1,
        ask: streamedAnswer,
        judge: ({ stream, events }) => checkStream(stream, events, dialect),
      }),
      check({
        name: 'reports usage',
        ask: plainAnswer,
        judge: (plain) => (plain.status === 200 ? checkUsage(plain) : undefined),
      }),
      check({
        name: 'reports usage in streams',
        ask: streamedAnswer,
        judge: ({ plain, stream, events }) => (events.length > 0 ? checkStreamUsage(stream, plain) : undefined),
      }),
      check({
        name: 'streams event by event',
        ask: streamedAnswer,
        judge: ({ events }) => (events.length > 0 ? checkPace(events.filter(dialect.isText)) : undefined),
      }),
      check({
        name: 'has a first event',
        ask: streamedAnswer,
        judge: ({ events }) => (events.length > 0 ? checkFirstEvent(events) : undefined),
      }),
    ],
  };
}

/** Asks the vision model about a picture, by its alias. Nothing else needs that model. */
function askAboutPicture({ charged, key, models: [text] }: Run): Promise<Reply> {
  const content = [
    { type: 'text', text: 'Which colour is this?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${redSquare}` } },
  ];
  return charged.measure({
    method: 'POST',
    path: chatProbe.path,
    headers: chatProbe.keyHeaders(key),
    body: { model: `${text}-image`, messages: [{ role: 'user', content }] },
  });
}

function askForCount({ ask, key, models: [model] }: Run): Promise<Reply> {
  const { max_tokens: _, ...body } = messagesProbe.question(model, whoAreYou);
  return ask({ method: 'POST', path: countTokensPath, headers: messagesProbe.keyHeaders(key), body });
}

const tokenCount = z.object({ input_tokens: z.int().positive() });

// Quota

/** Asks for one more answer if a count looks wrong. */
async function askAgainIfSuspect({ charged }: Run): Promise<readonly Measurement[]> {
  const suspect = findSuspect(charged.measurements);
  if (suspect) await charged.measure(suspect.request);
  return charged.measurements;
}

const guestAfter = ({ createMeter }: Run) => createMeter().read();
const needsGuests = async ({ guestBefore }: Run) => (guestBefore.limit === 0 ? note('there are no guests') : undefined);

/** The free requests, each sent twice: on the key's quota, and on that of this network's guest. */
async function askForFree({ createMeter, key, models: [model], origin }: Run) {
  const headers = bearer(key);
  const count = (id: string): ProbeRequest => {
    return { method: 'POST', path: countTokensPath, headers, body: messagesProbe.question(id, whoAreYou) };
  };
  const ofKey: readonly ProbeRequest[] = [
    { method: 'GET', path: `/v1/models/${model}`, headers },
    count(model),
    count('none'),
    { method: 'GET', path: '/v1/none', headers },
    { method: 'HEAD', path: '/v1/responses', headers },
  ];
  const ofGuest: readonly ProbeRequest[] = [preflightOf(origin), { method: 'POST', path: '/v1/responses', body: {} }];
  const [keyMeter, guestMeter] = [createMeter(key), createMeter()];
  for (const request of ofKey) await keyMeter.measure(request, 2);
  for (const request of ofGuest) await guestMeter.measure(request, 2);
  return { key: keyMeter.measurements, guest: guestMeter.measurements };
}

/** All that replies have said about the key's quota and the guest's. */
async function allFigures(run: Run) {
  const free = await run.once(askForFree);
  const inAll = ({ before, stated, after }: Measurement) => [before, stated, after];
  return {
    key: [...run.charged.measurements.flatMap(inAll), ...free.key.flatMap(({ before, after }) => [before, after])],
    guest: [run.guestBefore, await run.once(guestAfter), ...free.guest.flatMap(inAll)],
  };
}

// Every reply

const allReplies = async ({ replies }: Run) => replies;

function checkAll(replies: readonly Reply[], find: (reply: Reply) => string | undefined): Finding {
  for (const reply of replies) {
    const fault = find(reply);
    if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
  }
  return ok(`in ${replies.length} replies`);
}

const needsNames = async ({ names }: Run) =>
  names.length === 0 ? untested('name what must not appear, with --names a,b') : undefined;

/** Everything that a client can see of a gateway, in the order in which it is asked. */
export const checks: readonly CheckGroup[] = [
  {
    area: 'models',
    checks: [
      check({ name: 'the list', ask: ({ ask, key }) => ask(list(bearer(key))), judge: checkList }),
      modelCheck(0),
      modelCheck(1),
    ],
  },
  {
    area: 'keys',
    checks: [
      check({ name: 'which header counts', ask: askWithTwoKeys, judge: checkWhichCounts }),
      check({ name: 'a placeholder', ask: ({ ask }) => ask(list(bearer('guest'))), judge: checkPlaceholder }),
    ],
  },
  {
    area: 'errors',
    checks: [
      check({
        name: 'a body that grows too large',
        ask: (run) => askCases(run.charged.measure, unpacksTooLarge(run)),
        judge: checkCases,
      }),
    ],
  },
  ...dialectProbes.map(dialectChecks),
  {
    area: 'chat',
    checks: [
      check({
        name: 'sees a picture',
        cost: 1,
        ask: askAboutPicture,
        judge: (reply, { models }) => checkShape(reply, chatProbe.answer(models[1])),
      }),
    ],
  },
  {
    area: 'streams',
    checks: [
      check({
        name: 'silence is bridged',
        ask: async ({ streams }) => streams,
        judge: (streams, { keepAlive }) => checkSilence(streams, keepAlive),
      }),
    ],
  },
  {
    area: 'messages',
    checks: [
      check({
        name: 'counts tokens',
        ask: askForCount,
        judge: (reply) =>
          reply.status === 404 ? note('the upstream does not offer it') : checkShape(reply, tokenCount),
      }),
    ],
  },
  {
    area: 'errors',
    checks: [
      ...Object.entries(freeErrors).map(([name, cases]) =>
        check({ name, ask: (run) => askCases(run.ask, cases(run)), judge: checkCases }),
      ),
      check({ name: 'a large body', ask: (run) => run.ask(largeBody(run)), judge: checkLarge }),
    ],
  },
  {
    area: 'errors',
    checks: [
      check({
        name: 'a quota that is spent',
        needs: needsSpentKey,
        ask: (run) => askCases(run.askOnce, spentQuota(run)),
        judge: checkCases,
      }),
      check({ name: 'too many in a minute', needs: needsSpentKey, ask: countUntilRefused, judge: checkBurst }),
    ],
  },
  {
    area: 'cors',
    checks: [
      check({
        name: 'preflight',
        ask: ({ ask, origin }) => ask(preflightOf(origin)),
        judge: (reply, { origin }) => checkPreflight(reply, origin),
      }),
      check({
        name: 'headers a page can read',
        ask: ({ ask, key, origin }) => ask(list({ ...bearer(key), origin })),
        judge: (reply, { headerPrefix, origin }) => checkExposed(reply, headerPrefix, origin),
      }),
      check({
        name: 'errors a page can read',
        ask: ({ ask, origin }) => ask(list({ origin })),
        judge: (reply, { headerPrefix, origin }) => checkExposed(reply, headerPrefix, origin),
      }),
    ],
  },
  {
    area: 'quota',
    checks: [
      check({
        name: 'each answer is charged once',
        ask: askAgainIfSuspect,
        judge: (charged, { issueCommand }) => checkCharges(charged, issueCommand),
      }),
      check({
        name: 'failures are refunded',
        ask: askAgainIfSuspect,
        judge: (charged, { issueCommand }) => checkRefunds(charged, issueCommand),
      }),
      check({ name: 'headers agree', ask: askAgainIfSuspect, judge: checkStated }),
      check({
        name: 'a guest is counted apart',
        needs: needsGuests,
        ask: guestAfter,
        judge: (after, { guestBefore }) => checkGuestApart(guestBefore, after, cost),
      }),
      check({
        name: 'nothing else for a key',
        ask: askForFree,
        judge: (free, { issueCommand }) => checkFree(free.key, issueCommand),
      }),
      check({
        name: 'nothing else for a guest',
        needs: needsGuests,
        ask: askForFree,
        judge: (free, { issueCommand }) => checkFree(free.guest, issueCommand),
      }),
      check({
        name: 'the limit of the key',
        ask: allFigures,
        judge: ({ key, guest }, { limits }) => checkKeyLimit(key, guest, limits),
      }),
      check({
        name: 'the limit of a guest',
        ask: allFigures,
        judge: ({ guest }, { limits }) => checkGuestLimit(guest, limits),
      }),
    ],
  },
  {
    area: 'headers',
    checks: [
      check({
        name: 'those of every answer',
        ask: allReplies,
        judge: (replies, { headerPrefix }) => checkAll(replies, (reply) => findMissingHeader(reply, headerPrefix)),
      }),
      check({ name: 'an id for each request', ask: allReplies, judge: checkRequestIds }),
    ],
  },
  {
    area: 'hiding',
    checks: [
      check({
        name: 'no foreign header',
        ask: allReplies,
        judge: (replies, { headerPrefix }) => checkAll(replies, (reply) => findForeignHeader(reply, headerPrefix)),
      }),
      check({
        name: 'no trace in bodies',
        ask: allReplies,
        judge: (replies, { models }) => checkAll(replies, (reply) => findTrace(reply, models)),
      }),
      check({
        name: 'no name anywhere',
        needs: needsNames,
        ask: allReplies,
        judge: (replies, { names }) => checkAll(replies, createNameFinder(names)),
      }),
    ],
  },
];

/** The requests of the key's quota that all checks take. No more are charged, unless a count looks wrong. */
export const cost = checks.flatMap((group) => group.checks).reduce((sum, one) => sum + (one.cost ?? 0), 0);
