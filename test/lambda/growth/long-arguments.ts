import type { DialectName } from '../../../lambda/dialects/names.ts';

const user = { role: 'user', content: 'a' };
const mark = '\u2603';

/** Requests that hold calls whose arguments are this text. */
const calling: Readonly<Record<DialectName, object | undefined>> = {
  chat: {
    ...{ model: 'svc', max_tokens: 1 },
    messages: [
      user,
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: mark } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'a' },
    ],
  },
  responses: {
    model: 'svc',
    input: [
      user,
      { type: 'function_call', call_id: 'a', name: 'f', arguments: mark },
      { type: 'function_call_output', call_id: 'a', output: 'a' },
    ],
  },
  messages: undefined,
  embeddings: undefined,
};

/** Requests of a dialect whose arguments are JSON of very many values, in a text of about so many characters. */
export function longArguments(dialect: DialectName) {
  const request = calling[dialect];
  if (!request) return [];
  const around = JSON.stringify(request);
  return ['1,', '{\\"b\\":1},', '\\"ab\\",'].map((value) => ({
    name: `arguments of ${value}`,
    text: (size: number) => {
      const values = value.repeat(Math.floor((size - around.length - 20) / value.length));
      return around.replace(mark, () => `{\\"a\\":[${values}1]}`);
    },
  }));
}
