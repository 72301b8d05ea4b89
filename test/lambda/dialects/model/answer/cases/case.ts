/** One part of an answer. */
export type Piece =
  | { readonly reasoning: string }
  | { readonly text: string; readonly logprobs?: readonly object[] }
  | { readonly refusal: string }
  | { readonly call: string; readonly args: string; readonly id?: string };

/** A chat stream as some server sends it, and its meaning. */
export interface ChatCase {
  readonly name: string;
  /** Chunks, or lines as they are sent. Unless a line says otherwise, a `[DONE]` follows. */
  readonly chunks: readonly (object | string)[];
  readonly says: readonly Piece[];
  /** `done` if absent. */
  readonly finish?: 'done' | 'length' | 'filtered';
  /** The caller's stop sequence at which the model stops. */
  readonly stop?: string;
  readonly usage?: object | undefined;
}

/** Cases with the same meaning, unless a row says otherwise. */
export const cases = (
  says: ChatCase['says'],
  rows: readonly (readonly [name: string, chunks: ChatCase['chunks'], rest?: Partial<ChatCase>])[],
): readonly ChatCase[] => rows.map(([name, chunks, rest]) => ({ name, chunks, says, usage: usageIn(chunks), ...rest }));

/** The last usage, wherever it is. */
function usageIn(chunks: ChatCase['chunks']): object | undefined {
  return chunks.flatMap((one) => Object(one).usage ?? Object(one).choices?.[0]?.usage ?? []).at(-1);
}

/** A chunk with one choice. */
export const chunk = (delta: object | null, rest: object = {}) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'svc' },
  choices: [{ index: 0, delta, finish_reason: null, ...rest }],
});

export const say = (content: string) => chunk({ content });
export const think = (text: string, name = 'reasoning_content') => chunk({ [name]: text });
export const end = (reason: string | null = 'stop', rest: object = {}) => chunk({}, { finish_reason: reason, ...rest });
export const usageOf = (usage: object) => ({ ...chunk({}), choices: [], usage });

export const tokens = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };
export const counted = usageOf(tokens);

/** A fragment of a call, with only these members. */
export const fragment = (part: { index?: number; id?: string; name?: string; args?: unknown }) => {
  const { name, args, ...rest } = part;
  return {
    ...rest,
    type: 'function',
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  };
};
export const call = (...parts: Parameters<typeof fragment>[0][]) => chunk({ tool_calls: parts.map(fragment) });
/** A whole call or its beginning, and a continuation. */
export const begin = (id: string, index = 0, name = 'weather', args = '') => call({ index, id, name, args });
export const more = (args: string, index = 0) => call({ index, args });
