import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { messagesTypes } from '../../lambda/dialects/messages/messages.ts';
import { openAiTypes } from '../../lambda/dialects/model/openai.ts';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { faultInBody } from './answers.ts';
import { chatProbe, countTokensPath, dialectProbes, messagesProbe, whoAreYou } from './dialect-probes.ts';
import { bearer, get, list, type ProbeRequest, post, quote, type Reply } from './probe.ts';
import { type Checked, type Finding, fail, ok, okUnless, untested } from './report.ts';
import type { Run } from './run.ts';

type ErrorCase = readonly [request: ProbeRequest, code: ErrorCode];

const unknownKey = `ltk_${'x'.repeat(43)}`;

/** An unknown model. The error quotes it, which reveals whether anything in between garbles Unicode, in either direction. */
const foreign = 'modèle-模型-🙂';
const unknownModel = messagesProbe.question(foreign, whoAreYou);

const mebibyte = 1024 * 1024;

const endpoints = [...dialectProbes, { ...messagesProbe, path: countTokensPath }];

export async function* checkErrors(run: Run): AsyncGenerator<Checked> {
  for (const [name, cases] of Object.entries(freeErrors(run))) yield [name, await checkCases(run, cases)];
  yield ['a large body', await checkLargeBody(run)];
  yield ['a body that grows too large', await checkUnpacking(run)];
}

/** Errors that occur before any charge. count_tokens is free, so there it includes errors that are charged elsewhere. */
function freeErrors({ key, models: [model] }: Run): Readonly<Record<string, readonly ErrorCase[]>> {
  const headers = bearer(key);
  const everywhere = (given: Record<string, string>, code: ErrorCode): readonly ErrorCase[] => {
    const posts = endpoints.map(({ path, question }) => post(path, given, question(model, whoAreYou)));
    return [...posts, list(given)].map((request) => [request, code]);
  };
  return {
    'no key': everywhere({}, 'missing_api_key'),
    'an unknown key': everywhere({ 'x-api-key': unknownKey }, 'invalid_api_key'),
    'an unknown model': [
      [get('/v1/models/none', headers), 'model_not_found'],
      // Coding agents append this query.
      [post(`${countTokensPath}?beta=true`, headers, unknownModel), 'invalid_model'],
    ],
    'a body that is not JSON': [[post(countTokensPath, headers, '{'), 'invalid_request']],
    'an unknown path': [[get('/v1/none', headers), 'not_found']],
    'a wrong method': endpoints.map(({ path }) => [get(path, headers), 'method_not_allowed']),
  };
}

async function checkCases({ ask, headerPrefix }: Run, cases: readonly ErrorCase[]): Promise<Finding> {
  for (const [request, code] of cases) {
    const fault = faultInError(await ask(request), code, headerPrefix);
    if (fault !== undefined) return fail(fault);
  }
  return ok(`${cases.length} as documented`);
}

/** Many proxies refuse long prompts: nginx accepts 1 MiB by default. The model is unknown, so the request never reaches an upstream. */
async function checkLargeBody({ ask, key, headerPrefix }: Run): Promise<Finding> {
  const reply = await ask(post(countTokensPath, bearer(key), { ...unknownModel, system: 'x'.repeat(4 * mebibyte) }));
  if (faultInError(reply, 'request_too_large', headerPrefix) === undefined) {
    return untested('REQUEST_BODY_LIMIT is below 4 MiB; raise it to see larger bodies pass');
  }
  return okUnless(faultInError(reply, 'invalid_model', headerPrefix), '4 MiB');
}

/** A body that is too large once decompressed is the only refunded failure that a client can provoke. */
async function checkUnpacking({ charge, key, headerPrefix }: Run): Promise<Finding> {
  // Concatenated gzip members decompress to one body (RFC 1952, 2.2).
  const packed = new Uint8Array(Buffer.concat(Array(33).fill(gzipSync(Buffer.alloc(mebibyte)))));
  const reply = await charge(post(chatProbe.path, { ...bearer(key), 'content-encoding': 'gzip' }, packed));
  return okUnless(faultInError(reply, 'request_too_large', headerPrefix));
}

/** What is wrong with an error's status, exact shape or headers; undefined if nothing is. */
export function faultInError(reply: Reply, code: ErrorCode, headerPrefix: string): string | undefined {
  const { status, nature, headers = {} }: (typeof catalogue)[ErrorCode] & { headers?: object } = catalogue[code];
  if (reply.status !== status) return `${reply.title}: expected ${status} ${code}, not ${quote(reply)}`;
  const changed = `it does not quote ${foreign}: something on the way changes letters beyond ASCII`;
  const message = z
    .string()
    .min(1)
    .includes(code === 'invalid_model' ? foreign : '', changed);
  const shape = reply.title.includes(messagesProbe.path)
    ? { type: z.literal('error'), error: z.strictObject({ type: z.literal(messagesTypes[nature]), message }) }
    : { error: z.strictObject({ message, type: z.literal(openAiTypes[nature]), code: z.literal(code) }) };
  const fault = faultInBody(reply, z.strictObject(shape));
  if (fault !== undefined) return `${reply.title}: ${fault}`;
  const wrong = Object.entries({ [`${headerPrefix}error`]: code, ...headers }).find(
    ([name, value]) => reply.headers.get(name) !== value,
  );
  return wrong && `${reply.title}: ${wrong[0]} is ${reply.headers.get(wrong[0]) ?? 'missing'}`;
}
