import type { DialectProbe } from './dialect-probes.ts';
import type { Acquaintance } from './greet.ts';
import { judgeShape } from './judge-shape.ts';
import { judgeFirstEvent, judgeIncremental, judgeStream, readEvents } from './judge-stream.ts';
import type { Ask, Probe } from './probe.ts';
import type { Finding, Row } from './row.ts';

/** Asks for a plain answer and for a stream: two requests of quota. */
export async function* examineDialect(
  ask: Probe,
  dialect: DialectProbe,
  key: string,
  { models: [model] }: Acquaintance,
): AsyncGenerator<Row> {
  const { name: area, path } = dialect;
  const post = (more: object): Ask => ({
    method: 'POST',
    path,
    headers: dialect.keyHeaders(key),
    body: { ...dialect.question(model), ...more },
  });
  const row = (check: string, finding: Finding): Row => ({ area, check, ...finding });

  yield row('answers', judgeShape(await ask(post({})), dialect.answer(model)));
  const reply = await ask(post({ stream: true }));
  const events = readEvents(reply);
  const stream = judgeStream(reply, events, dialect);
  yield row('streams to the end', stream);
  if (events.length === 0) return;
  yield row('streams event by event', judgeIncremental(events));
  yield row('has a first event', judgeFirstEvent(events));
}
