import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { knownItems } from '../../../../../lambda/dialects/responses/read-items.ts';
import { toUpstream } from './translate.ts';

/** The `type`s of a union's members in a package's declarations. */
function typesOf(file: string, union: string): string[] {
  const source = readFileSync(`node_modules/${file}`, 'utf8');
  const [, members = ''] = new RegExp(`export type ${union} = ([^;]+);`).exec(source) ?? [];
  return members.split('|').flatMap((member) => {
    const name = member.trim().split('.').at(-1);
    const [, body = ''] =
      new RegExp(`\\n( *)(?:export )?interface ${name} \\{\\n([^]*?)\\n\\1\\}`).exec(source)?.slice(1) ?? [];
    return /^ +type: '(\w+)'/m.exec(body)?.[1] ?? [];
  });
}

const leftOut = (spoken: 'chat' | 'messages', dialect: 'chat' | 'responses' | 'messages', request: object) => {
  try {
    return toUpstream(spoken, dialect, request).leftOut;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('only types that the SDKs don’t know are left out as unknown: the content of others is translated or refused', () => {
  const blocks = typesOf('@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', 'BetaContentBlockParam');
  const translated = /^(text|image|document|(redacted_)?thinking|tool_(use|result))$/;
  test.each(['user', 'assistant', 'system'])('blocks of messages, of %s', (role) => {
    expect(blocks.length).toBeGreaterThan(20);
    for (const type of blocks.filter((type) => !translated.test(type) && !(role === 'system' && /^tool_/.test(type)))) {
      const messages = [
        { role, content: [{ type }] },
        { role: 'user', content: 'go' },
      ];
      expect(leftOut('chat', 'messages', { messages })).toMatch(`messages[0].content[0] (${type}) `);
    }
  });

  const items = typesOf('openai/resources/responses/responses.d.ts', 'ResponseInputItem');
  test('items of responses', () => {
    expect(items.length).toBeGreaterThan(25);
    for (const type of items.filter((type) => !knownItems.includes(type))) {
      expect(leftOut('chat', 'responses', { input: [{ type }] })).toMatch(`input[0] (${type}) `);
    }
  });

  const parts = ['input_image', 'input_video', 'video_url', 'image', 'video', 'output_audio', 'computer_screenshot'];
  test.each(parts)('the part %s', (type) => {
    const content = [{ type: 'text', text: 'a' }, { type }];
    const said = [
      leftOut('messages', 'chat', {
        messages: [
          { role: 'assistant', content },
          { role: 'user', content: 'go' },
        ],
      }),
      leftOut('chat', 'responses', { input: [{ role: 'assistant', content }] }),
    ];
    expect(said).toContainEqual(
      expect.stringMatching(/content\[1\] \(\w+\) can't stand in a message of the assistant/),
    );
  });
});
