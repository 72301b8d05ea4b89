import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { messagesTypes } from '../../lambda/dialects/messages.ts';
import { openAiTypes } from '../../lambda/dialects/openai-error.ts';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { faultInBody } from './answers.ts';
import { chatProbe, countTokensPath, dialectProbes, messagesProbe, redSquare, whoAreYou } from './dialect-probes.ts';
import { bearer, get, list, type Probe, type ProbeRequest, post, quote, type Reply } from './probe.ts';
import { readFigures } from './quota.ts';
import { type Finding, fail, ok, okUnless, untested } from './report.ts';
import { type Check, type Run, shared } from './run.ts';

interface Details {
  /** What its message must quote, letter by letter. */
  readonly quotes?: string;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

type ErrorCase = readonly [request: ProbeRequest, code: ErrorCode, details?: Details];

export const unknownKey = `ltk_${'x'.repeat(43)}`;

/** No model. The error quotes it, so letters that change on the way show, in either direction. */
const foreign = 'modèle-模型-🙂';
const unknownModel = messagesProbe.question(foreign, whoAreYou);

const mebibyte = 1024 * 1024;
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: redSquare } };

const endpoints = [...dialectProbes, { ...messagesProbe, path: countTokensPath }];
const final: Details = { headers: { 'x-should-retry': /^false$/ } };

function everywhere({ models: [model] }: Run, headers: Record<string, string>, code: ErrorCode): readonly ErrorCase[] {
  const posts = endpoints.map(({ path, question }) => post(path, headers, question(model, whoAreYou)));
  return [...posts, list(headers)].map((request) => [request, code, final]);
}

/** Errors that come before any charge; on count_tokens, also those that cost elsewhere. */
function freeErrors(run: Run): Readonly<Record<string, readonly ErrorCase[]>> {
  const headers = bearer(run.key);
  const count = (body: string | object, more = {}) => post(countTokensPath, { ...headers, ...more }, body);
  const pictured = { model: run.models[0], messages: [{ role: 'user', content: [picture] }] };
  return {
    'no key': everywhere(run, {}, 'missing_api_key'),
    'an unknown key': everywhere(run, { 'x-api-key': unknownKey }, 'invalid_api_key'),
    'an unknown model': [
      [get('/v1/models/none', headers), 'model_not_found'],
      // Coding agents append this query.
      [{ ...count(unknownModel), path: `${countTokensPath}?beta=true` }, 'invalid_model', { quotes: foreign }],
    ],
    'a picture for the text model': [[count(pictured), 'invalid_model']],
    'a body that is not JSON': [[count('{'), 'invalid_request']],
    'an unknown encoding': [
      [
        ...([count('{}', { 'content-encoding': 'compress' }), 'unsupported_encoding'] as const),
        { headers: { 'accept-encoding': /\bgzip\b/ } },
      ],
    ],
    'a WebSocket handshake': [
      [get('/v1/responses', { 'openai-beta': 'responses_websockets=2026-02-06' }), 'upgrade_required'],
    ],
    'an unknown path': [[get('/v1/none', headers), 'not_found']],
    'a wrong method': endpoints.map(({ path }) => [
      ...([get(path, headers), 'method_not_allowed'] as const),
      { headers: { allow: /\bPOST\b/ } },
    ]),
  };
}

export const freeErrorChecks = (run: Run): readonly Check[] => [
  ...Object.entries(freeErrors(run)).map(([name, cases]): Check => [name, () => checkCases(run, run.ask, cases)]),
  ['a large body', () => checkLargeBody(run)],
];

const packed = shared(async () => new Uint8Array(gzipSync(Buffer.alloc(33 * mebibyte))));

/** A body that unpacks to more than any gateway accepts is the only failure to cause from outside that must be refunded. */
export async function checkUnpacking(run: Run): Promise<Finding> {
  const request = post(chatProbe.path, { ...bearer(run.key), 'content-encoding': 'gzip' }, await packed());
  return checkCases(run, run.charged.measure, [[request, 'request_too_large']]);
}

async function checkCases({ headerPrefix }: Run, ask: Probe, cases: readonly ErrorCase[]): Promise<Finding> {
  for (const [request, code, details] of cases) {
    const reply = await ask(request);
    const fault = faultOf(reply, code, headerPrefix, details);
    if (fault !== undefined) return fail(fault);
  }
  return ok(`${cases.length} as documented`);
}

