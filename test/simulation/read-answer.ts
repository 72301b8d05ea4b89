import { parsePython, readEvents } from '../support/client-view.ts';
import type { DialectName } from '../support/fixtures.ts';
import type { RequestPlan } from './plan.ts';

/** An answer as a client understands it. */
export interface Understood {
  /** By kind and choice: `text 0`. */
  readonly texts: ReadonlyMap<string, string>;
  readonly end: 'whole' | 'error' | 'open';
  /** What is wrong with it as a stream of its dialect. */
  readonly faults: readonly string[];
  readonly errorMessage?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: what came is checked here
type Value = any;

/** Reads a stream as its dialect says it must be. */
export function readStream(text: string, { dialect, choices }: RequestPlan): Understood {
  const faults: string[] = [];
  const events = readEvents(text, parsePython);
  const rest = text.slice(events.at(-1)?.end ?? 0);
  if (/\S/.test(rest.replace(/^:.*\n\n/gm, ''))) faults.push(`ends with half an event: ${JSON.stringify(rest)}`);
  return { ...readers[dialect](events, faults, choices), faults };
}

type Events = ReturnType<typeof readEvents>;
type Reading = Omit<Understood, 'faults'>;

function createTexts() {
  const texts = new Map<string, string>();
  return {
    texts,
    add(kind: string, text: unknown, place: unknown = 0): void {
      if (typeof text === 'string') texts.set(`${kind} ${place}`, (texts.get(`${kind} ${place}`) ?? '') + text);
    },
  };
}

const readers: Readonly<Record<DialectName, (events: Events, faults: string[], choices: number) => Reading>> = {
  chat(events, faults, choices) {
    const { texts, add } = createTexts();
    const finished = new Set<number>();
    let error: string | undefined;
    let isDone = false;
    for (const { data, value } of events as { data: string; value: Value }[]) {
      if (isDone || error !== undefined) faults.push(`goes on after its end: ${data.slice(0, 80)}`);
      if (data === '[DONE]') isDone = true;
      else if (value.error) error = String(value.error.message);
      else if (value.object !== 'chat.completion.chunk') faults.push(`has no chunk: ${data.slice(0, 80)}`);
      for (const { index, delta, finish_reason: reason } of value?.choices ?? []) {
        if (finished.has(index) && (delta?.content || delta?.tool_calls)) faults.push('a choice goes on after its end');
        add('text', delta?.content, index);
        add('reasoning', delta?.reasoning_content, index);
        for (const call of delta?.tool_calls ?? []) add('call', call.function?.arguments, index);
        if (reason) finished.add(index);
      }
    }
    const isWhole = isDone || finished.size >= choices;
    return {
      texts,
      end: error !== undefined ? 'error' : isWhole ? 'whole' : 'open',
      ...(error !== undefined && { errorMessage: error }),
    };
  },

  messages(events, faults) {
    const { texts, add } = createTexts();
    const open = new Set<number>();
    let state: 'new' | 'begun' | 'ending' | 'whole' | 'error' = 'new';
    let error: string | undefined;
    for (const { type: name, data, value } of events as { type: string | undefined; data: string; value: Value }[]) {
      const { type, index } = value ?? {};
      if (name !== type) faults.push(`an event ${name} holds a ${type}`);
      if (type === 'ping') continue;
      if (state === 'whole' || state === 'error') faults.push(`goes on after its end: ${data.slice(0, 80)}`);
      if (type === 'error') {
        state = 'error';
        error = String(value.error?.message);
      } else if (type === 'message_start') {
        if (state !== 'new') faults.push('begins twice');
        state = 'begun';
      } else if (state === 'new') faults.push(`begins with ${type}`);
      if (type === 'content_block_start') {
        if (open.has(index)) faults.push('a block begins twice');
        open.add(index);
      }
      if (type === 'content_block_delta') {
        if (!open.has(index)) faults.push('a delta of no open block');
        add('text', value.delta.text);
        add('reasoning', value.delta.thinking);
        add('call', value.delta.partial_json);
      }
      if (type === 'content_block_stop' && !open.delete(index)) faults.push('a block ends that is not open');
      if (type === 'message_delta') {
        if (open.size > 0) faults.push('ends with open blocks');
        state = 'ending';
      }
      if (type === 'message_stop') {
        if (state !== 'ending') faults.push('stops without a reason');
        state = 'whole';
      }
    }
    const end = state === 'whole' || state === 'error' ? state : 'open';
    return { texts, end, ...(error !== undefined && { errorMessage: error }) };
  },

  responses(events, faults) {
    const { texts, add } = createTexts();
    let last = -1;
    let end: Understood['end'] = 'open';
    let error: string | undefined;
    for (const { type: name, data, value } of events as { type: string | undefined; data: string; value: Value }[]) {
      if (end !== 'open') faults.push(`goes on after its end: ${data.slice(0, 80)}`);
      const { type, sequence_number: number } = value ?? {};
      if (name !== type) faults.push(`an event ${name} holds a ${type}`);
      if (number !== last + 1 && last >= 0) faults.push(`counts ${number} after ${last}`);
      last = number;
      if (type === 'response.output_text.delta') add('text', value.delta);
      if (type === 'response.reasoning_summary_text.delta') add('reasoning', value.delta);
      if (type === 'response.function_call_arguments.delta') add('call', value.delta);
      if (type === 'error' || type === 'response.failed') {
        end = 'error';
        error = String(value.message ?? value.response?.error?.message);
      }
      if (type === 'response.completed' || type === 'response.incomplete') end = 'whole';
    }
    return { texts, end, ...(error !== undefined && { errorMessage: error }) };
  },
};

/** Reads vectors. An answer that breaks off ends with a line that says so. */
function readVectors(text: string): Understood {
  const { texts, add } = createTexts();
  const faults: string[] = [];
  const [, message] = /\n\{"error":\{"message":"((?:[^"\\]|\\.)*)".*\}$/.exec(text) ?? [];
  if (message !== undefined) return { texts, end: 'error', faults, errorMessage: message };
  const value: Value = parse(text, faults);
  if (!Array.isArray(value.data)) return { texts, end: 'open', faults: [...faults, 'has no vectors'] };
  if (value.model !== 'svc-embedding') faults.push(`is by ${value.model}`);
  for (const [at, { embedding, index }] of value.data.entries()) {
    if (index !== at) faults.push(`has the index ${index} at ${at}`);
    add('vectors', JSON.stringify(embedding));
  }
  add('tokens', JSON.stringify(value.usage?.prompt_tokens));
  return { texts, end: 'whole', faults };
}

