import { z } from 'zod';
import { checkCall, checkShape, checkUsage } from './answers.ts';
import {
  chatProbe,
  countTokensPath,
  countUp,
  type DialectProbe,
  messagesProbe,
  redSquare,
  useTool,
  whoAreYou,
} from './dialect-probes.ts';
import { post, type Reply } from './probe.ts';
import { type Checked, type Finding, fail, note } from './report.ts';
import type { Run } from './run.ts';
import { checkPace, checkStream, readEvents } from './streams.ts';

/** Asks for a plain answer, a stream and a tool call. Costs three requests of quota. */
export async function* checkDialect(dialect: DialectProbe, run: Run): AsyncGenerator<Checked> {
  const { key, models, charge } = run;
  const [model] = models;
  const ask = (body: object) => charge(post(dialect.path, dialect.keyHeaders(key), body));
  const advised = (finding: Finding, reply: Reply) => advise(finding, reply, dialect.name, run);

  const plain = await ask(dialect.question(model, whoAreYou));
  const answered = checkShape(plain, dialect.answer(model));
  yield ['answers', advised(answered, plain)];

  const stream = await ask({ ...dialect.question(model, countUp), ...dialect.streaming });
  const events = readEvents(stream);
  const streamed = checkStream(stream, events, dialect);
  yield ['streams to the end', advised(streamed, stream)];
  if (events.length > 0) yield ['streams event by event', checkPace(events.filter(dialect.isText))];
  if (answered.mark === 'ok' && streamed.mark === 'ok') yield ['reports usage', checkUsage(plain, stream)];

  const called = await ask({ ...dialect.question(model, useTool), tools: [dialect.tool] });
  yield ['calls a tool', advised(checkCall(called, dialect.answer(model), dialect.call), called)];
}

/** Suggests a remedy if a dialect fails. Most upstreams speak only one well. */
function advise(finding: Finding, { status }: Reply, dialect: string, { translated, charges }: Run): Finding {
  if (finding.mark !== 'fail' || status < 400) return finding;
  const remedy = translated.includes(dialect)
    ? `the gateway translates ${dialect} for this upstream: look up its settings in docs/upstreams.md`
    : charges.some((charge) => charge.status === 200)
      ? `if the upstream does not speak ${dialect} itself, leave it out of UPSTREAM_DIALECTS, and the gateway translates it`
      : 'no dialect has answered so far: its line in the log has the reason (docs/failures.md)';
  return fail(`${finding.detail}; ${remedy}`);
}

/** The only check of the vision model. */
export async function* checkPicture({ charge, key, models: [, vision] }: Run): AsyncGenerator<Checked> {
  const content = [
    { type: 'text', text: 'Which colour is this?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${redSquare}` } },
  ];
  const body = { model: vision, messages: [{ role: 'user', content }] };
  const reply = await charge(post(chatProbe.path, chatProbe.keyHeaders(key), body));
  yield ['sees a picture', checkShape(reply, chatProbe.answer(vision))];
}

export async function* checkTokenCount({ ask, key, models: [model] }: Run): AsyncGenerator<Checked> {
  const { max_tokens: _, ...body } = messagesProbe.question(model, whoAreYou);
  const reply = await ask(post(countTokensPath, messagesProbe.keyHeaders(key), body));
  const isOffered = reply.status !== 404;
  const counted = z.object({ input_tokens: z.int().positive() });
  yield ['counts tokens', isOffered ? checkShape(reply, counted) : note('the upstream does not offer it')];
}
