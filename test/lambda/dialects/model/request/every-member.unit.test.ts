import { describe, expect, test } from '@jest/globals';
import { many } from '../../../../support/properties.ts';
import { createRandom } from '../../../../support/random.ts';
import { makeValue, readDeclarations } from '../../../../support/sdk-types.ts';
import { toUpstream } from './translate.ts';

// biome-ignore lint/suspicious/noExplicitAny: a request of any kind
type Members = Record<string, any>;

interface Subject {
  readonly dialect: 'chat' | 'responses' | 'messages';
  /** The upstream's dialect. */
  readonly spoken: 'chat' | 'messages';
  readonly files: readonly string[];
  readonly type: string;
  /** Types that are always refused, so that few requests would be left to look at. */
  readonly refused: RegExp;
  /** Adds the outputs of calls, and tool names to choices. */
  readonly mend: (request: Members) => void;
  /** Places of members that can't change the answer. */
  readonly ignored: RegExp;
}

/** Members whose values are keywords or booleans. They change the form of what is sent, and have tests of their own. */
const words =
  /(^|\.)(type|role|stream|strict|background|effort|reasoning_effort|context|parallel_tool_calls|tool_choice|function_call|logprobs|mode|execution|syntax|is_error|enabled|disable_parallel_tool_use|media_type|defer_loading|include\[\d+\]|keep(\.value)?)$/;

const ofResponses = {
  dialect: 'responses' as const,
  files: ['openai/resources/responses/responses.d.ts', 'openai/resources/shared.d.ts'],
  type: 'ResponseCreateParamsBase',
  refused:
    /^(file_search|computer|mcp|code_interpreter|programmatic|local_shell|shell|apply_patch|compaction|program|item_reference|configuration|image_generation_call)/,
  mend: mendResponses,
  ignored:
    /^(model|stream_options|truncation|store|metadata|prompt_cache_\w+|safety_identifier|user|service_tier|client_metadata|max_tool_calls|background_options|text\.verbosity|reasoning\.(generate_)?summary)($|\.)|^input\[\d+\](\.content\[\d+\]|\.output\[\d+\])?\.(id|status|phase|detail|annotations|logprobs|prompt_cache_breakpoint|call_id|caller|encrypted_content|summary)($|[.[])|^input\[\d+\]\.(role|name|namespace)$/,
};

const subjects: readonly Subject[] = [
  { ...ofResponses, spoken: 'chat' },
  {
    ...{ ...ofResponses, spoken: 'messages', mend: mendForMessages(mendResponses, 'input') },
    // A schema needs no name there.
    ignored: new RegExp(`${ofResponses.ignored.source}|^text\\.format\\.name$`),
  },
  {
    dialect: 'messages',
    spoken: 'chat',
    files: ['@anthropic-ai/sdk/resources/beta/messages/messages.d.ts'],
    type: 'MessageCreateParamsBase',
    refused:
      /^(server_tool|search_result|container|web_|advisor|code_|bash|text_editor|tool_(search|reference|addition|removal)|mcp|compact|fallback|browser|memory|computer|clear_tool|file$|content$)/,
    mend: mendMessages,
    ignored:
      /^(model|betas|metadata|service_tier|speed|diagnostics|user_profile_id|billing_policy|fallback_credit_token|thinking\.display|clear)($|\.)|(^|\.)(cache_control|caller|eager_input_streaming|citations|signature|tool_use_id|id)($|[.[])|\.source\.(type|media_type)$/,
  },
  {
    dialect: 'chat',
    spoken: 'messages',
    files: ['openai/resources/chat/completions/completions.d.ts', 'openai/resources/shared.d.ts'],
    type: 'ChatCompletionCreateParamsBase',
    refused: /^(custom|input_audio|json_object|image_url|file)$/,
    mend: mendForMessages(mendChat, 'messages'),
    ignored:
      /^(model|prediction|store|metadata|user|service_tier|safety_identifier|prompt_cache_\w+|stream_options)($|\.)|\.(detail$|cache_control|prompt_cache_breakpoint)|\.id$|^response_format\.json_schema\.name$/,
  },
];

const unwanted =
  /^(previous_response_id|conversation|prompt|moderation|context_management|mcp_servers|container|fallbacks|inference_geo|web_search_options|audio|n|modalities)$/;

/** Nested members that can't change the answer: they are ignored without being named, and never refused. */
const unsaid =
  /[.\]](id|status|phase|author|recipient|caller|summary|generate_summary|annotations|logprobs|prompt_cache_breakpoint|cache_control|citations|eager_input_streaming)$|^input\[\d+\]\.(role|name|namespace)$/;

describe.each(subjects)(
  'a request that the SDK of $dialect allows, for an upstream of $spoken',
  ({ dialect, spoken, files, type, refused, mend, ignored }) => {
    const declarations = readDeclarations(files.map((file) => `node_modules/${file}`));

    test('property: no member disappears: each is translated, refused with its place, or named as left out', () => {
      let translated = 0;
      let refusals = 0;
      for (let seed = 1; seed <= many(400); seed += 1) {
        const random = createRandom(seed * 7_919 + Number(process.env.SEED ?? 1));
        const accept = (value: unknown) => random.once(40) || !refused.test(String((value as Members | null)?.type));
        const request = makeValue(declarations, type, { random, rarity: 3, accept }) as Members;
        for (const name of Object.keys(request)) if (unwanted.test(name) && !random.once(40)) delete request[name];
        mend(request);
        undefer(request);
        const sent = attempt(() => toUpstream(spoken, dialect, request));
        if (typeof sent === 'string') {
          refusals += 1;
          const isPlace = placesOf(request).some((place) => sent.startsWith(`${place} `) && !unsaid.test(place));
          expect([seed, isPlace ? '' : sent]).toEqual([seed, '']);
          continue;
        }
        translated += 1;
        const said = sent.leftOut?.split(', ') ?? [];
        if (said.length > 20) continue;
        const missing = scalarsOf(request).filter(
          ([place, value]) =>
            !ignored.test(place) && !isSaid(place, said) && !words.test(place) && !sent.text.includes(String(value)),
        );
        expect([seed, missing]).toEqual([seed, []]);
        expect([seed, said.filter((place) => unsaid.test(place))]).toEqual([seed, []]);
      }
      expect(Math.min(translated, refusals)).toBeGreaterThan(60);
    });
  },
);

/** Removes `defer_loading`: deferred tools are not sent, and have tests of their own. */
function undefer(value: unknown): void {
  for (const [, inner] of walk(value, '')) if (typeof inner === 'object') delete (inner as Members).defer_loading;
}

/** The translation, or the message of its refusal. */
function attempt(translate: () => ReturnType<typeof toUpstream>) {
  try {
    return translate();
  } catch (error) {
    return String((error as Error).message);
  }
}

/** Whether the header names a place, or one that contains it. */
function isSaid(place: string, said: readonly string[]): boolean {
  return said.some((name) => place === name || place.startsWith(`${name}.`) || place.startsWith(`${name}[`));
}

/** Every value that is not null, at any depth, with its place. */
function* walk(value: unknown, place: string): Generator<[place: string, value: unknown]> {
  if (value === null || value === undefined) return;
  if (place !== '') yield [place, value];
  if (Array.isArray(value)) for (const [index, element] of value.entries()) yield* walk(element, `${place}[${index}]`);
  else if (typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) yield* walk(member, place === '' ? name : `${place}.${name}`);
  }
}

