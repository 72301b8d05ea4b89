import { mix, type Teller, typed, whole } from './teller.ts';

/** Messages: each speech is a block. */
const blocks: Readonly<
  Record<string, { start: object; delta: (text: string) => object; block: (text: string) => object }>
> = {
  text: {
    start: { type: 'text', text: '' },
    delta: (text) => ({ type: 'text_delta', text }),
    block: (text) => ({ type: 'text', text }),
  },
  thinking: {
    start: { type: 'thinking', thinking: '', signature: '' },
    delta: (thinking) => ({ type: 'thinking_delta', thinking }),
    block: (thinking) => ({ type: 'thinking', thinking, signature: 'c2lnbmVk' }),
  },
  compaction: {
    start: { type: 'compaction', content: null },
    delta: (content) => ({ type: 'compaction_delta', content }),
    block: (content) => ({ type: 'compaction', content }),
  },
};

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'acmecorp/thunder-70b-instruct' };
const blockText = (block: unknown): string => {
  const { text, thinking, content } = Object(block);
  return text ?? thinking ?? content ?? '';
};

export const messages: Teller = {
  kinds: Object.keys(blocks),
  tell: (speeches, pick) => [
    typed({ type: 'message_start', message: { ...message, content: [] } } as { type: string }),
    ...mix(
      speeches.map(({ kind, pieces }, index) =>
        [
          { type: 'content_block_start', index, content_block: blocks[kind]?.start },
          ...pieces.map((piece) => ({ type: 'content_block_delta', index, delta: blocks[kind]?.delta(piece) })),
          ...(kind === 'thinking' ? [{ type: 'content_block_delta', index, delta: signature }] : []),
          { type: 'content_block_stop', index },
        ].map(typed),
      ),
      pick,
    ),
    typed({ type: 'message_delta', delta: { stop_reason: 'end_turn' } } as { type: string }),
    typed({ type: 'message_stop' }),
  ],
  answer: (speeches) => ({ ...message, content: speeches.map((one) => blocks[one.kind]?.block(whole(one))) }),
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
};
const signature = { type: 'signature_delta', signature: 'c2lnbmVk' };
