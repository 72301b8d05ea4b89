import { preflightOf } from './answers.ts';
import {
  bearer,
  chatProbe,
  countTo,
  countTokensPath,
  type DialectProbe,
  messagesProbe,
  redSquare,
  useTool,
  whoAreYou,
} from './dialect-probes.ts';
import { mostCounts, unknownKey } from './errors.ts';
import { type ProbeRequest, quote, type Reply } from './probe.ts';
import { findSuspect, type Measurement, readFigures } from './quota.ts';
import { note, untested } from './report.ts';
import type { Run } from './run.ts';
import { readEvents } from './streams.ts';

export const list = (headers: Record<string, string>): ProbeRequest => ({ method: 'GET', path: '/v1/models', headers });

/** One good key and one unknown, in either header. */
export const askWithTwoKeys = async ({ ask, key }: Run) => ({
  good: await ask(list({ 'x-api-key': key, ...bearer(unknownKey) })),
  unknown: await ask(list({ 'x-api-key': unknownKey, ...bearer(key) })),
});

/** How a dialect is asked for a plain answer, by an alias, for a stream, and for a call: three requests of quota. */
export function dialectQuestions(dialect: DialectProbe) {
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
  const toolCall = (run: Run) =>
    run.charged.measure(post(run, { ...dialect.question(run.models[0], useTool), tools: [dialect.tool] }));
  return { plainAnswer, streamedAnswer, toolCall };
}

/** Asks the vision model about a picture, by its alias. Nothing else needs that model. */
export function askAboutPicture({ charged, key, models: [text] }: Run): Promise<Reply> {
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

export function askForCount({ ask, key, models: [model] }: Run): Promise<Reply> {
  const { max_tokens: _, ...body } = messagesProbe.question(model, whoAreYou);
  return ask({ method: 'POST', path: countTokensPath, headers: messagesProbe.keyHeaders(key), body });
}

/** The refusals that a key with quota left does not get need a key without; to it, both are free. */
export async function needsSpentKey({ askWithoutWaiting, spentKey, headerPrefix, issueCommand }: Run) {
  const remedy = `give it a key without quota with --spent-key (${issueCommand(0)})`;
  if (spentKey === undefined) return untested(remedy);
  const reply = await askWithoutWaiting(list(bearer(spentKey)));
  const { remaining, limit } = readFigures(reply, headerPrefix);
  if (reply.status !== 200) return untested(`the spent key gets ${quote(reply)}`);
  return remaining === 0 ? undefined : untested(`the spent key has ${remaining} of ${limit} left; ${remedy}`);
}

/** Counting tokens is free, and has its own burst limit. */
export async function countUntilRefused({
  askWithoutWaiting,
  spentKey = '',
  models: [model],
}: Run): Promise<readonly Reply[]> {
  const body = messagesProbe.question(model, whoAreYou);
  const replies: Reply[] = [];
  while (replies.length < mostCounts) {
    const headers = messagesProbe.keyHeaders(spentKey);
    const reply = await askWithoutWaiting({ method: 'POST', path: countTokensPath, headers, body });
    replies.push(reply);
    if (reply.status === 429 || reply.status >= 500) break;
  }
  return replies;
}

/** Asks for one more answer if a count looks wrong. */
export async function askAgainIfSuspect({ charged }: Run): Promise<readonly Measurement[]> {
  const suspect = findSuspect(charged.measurements);
  if (suspect) await charged.measure(suspect.request);
  return charged.measurements;
}

export const guestAfter = ({ createMeter }: Run) => createMeter().read();

/** There is nothing to measure where nobody is served without a key. */
export const needsGuests = async ({ guestBefore }: Run) =>
  guestBefore.limit === 0 ? note('there are no guests') : undefined;

/** The free requests, each sent twice: on the key's quota, and on that of this network's guest. */
export async function askForFree({ createMeter, key, models: [model], origin }: Run) {
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
export async function allFigures(run: Run) {
  const free = await run.once(askForFree);
  const inAll = ({ before, stated, after }: Measurement) => [before, stated, after];
  return {
    key: [...run.charged.measurements.flatMap(inAll), ...free.key.flatMap(({ before, after }) => [before, after])],
    guest: [run.guestBefore, await run.once(guestAfter), ...free.guest.flatMap(inAll)],
  };
}