const placesOf = (request: Members) => [...walk(request, '')].map(([place]) => place);
const scalarsOf = (request: Members) => [...walk(request, '')].filter(([, value]) => typeof value !== 'object');

const isCall = /^(function|custom_tool|tool_search)_call$/;
const isOutput = /^((function|custom_tool)_call|tool_search)_output$/;

const noted = { id: 'out', status: 'completed', name: 'run', namespace: 'all' };

function mendResponses(request: Members): void {
  if (Array.isArray(request.input)) {
    request.input = request.input
      .filter((item: Members) => !isOutput.test(item.type))
      .flatMap((item: Members, index: number) => {
        const call_id = `call${index}`;
        if (item.type === 'tool_search_call') item.execution = 'client';
        return isCall.test(item.type)
          ? [
              { ...item, call_id },
              { ...noted, type: 'function_call_output', call_id, output: `out${index}` },
            ]
          : [item];
      });
  }
  for (const tool of request.tools ?? []) if (tool.type === 'tool_search') tool.execution = 'client';
  // That wants no reasoning of earlier turns.
  if (request.reasoning?.context === 'current_turn') delete request.reasoning.context;
  const named = request.tools?.find((tool: Members) => tool.type === 'function' || tool.type === 'custom');
  if (request.tool_choice?.name !== undefined) {
    request.tool_choice = named === undefined ? 'auto' : { type: named.type, name: named.name };
  }
}

const cached = { cache_control: { type: 'ephemeral' } };

function mendMessages(request: Members): void {
  const results = (ids: readonly string[]) => ({
    role: 'user',
    content: ids.map((tool_use_id) => ({ ...cached, type: 'tool_result', tool_use_id, content: 'out' })),
  });
  request.messages = [
    ...request.messages.flatMap((message: Members, index: number) => {
      if (!Array.isArray(message.content)) return [message];
      const fits =
        message.role === 'assistant' ? /^(text|tool_use|thinking|redacted_thinking)$/ : /^(text|image|document)$/;
      const content = message.content.filter(({ type }: Members) => fits.test(type));
      const ids: string[] = [];
      for (const [place, block] of content.entries()) {
        if (block.type !== 'tool_use') continue;
        block.id = `use${index}_${place}`;
        ids.push(block.id);
      }
      return [{ ...message, content }, ...(ids.length > 0 ? [results(ids)] : [])];
    }),
    { role: 'user', content: 'end' },
  ];
  const [tool] = request.tools ?? [];
  if (request.tool_choice?.name !== undefined)
    request.tool_choice = tool?.name === undefined ? undefined : { type: 'tool', name: tool.name };
}

/** Messages must end with one of the user, and the temperature is at most 1. */
function mendForMessages(mend: Subject['mend'], history: 'input' | 'messages'): Subject['mend'] {
  return (request) => {
    mend(request);
    const last = { role: 'user', content: 'end' };
    request[history] = Array.isArray(request[history]) ? [...request[history], last] : [last];
    if (request.temperature !== undefined) request.temperature = 0.5;
  };
}

function mendChat(request: Members): void {
  // If two members mean the same, the newer counts.
  if (request.max_completion_tokens !== undefined) delete request.max_tokens;
  if (request.tool_choice !== undefined) delete request.function_call;
  request.messages = [
    ...request.messages.flatMap((message: Members, index: number) => {
      if (message.role === 'tool' || message.role === 'function') return [];
      const calls = message.tool_calls ?? [];
      for (const [place, call] of calls.entries()) {
        call.id = `call${index}_${place}`;
        if (call.function !== undefined) call.function.arguments = JSON.stringify({ a: call.function.arguments });
      }
      return [message, ...calls.map(({ id }: Members) => ({ role: 'tool', tool_call_id: id, content: `out${id}` }))];
    }),
  ];
}
