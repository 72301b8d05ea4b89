import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { DialectName } from '../support/fixtures.ts';

// The SDK does not know this model, and warns with every request.
globalThis.AI_SDK_LOG_WARNINGS = false;

type Provider = (baseURL: string, key: string) => (model: string) => LanguageModel;

const compatible: Provider = (baseURL, apiKey) =>
  createOpenAICompatible({ name: 'svc', baseURL, apiKey, supportsStructuredOutputs: true }).chatModel;

/** The ai SDK's providers for this gateway, with their dialects. */
export const aiProviders: [name: string, Provider, DialectName][] = [
  ['OpenAI (chat)', (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }).chat, 'chat'],
  ['OpenAI (responses)', (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }).responses, 'responses'],
  ['OpenAI-compatible', compatible, 'chat'],
  ['Anthropic', (baseURL, apiKey) => createAnthropic({ baseURL, apiKey }), 'messages'],
];