/** Reads a whole answer. */
export function readWhole(text: string, { dialect, asks }: RequestPlan): Understood {
  if (asks === 'for vectors') return readVectors(text);
  const { texts, add } = createTexts();
  const faults: string[] = [];
  const value: Value = parse(text, faults);
  const found = {
    chat: () => Array.isArray(value.choices),
    messages: () => value.type === 'message' && Array.isArray(value.content),
    responses: () => value.object === 'response' && Array.isArray(value.output),
  }[dialect]();
  if (!found) return { texts, end: 'open', faults: [...faults, 'is no answer of its dialect'] };
  if (dialect === 'chat') {
    for (const { index, message } of value.choices) {
      add('text', message?.content, index);
      add('reasoning', message?.reasoning_content, index);
      for (const call of message?.tool_calls ?? []) add('call', call.function?.arguments, index);
    }
  } else if (dialect === 'messages') {
    for (const block of value.content) {
      add('text', block.text);
      add('reasoning', block.thinking);
      if (block.type === 'tool_use') add('call', JSON.stringify(block.input));
    }
  } else {
    for (const item of value.output) {
      for (const part of item.content ?? []) add('text', part.text);
      for (const part of item.summary ?? []) add('reasoning', part.text);
      if (item.type === 'function_call') add('call', item.arguments);
    }
  }
  return { texts, end: 'whole', faults };
}

function parse(text: string, faults: string[]): Value {
  try {
    return JSON.parse(text);
  } catch {
    faults.push('is no JSON');
    return {};
  }
}
