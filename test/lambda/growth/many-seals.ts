import type { DialectName } from '../../../lambda/dialects/names.ts';

const user = { role: 'user', content: 'a' };
const reasoning: Readonly<Record<DialectName, object | undefined>> = {
  chat: { role: 'assistant', content: '', reasoning_details: [{ type: 'reasoning.encrypted', data: 'svc1.a' }] },
  responses: { type: 'reasoning', summary: [], encrypted_content: 'svc1.a' },
  messages: { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 'svc1.a' }] },
  embeddings: undefined,
};

/** A request of a dialect in which each second item is a sealed thought, in a text of about so many characters. */
export function manySeals(dialect: DialectName) {
  const reasoningBlock = reasoning[dialect];
  if (!reasoningBlock) return [];
  const part = `${JSON.stringify(user)},${JSON.stringify(reasoningBlock)}`;
  const history = dialect === 'responses' ? 'input' : 'messages';
  const text = (size: number) =>
    `{"model":"svc","max_tokens":1,"${history}":[${part},`.concat(
      `${part},`.repeat(Math.floor(size / part.length) - 3),
      `${JSON.stringify(user)}]}`,
    );
  return [{ name: 'each second item is a sealed thought', text }];
}
