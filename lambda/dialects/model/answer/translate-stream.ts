import { numberMember } from '../../../json/read.ts';
import { createScanner, type Json, scanLeniently } from '../../../json/scan.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { AnswerWriter } from './answer-writer.ts';

/** Translates a stream of the upstream's dialect, in which names are already hidden. */
export function translateStream(reader: AnswerReader, { events }: AnswerWriter) {
  const scanner = createScanner();

  function takeEvent(event: string): void {
    const at = event.startsWith('data: ') ? 6 : event.indexOf('\ndata: ') + 7;
    const data = event.slice(at, -2);
    if (event.startsWith(':')) events.pass(event);
    else if (data === '[DONE]') reader.end();
    else reader.readEvent(scanLeniently(scanner, data.replaceAll('\ndata: ', '\n')));
  }

  /** Takes whole events in wire form, whose lines all end in a line feed. Throws if one is not valid. */
  return (written: string): void => {
    for (let at = 0; at < written.length && !reader.isOver; ) {
      const end = written.indexOf('\n\n', at) + 2;
      takeEvent(written.slice(at, end));
      at = end;
    }
  };
}

/** Translates a token count, as vLLM or Anthropic returns it. `object`: the `object` member of the client's dialect. Throws if it is not valid. */
export function translateCount(answer: Json, object: string | undefined): string {
  const [count] = ['count', 'input_tokens'].flatMap((name) => numberMember(answer, answer.root, name) ?? []);
  if (count === undefined || count < 0) throw new TypeError('the answer counts no tokens');
  return JSON.stringify({ object, input_tokens: count });
}
