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
import { bearer, chatProbe, type DialectProbe, dialectProbes } from './dialect-probes.ts';
import * as errors from './errors.ts';
import { createNameFinder, findForeignHeader, findTrace } from './hiding.ts';
import { quote, type Reply } from './probe.ts';
import * as questions from './questions.ts';
import * as quota from './quota.ts';
import { type Finding, fail, note, ok, untested } from './report.ts';
import type { Check, CheckGroup, Run } from './run.ts';
import * as signIn from './sign-in.ts';
import { checkFirstEvent, checkPace, checkSilence, checkStream } from './streams.ts';

/** Lets the compiler match what a check asks with what it judges. */
const check = <Asked>(one: Check<Asked>): Check<unknown> => one;

const { list } = questions;

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

const invalidKey = { code: 'invalid_api_key', shape: 'openai' } as const;

function checkWhichCounts({ good, unknown }: { good: Reply; unknown: Reply }, { headerPrefix }: Run): Finding {
  if (good.status !== 200) return fail(`a good x-api-key is answered ${quote(good)}`);
  const fault = errors.faultInError(unknown, invalidKey, headerPrefix);
  return fault === undefined ? ok('x-api-key before Authorization') : fail(fault);
}

function checkPlaceholder(guest: Reply, { headerPrefix, closed }: Run): Finding {
  if (guest.status === 200) return closed ? fail('is served, though the stage has ACCESS=keys') : ok('is a guest');
  const fault = errors.faultInError(guest, invalidKey, headerPrefix);
  return fault === undefined ? note('is refused: there are no guests') : fail(fault);
}

/** Says what to do where only one dialect fails: most upstreams speak one well. */
function advise(finding: Finding, { status }: Reply, dialect: string, { translated }: Run): Finding {
  if (finding.mark !== 'fail' || status < 400 || dialect === chatProbe.name) return finding;
  const remedy = translated.includes(dialect)
    ? `the gateway translates ${dialect} for this upstream: look up its settings in docs/upstreams.md`
    : `if the upstream does not speak ${dialect} itself, leave it out of UPSTREAM_DIALECTS, and the gateway translates it`;
  return fail(`${finding.detail}; ${remedy}`);
}

function dialectChecks(dialect: DialectProbe): CheckGroup {
  const { plainAnswer: plain, streamedAnswer: streamed, toolCall } = questions.dialectQuestions(dialect);
  const { name } = dialect;
  type Streamed = Awaited<ReturnType<typeof streamed>>;
  /** A stream without events makes no further rows. */
  const ofEvents = (judge: (asked: Streamed) => Finding) => (asked: Streamed) =>
    asked.events.length > 0 ? judge(asked) : undefined;
  const ifAnswered = (reply: Reply) => (reply.status === 200 ? checkUsage(reply) : undefined);
  const usage = ofEvents((asked) => checkStreamUsage(asked.stream, asked.plain));
  const pace = ofEvents(({ events }) => checkPace(events.filter(dialect.isText)));
  const firstEvent = ofEvents(({ events }) => checkFirstEvent(events));
  return {
    area: dialect.name,
    checks: [
      check({
        name: 'answers',
        cost: 1,
        ask: plain,
        judge: (reply, run) => advise(checkShape(reply, dialect.answer(run.models[0])), reply, name, run),
      }),
      check({
        name: 'streams to the end',
        cost: 1,
        ask: streamed,
        judge: ({ stream, events }, run) => advise(checkStream(stream, events, dialect), stream, name, run),
      }),
      check({
        name: 'calls a tool',
        cost: 1,
        ask: toolCall,
        judge: (reply, run) => advise(checkCall(reply, dialect.answer(run.models[0]), dialect.call), reply, name, run),
      }),
      check({ name: 'reports usage', ask: plain, judge: ifAnswered }),
      check({ name: 'reports usage in streams', ask: streamed, judge: usage }),
      check({ name: 'streams event by event', ask: streamed, judge: pace }),
      check({ name: 'has a first event', ask: streamed, judge: firstEvent }),
    ],
  };
}

const checkPicture = (reply: Reply, { models: [, vision] }: Run) => checkShape(reply, chatProbe.answer(vision));

const tokenCount = z.object({ input_tokens: z.int().positive() });
const checkTokenCount = (reply: Reply) =>
  reply.status === 404 ? note('the upstream does not offer it') : checkShape(reply, tokenCount);

/** A check of every reply so far for the same fault. */
const everyReply = (name: string, finder: (run: Run) => (reply: Reply) => string | undefined) =>
  check({
    name,
    ask: async ({ replies }) => replies,
    judge: (replies, run) => {
      const find = finder(run);
      for (const reply of replies) {
        const fault = find(reply);
        if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
      }
      return ok(`in ${replies.length} replies`);
    },
  });

const needsNames = async ({ names }: Run) =>
  names.length === 0 ? untested('name what must not appear, with --names a,b') : undefined;

