import { mix, type Speech, type Teller, typed, whole } from './teller.ts';

/** Responses: each speech is a part of its own item. */
const parts: Readonly<
  Record<string, { item: string; list: string; part: string; member: string; event: string; place: string }>
> = {
  output_text: {
    item: 'message',
    list: 'content',
    part: 'output_text',
    member: 'text',
    event: 'output_text',
    place: 'content_index',
  },
  refusal: {
    item: 'message',
    list: 'content',
    part: 'refusal',
    member: 'refusal',
    event: 'refusal',
    place: 'content_index',
  },
  reasoning_text: {
    item: 'reasoning',
    list: 'content',
    part: 'reasoning_text',
    member: 'text',
    event: 'reasoning_text',
    place: 'content_index',
  },
  summary: {
    item: 'reasoning',
    list: 'summary',
    part: 'summary_text',
    member: 'text',
    event: 'reasoning_summary_text',
    place: 'summary_index',
  },
};

function itemOf(speech: Speech): object {
  const form = parts[speech.kind];
  if (!form) throw new Error(speech.kind);
  return { type: form.item, id: 'item_1', [form.list]: [{ type: form.part, [form.member]: whole(speech) }] };
}

const itemText = (item: unknown): string => {
  const { content, summary } = Object(item);
  const [part] = content ?? summary ?? [];
  return part?.text ?? part?.refusal ?? '';
};

export const responses: Teller = {
  kinds: Object.keys(parts),
  tell(speeches, pick) {
    const model = 'acmecorp/thunder-70b-instruct';
    const response = { id: 'resp_1', object: 'response', model, status: 'completed', output: speeches.map(itemOf) };
    const told = speeches.map((speech, output_index) => {
      const form = parts[speech.kind];
      if (!form) throw new Error(speech.kind);
      const place = { item_id: 'item_1', output_index, [form.place]: 0 };
      const name = `response.${form.event}`;
      const scope = form.list === 'summary' ? 'response.reasoning_summary_part' : 'response.content_part';
      return [
        { type: 'response.output_item.added', output_index, item: { type: form.item, id: 'item_1', [form.list]: [] } },
        { type: `${scope}.added`, ...place, part: { type: form.part, [form.member]: '' } },
        ...speech.pieces.map((delta) => ({ type: `${name}.delta`, ...place, delta, logprobs: [] })),
        { type: `${name}.done`, ...place, [form.member]: whole(speech) },
        { type: `${scope}.done`, ...place, part: { type: form.part, [form.member]: whole(speech) } },
        { type: 'response.output_item.done', output_index, item: itemOf(speech) },
      ];
    });
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...mix<{ type: string }>(told, pick),
      { type: 'response.completed', response },
    ];
    return events.map((event, sequence_number) => typed({ ...event, ...{ sequence_number } }));
  },
  answer: (speeches) => ({ object: 'response', status: 'completed', output: speeches.map(itemOf) }),
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
};
