import { speakers } from '../../../local/upstream/index.ts';
import type { Part } from '../../../local/upstream/speaker.ts';
import type { ClientEvent } from '../client-view.ts';
import type { DialectName } from '../fixtures.ts';
import { replyOf } from '../upstream-identity.ts';
import { mix, type Speech, type WireEvent } from './teller.ts';

/** How a dialect streams several texts, and how its clients reassemble them. */
interface Teller {
  readonly kinds: readonly string[];
  /** The events of these texts, in order or, with `pick`, with interleaved deltas. */
  tell(speeches: readonly Speech[], pick?: (count: number) => number): WireEvent[];
  /** The same texts as one plain answer. */
  answer(speeches: readonly Speech[]): unknown;
  /** The reassembled texts, in the order of the speeches. Throws if an event is for a closed block, or contradicts a text. */
  hear(events: readonly ClientEvent[]): string[];
  hearAnswer(answer: unknown): string[];
}

function createTeller(dialect: DialectName, hearing: Pick<Teller, 'hear' | 'hearAnswer'>): Teller {
  const { kinds, events, whole } = speakers[dialect];
  const reply = (speeches: readonly Speech[]) =>
    replyOf(speeches.map((speech, choice): Part => ({ ...speech, choice })));
  return {
    kinds,
    tell: (speeches, pick) =>
      events(reply(speeches), (runs) => mix(runs, pick)).map(({ event, data }) => ({
        ...(event && { type: event }),
        data,
      })),
    answer: (speeches) => whole(reply(speeches)),
    ...hearing,
  };
}

/** The text of a chat's delta or message, in whichever member. */
function textIn(delta: unknown): string {
  const { content, refusal, reasoning, reasoning_content, reasoning_details, audio, mood } = Object(delta);
  const [detail] = reasoning_details ?? [];
  const part = Array.isArray(content) ? content[0].thinking[0].text : content;
  return (
    (part || '') +
    (refusal ?? reasoning ?? reasoning_content ?? detail?.text ?? detail?.summary ?? audio?.transcript ?? mood ?? '')
  );
}

const chat = createTeller('chat', {
  hear(events) {
    const texts: string[] = [];
    const finished = new Set<number>();
    for (const { value } of events) {
      for (const { index, delta, finish_reason } of Object(value).choices ?? []) {
        if (finished.has(index)) throw new Error(`choice ${index} speaks after its end`);
        texts[index] = (texts[index] ?? '') + textIn(delta);
        if (finish_reason) finished.add(index);
      }
    }
    return texts;
  },
  hearAnswer: (answer) => Object(answer).choices.map(({ message }: { message: unknown }) => textIn(message)),
});

const itemText = (item: unknown): string => {
  const { content, summary } = Object(item);
  const [part] = content ?? summary ?? [];
  return part?.text ?? part?.refusal ?? '';
};

const responses = createTeller('responses', {
  hear(events) {
    const texts: string[] = [];
    const done = new Set<number>();
    const assertSame = (index: number, text: string) => {
      if (text !== texts[index]) throw new Error(`item ${index} is ${JSON.stringify([texts[index], text])}`);
    };
    for (const [number, { value }] of events.entries()) {
      const { type, output_index: index, delta, text, refusal, part, item, response, sequence_number } = Object(value);
      if (sequence_number !== number) throw new Error(`event ${number} has the number ${sequence_number}`);
      if (type === 'response.output_item.added') texts[index] = '';
      else if (type.endsWith('.delta')) {
        if (done.has(index)) throw new Error(`item ${index} speaks after its end`);
        texts[index] += delta;
      } else if (type === 'response.output_item.done') assertSame(index, itemText(item));
      else if (type === 'response.completed') {
        for (const [at, one] of response.output.entries()) assertSame(at, itemText(one));
      } else if (type.endsWith('part.done')) assertSame(index, part.text ?? part.refusal);
      else if (type.endsWith('.done')) {
        done.add(index);
        assertSame(index, text ?? refusal);
      }
    }
    return texts;
  },
  hearAnswer: (answer) => Object(answer).output.map(itemText),
});

const blockText = (block: unknown): string => {
  const { text, thinking, content } = Object(block);
  return text ?? thinking ?? content ?? '';
};

const messages = createTeller('messages', {
  hear(events) {
    const texts: string[] = [];
    const open = new Set<number>();
    for (const { value } of events) {
      const { type, index, content_block, delta } = Object(value);
      if (type === 'content_block_start') {
        open.add(index);
        texts[index] = blockText(content_block);
      } else if (type === 'content_block_delta') {
        if (!open.has(index)) throw new Error(`block ${index} speaks though it is not open`);
        texts[index] += blockText(delta);
      } else if (type === 'content_block_stop') open.delete(index);
    }
    return texts;
  },
  hearAnswer: (answer) => Object(answer).content.map(blockText),
});

export const tellers: Readonly<Record<DialectName, Teller>> = { chat, responses, messages };
