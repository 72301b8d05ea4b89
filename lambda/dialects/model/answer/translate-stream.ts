import { numberMember } from '../../../json/read.ts';
import { createScanner, type Json, scanLeniently } from '../../../json/scan.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { AnswerWriter } from './answer-writer.ts';

/** Translates a stream of the upstream's dialect, of which names have been hidden already. */
export function translateStream(reader: AnswerReader, { events }: AnswerWriter) {
  const scanner = createScanner();

  function takeEvent(event: string): void {
    const at = event.startsWith('data: ') ? 6 : event.indexOf('\ndata: ') + 7;
    const data = event.slice(at, -2);
    if (event.startsWith(':')) events.pass(event);
    else if (data === '[DONE]') reader.end();
    else reader.readEvent(scanLeniently(scanner, data.replaceAll('\ndata: ', '\n')));
  }

  /** Takes whole events in wire form, each line of which ends in a line feed. Throws if no answer may look like this. */
  return (written: string): void => {
    for (let at = 0; at < written.length && !reader.isOver; ) {
      const end = written.indexOf('\n\n', at) + 2;
      takeEvent(written.slice(at, end));
      at = end;
    }
  };
}

/** A count of tokens as vLLM tells it, for a client whose answers of this kind may have a name. Throws if it is none. */
export function translateCount(answer: Json, object: string | undefined): string {
  const [count] = ['count', 'input_tokens'].flatMap((name) => numberMember(answer, answer.root, name) ?? []);
  if (count === undefined || count < 0) throw new TypeError('the answer counts no tokens');
  return JSON.stringify({ object, input_tokens: count });
}
