import type { Finding, Row } from '../examination/row.ts';
import { countTo, type DialectProbe, whoAreYou } from './dialect-probes.ts';
import type { Acquaintance } from './greet.ts';
import { judgePace } from './judge-pace.ts';
import { judgeShape } from './judge-shape.ts';
import { judgeFirstEvent, judgeStream, readEvents } from './judge-stream.ts';
import { judgeStreamUsage, judgeUsage } from './judge-usage.ts';
import type { Ledger } from './ledger.ts';
import type { Ask, Reply } from './probe.ts';

interface Subject extends Pick<Acquaintance, 'models'> {
  readonly key: string;
  /** How many numbers a stream is asked to write. */
  readonly length: number;
  readonly ledger: Ledger;
  onStream(reply: Reply): void;
}

/** Asks for a plain answer, by an alias, and for a stream: two requests of quota. */
export async function* examineDialect(dialect: DialectProbe, subject: Subject): AsyncGenerator<Row> {
  const { key, models, length, ledger, onStream } = subject;
  const { name: area, path } = dialect;
  const [model] = models;
  const post = (body: object): Ask => ({ method: 'POST', path, headers: dialect.keyHeaders(key), body });
  const row = (check: string, finding: Finding): Row => ({ area, check, ...finding });

  const plain = await ledger.record(post(dialect.question(dialect.alias(model), whoAreYou)));
  yield row('answers', judgeShape(plain, dialect.answer(model)));

  const stream = await ledger.record(post({ ...dialect.question(model, countTo(length)), ...dialect.streaming }));
  onStream(stream);
  const events = readEvents(stream.arrivals);
  yield row('streams to the end', judgeStream(stream, events, dialect));
  if (plain.status === 200) yield row('reports usage', judgeUsage(plain));
  if (events.length === 0) return;
  yield row('reports usage in streams', judgeStreamUsage(stream, plain));
  yield row('streams event by event', judgePace(events.filter(dialect.isText)));
  yield row('has a first event', judgeFirstEvent(events));
}
