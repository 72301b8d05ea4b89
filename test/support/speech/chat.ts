import { mix, type Teller, type WireEvent, whole } from './teller.ts';

/** Chat: each speech is the text of its own choice. */
const chatDelta: Readonly<Record<string, (text: string) => object>> = {
  content: (text) => ({ content: text }),
  refusal: (text) => ({ refusal: text, content: null }),
  reasoning_content: (text) => ({ reasoning_content: text, content: '' }),
  reasoning: (text) => ({ reasoning: text, role: 'assistant' }),
  details: (text) => ({ reasoning_details: [{ type: 'reasoning.text', index: 2, format: 'f-1', text }] }),
  summary: (text) => ({ reasoning_details: [{ type: 'reasoning.summary', summary: text, index: 0 }] }),
  parts: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
  transcript: (text) => ({ audio: { id: 'audio-1', transcript: text } }),
  unknown: (text) => ({ mood: text, status: 'at' }),
};

const chunk = (index: number, delta: object, finish: string | null = null): WireEvent => ({
  data: {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'acmecorp/thunder-70b-instruct',
    choices: [{ index, delta, finish_reason: finish }],
  },
});

/** The text of a chat delta, in whichever field. */
function textIn(delta: unknown): string {
  const { content, refusal, reasoning, reasoning_content, reasoning_details, audio, mood } = Object(delta);
  const [detail] = reasoning_details ?? [];
  const part = Array.isArray(content) ? content[0].thinking[0].text : content;
  return (
    (part || '') +
    (refusal ?? reasoning ?? reasoning_content ?? detail?.text ?? detail?.summary ?? audio?.transcript ?? mood ?? '')
  );
}

export const chat: Teller = {
  kinds: Object.keys(chatDelta),
  tell: (speeches, pick) => [
    ...mix(
      speeches.map(({ kind, pieces }, index) => [
        ...pieces.map((piece) => chunk(index, chatDelta[kind]?.(piece) ?? {})),
        chunk(index, {}, 'stop'),
      ]),
      pick,
    ),
    { data: '[DONE]' },
  ],
  answer: (speeches) => ({
    model: 'acmecorp/thunder-70b-instruct',
    choices: speeches.map((speech, index) => ({ index, message: chatDelta[speech.kind]?.(whole(speech)) })),
  }),
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
};