/** Many proxies refuse a long prompt: by default nginx takes no more than 1 MiB. The model is unknown, so it goes no further. */
async function checkLargeBody({ ask, key, headerPrefix }: Run): Promise<Finding> {
  const reply = await ask(post(countTokensPath, bearer(key), { ...unknownModel, system: 'x'.repeat(4 * mebibyte) }));
  if (faultInError(reply, 'request_too_large', headerPrefix) === undefined) {
    return untested('REQUEST_BODY_LIMIT is below 4 MiB; raise it to see larger bodies pass');
  }
  return okUnless(faultOf(reply, 'invalid_model', headerPrefix), '4 MiB');
}

/** The refusals that a key with quota left does not get need a key without; to it, both are free. */
export function refusalChecks(run: Run): readonly Check[] {
  const { askWithoutWaiting: ask, spentKey = '', headerPrefix, models } = run;
  const missing = shared(async () => {
    const remedy = `give it a key without quota with --spent-key (${run.issueCommand(0)})`;
    if (spentKey === '') return untested(remedy);
    const reply = await ask(list(bearer(spentKey)));
    const { remaining, limit } = readFigures(reply, headerPrefix);
    if (reply.status !== 200) return untested(`the spent key gets ${quote(reply)}`);
    return remaining === 0 ? undefined : untested(`the spent key has ${remaining} of ${limit} left; ${remedy}`);
  });
  const details = { headers: { 'retry-after': /^\d+$/, 'x-should-retry': /^false$/ } };
  const cases = dialectProbes.map(({ path, keyHeaders, question }): ErrorCase => {
    return [post(path, keyHeaders(spentKey), question(models[0], whoAreYou)), 'quota_exceeded', details];
  });
  return [
    ['a quota that is spent', async () => (await missing()) ?? checkCases(run, ask, cases)],
    ['too many in a minute', async () => (await missing()) ?? checkBurst(run)],
  ];
}

/** The highest burst limit that is looked for. As a minute may end in between, it takes twice as many to be sure. */
const highestBurst = 60;
const mostCounts = 2 * highestBurst;

/** Counting tokens is free, and has its own burst limit. */
async function checkBurst({ askWithoutWaiting, spentKey = '', models: [model], headerPrefix }: Run): Promise<Finding> {
  const body = messagesProbe.question(model, whoAreYou);
  for (let passed = 0; passed < mostCounts; passed += 1) {
    const reply = await askWithoutWaiting(post(countTokensPath, messagesProbe.keyHeaders(spentKey), body));
    if (reply.status >= 500) return fail(`${reply.title} answered ${quote(reply)}`);
    if (reply.status !== 429) continue;
    const details = { headers: { 'retry-after': /^[1-9]\d?$/ } };
    return okUnless(faultOf(reply, 'rate_limited', headerPrefix, details), `after ${passed} in a minute`);
  }
  return untested(`${mostCounts} in a row passed: BURST_LIMIT is above ${highestBurst}`);
}

/** The same as `faultInError`, with the request that it answers. */
function faultOf(reply: Reply, code: ErrorCode, headerPrefix: string, details?: Details): string | undefined {
  const fault = faultInError(reply, code, headerPrefix, details);
  return fault && `${reply.title}: ${fault}`;
}

/** The fault in an error's status, exact shape or headers; undefined if there is none. */
export function faultInError(
  reply: Reply,
  code: ErrorCode,
  headerPrefix: string,
  { quotes = '', headers = {} }: Details = {},
): string | undefined {
  const { status, nature } = catalogue[code];
  const unquoted = `it does not quote ${quotes}: something on the way changes letters beyond ASCII`;
  const message = z.string().min(1).includes(quotes, unquoted);
  if (reply.status !== status) return `expected ${status} ${code}, not ${quote(reply)}`;
  const shape = reply.title.includes(messagesProbe.path)
    ? { type: z.literal('error'), error: z.strictObject({ type: z.literal(messagesTypes[nature]), message }) }
    : { error: z.strictObject({ message, type: z.literal(openAiTypes[nature]), code: z.literal(code) }) };
  const fault = faultInBody(reply, z.strictObject(shape));
  if (fault !== undefined) return fault;
  for (const [name, value] of Object.entries({ [`${headerPrefix}error`]: new RegExp(`^${code}$`), ...headers })) {
    const found = reply.headers.get(name);
    if (found === null || !value.test(found)) return `${name} is ${found ?? 'missing'}`;
  }
  return undefined;
}
