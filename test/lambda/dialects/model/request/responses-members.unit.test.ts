import { describe, expect, test } from '@jest/globals';
import type { UpstreamOptions } from '../../../../../lambda/dialects/model/request/request-writer.ts';
import { refusalOf, toChat } from './translate.ts';

const schema = { type: 'object', properties: { z: {}, a: {} } };
const format = (value: object) => ({ text: { format: value } });

describe('the members of a responses request', () => {
  test.each<[more: object, written: object, leftOut?: string]>([
    [
      { temperature: 0.5, top_p: 1, presence_penalty: 0, frequency_penalty: -1 },
      { temperature: 0.5, top_p: 1, presence_penalty: 0, frequency_penalty: -1 },
    ],
    [{ temperature: null, tools: null, reasoning: null, metadata: null }, {}],
    [{ max_output_tokens: 100 }, { max_tokens: 100 }],
    [
      { stream: true, stream_options: { include_obfuscation: false } },
      { stream: true, stream_options: { include_usage: true } },
    ],
    [{ include: ['message.output_text.logprobs', 'reasoning.encrypted_content'] }, { logprobs: true }],
    [
      { top_logprobs: 3, stream: false },
      { logprobs: true, top_logprobs: 3 },
    ],
    [format({ type: 'json_object' }), { response_format: { type: 'json_object' } }],
    [
      format({ type: 'json_schema', name: 'n', schema }),
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } },
    ],
    [
      format({ type: 'json_schema', name: 'n', description: 'd', schema, strict: true }),
      { response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema, strict: true } } },
    ],
    [{ text: { verbosity: 'low' } }, {}, 'text.verbosity'],
    [{ novelty: { deep: true }, text: { rhyme: true } }, {}, 'novelty, text.rhyme'],
  ])('%j', (...[more, written, leftOut]) => {
    const { body, leftOut: said } = toChat('responses', { model: 'svc', input: 'go', ...more });
    expect(body).toEqual({ model: 'up-model', messages: [{ role: 'user', content: 'go' }], ...written });
    expect(said).toBe(leftOut);
  });

  test('numbers keep their spelling', () => {
    const { text } = toChat('responses', '{"model":"svc","input":"go","temperature":0.10,"max_output_tokens":1e3}');
    expect(text).toContain('"max_tokens":1e3,"temperature":0.10');
  });

  test('the last of repeated members counts, even if it is null', () => {
    const { body, leftOut } = toChat(
      'responses',
      '{"model":"a","input":"a","top_p":1,"input":"b","top_p":null,"x":1,"x":2}',
    );
    expect(body).toEqual({ model: 'up-model', messages: [{ role: 'user', content: 'b' }] });
    expect(leftOut).toBe('x');
  });
});

describe('the settings of an upstream', () => {
  test.each<[upstream: Partial<UpstreamOptions>, more: object, written: object]>([
    [{ limitName: 'max_completion_tokens' }, { max_output_tokens: 5 }, { max_completion_tokens: 5 }],
    [{ limit: 9 }, {}, { max_tokens: 9 }],
    [{ streamOptions: 'omit' }, { stream: true }, { stream: true }],
  ])('%j makes %j', (upstream, more, written) => {
    const { body } = toChat('responses', { model: 'svc', input: 'go', ...more }, upstream);
    expect(body).toEqual({ model: 'up-model', messages: [{ role: 'user', content: 'go' }], ...written });
  });

  test('unknown members are refused, if configured', () => {
    const message = refusalOf('responses', { model: 'svc', input: 'go', novelty: 1 }, { unknown: 'refuse' });
    expect(message).toBe('novelty is not supported with this model. Leave it out.');
  });
});

describe('the reasoning effort of a responses request', () => {
  const named = { reasoning: 'reasoning_effort' } as const;
  test.each<[upstream: Partial<UpstreamOptions>, reasoning: object, written: object, leftOut?: string]>([
    [{}, { effort: 'high', summary: 'auto' }, {}, 'reasoning.effort'],
    [named, { effort: 'low' }, { reasoning_effort: 'low' }],
    [named, { effort: 'xhigh' }, { reasoning_effort: 'high' }, 'reasoning.effort'],
    [named, { effort: 'none' }, { reasoning_effort: 'low' }, 'reasoning.effort'],
    [named, { effort: 'utmost' }, {}, 'reasoning.effort'],
    [{ ...named, levels: ['high', 'low'] }, { effort: 'medium' }, { reasoning_effort: 'low' }, 'reasoning.effort'],
    [{ reasoning: 'thinking' }, { effort: 'none' }, { thinking: { type: 'disabled' } }],
    [{ reasoning: 'enable_thinking' }, { effort: 'none' }, { enable_thinking: false }],
  ])('%j, asked %j', (...[upstream, reasoning, written, leftOut]) => {
    const { body, leftOut: said } = toChat('responses', { model: 'svc', input: 'go', reasoning }, upstream);
    expect(body).toEqual({ model: 'up-model', messages: [{ role: 'user', content: 'go' }], ...written });
    expect(said).toBe(leftOut);
  });
});

test('the answer’s reasoning is sealed if the client asks for it', () => {
  const reasoning = (include?: string[]) => toChat('responses', { model: 'svc', input: 'go', include }).reasoning;
  expect(reasoning(['reasoning.encrypted_content'])).toEqual({ shown: true, sealed: true });
  expect(reasoning()).toEqual({ shown: true, sealed: false });
});

describe('members that are refused', () => {
  const unsupported = 'is not supported with this model:';
  test.each<[more: object, message: string]>([
    [
      { prompt: { id: 'pmpt_1' } },
      `prompt ${unsupported} its template is stored elsewhere. Send instructions and input.`,
    ],
    [{ moderation: {} }, `moderation ${unsupported} nothing here moderates. Leave it out.`],
    [
      { context_management: [] },
      `context_management ${unsupported} nothing here shortens a history. Send the history as the model is to read it.`,
    ],
    [format({ type: 'haiku' }), "text.format (haiku) is of a kind that this model can't take. Leave it out."],
    [{ include: 'all' }, 'include must be an array, not a string.'],
  ])('%j', (more, message) => {
    expect(refusalOf('responses', { model: 'svc', input: 'go', ...more })).toBe(message);
  });
});