/** Everything that a client can see of a gateway, in the order in which it is asked. */
export const checks: readonly CheckGroup[] = [
  {
    area: 'models',
    checks: [
      check({ name: 'the list', ask: ({ ask, key }) => ask(list(bearer(key))), judge: checkList }),
      ...[modelCheck(0), modelCheck(1)],
    ],
  },
  {
    area: 'keys',
    checks: [
      check({ name: 'which header counts', ask: questions.askWithTwoKeys, judge: checkWhichCounts }),
      check({ name: 'a placeholder', ask: ({ ask }) => ask(list(bearer('guest'))), judge: checkPlaceholder }),
    ],
  },
  {
    area: 'errors',
    checks: [
      check({
        name: 'a body that grows too large',
        ask: (run) => errors.askCases(run.charged.measure, errors.unpacksTooLarge(run)),
        judge: errors.checkCases,
      }),
    ],
  },
  ...dialectProbes.map(dialectChecks),
  {
    area: 'chat',
    checks: [check({ name: 'sees a picture', cost: 1, ask: questions.askAboutPicture, judge: checkPicture })],
  },
  {
    area: 'streams',
    checks: [check({ name: 'silence is bridged', ask: async ({ streams }) => streams, judge: checkSilence })],
  },
  {
    area: 'messages',
    checks: [check({ name: 'counts tokens', ask: questions.askForCount, judge: checkTokenCount })],
  },
  {
    area: 'errors',
    checks: [
      ...Object.entries(errors.freeErrors).map(([name, cases]) =>
        check({ name, ask: (run) => errors.askCases(run.ask, cases(run)), judge: errors.checkCases }),
      ),
      check({ name: 'a large body', ask: (run) => run.ask(errors.largeBody(run)), judge: errors.checkLarge }),
    ],
  },
  {
    area: 'errors',
    checks: [
      check({
        name: 'a quota that is spent',
        needs: questions.needsSpentKey,
        ask: (run) => errors.askCases(run.askWithoutWaiting, errors.spentQuota(run)),
        judge: errors.checkCases,
      }),
      check({
        name: 'too many in a minute',
        needs: questions.needsSpentKey,
        ask: questions.countUntilRefused,
        judge: errors.checkBurst,
      }),
    ],
  },
  {
    area: 'cors',
    checks: [
      check({ name: 'preflight', ask: ({ ask, origin }) => ask(preflightOf(origin)), judge: checkPreflight }),
      check({
        name: 'headers a page can read',
        ask: ({ ask, key, origin }) => ask(list({ ...bearer(key), origin })),
        judge: checkExposed,
      }),
      check({ name: 'errors a page can read', ask: ({ ask, origin }) => ask(list({ origin })), judge: checkExposed }),
    ],
  },
  {
    area: 'quota',
    checks: [
      check({ name: 'each answer is charged once', ask: questions.askAgainIfSuspect, judge: quota.checkCharges }),
      check({ name: 'failures are refunded', ask: questions.askAgainIfSuspect, judge: quota.checkRefunds }),
      check({ name: 'headers agree', ask: questions.askAgainIfSuspect, judge: quota.checkStated }),
      check({
        name: 'a guest is counted apart',
        needs: questions.needsGuests,
        ask: questions.guestAfter,
        judge: (after, { guestBefore }) => quota.checkGuestApart(guestBefore, after, cost),
      }),
      check({
        name: 'nothing else for a key',
        ask: questions.askForFree,
        judge: (free, run) => quota.checkFree(free.key, run),
      }),
      check({
        name: 'nothing else for a guest',
        needs: questions.needsGuests,
        ask: questions.askForFree,
        judge: (free, run) => quota.checkFree(free.guest, run),
      }),
      check({
        name: 'the limit of the key',
        ask: questions.allFigures,
        judge: ({ key, guest }, { limits }) => quota.checkKeyLimit(key, guest, limits),
      }),
      check({
        name: 'the limit of a guest',
        ask: questions.allFigures,
        judge: ({ guest }, { limits }) => quota.checkGuestLimit(guest, limits),
      }),
    ],
  },
  {
    area: 'sign-in',
    checks: [
      check({ name: 'with a company account', ask: signIn.askCompany, judge: signIn.checkDiscovery }),
      check({ name: 'the client’s secret', ask: signIn.askCompany, judge: signIn.checkSecret }),
      check({ name: 'from a terminal', ask: signIn.askForTerminals, judge: signIn.checkTerminals }),
    ],
  },
  {
    area: 'headers',
    checks: [
      everyReply('those of every answer', (run) => (reply) => findMissingHeader(reply, run.headerPrefix)),
      check({ name: 'an id for each request', ask: async ({ replies }) => replies, judge: checkRequestIds }),
    ],
  },
  {
    area: 'hiding',
    checks: [
      everyReply('no foreign header', (run) => (reply) => findForeignHeader(reply, run.headerPrefix)),
      everyReply('no trace in bodies', (run) => (reply) => findTrace(reply, run.models)),
      { ...everyReply('no name anywhere', ({ names }) => createNameFinder(names)), needs: needsNames },
    ],
  },
];

/** The requests of the key's quota that all checks take. No more are charged, unless a count looks wrong. */
export const cost = checks.flatMap((group) => group.checks).reduce((sum, one) => sum + (one.cost ?? 0), 0);
