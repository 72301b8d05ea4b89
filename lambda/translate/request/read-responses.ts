import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { Asking, Reasoning, Turn } from './asking.ts';
import { toSchemaFormat, toText } from './parts.ts';
import type { Reading } from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { readInput } from './responses-items.ts';
import { createResponsesTools } from './responses-tools.ts';
import { createTurns } from './turns.ts';

/** Reads a request of the responses dialect. */
export function* readResponses(reading: Reading): Cooperative<Asking> {
  const { json } = reading;
  const { nodes, raw, raws, string } = reading.take(json.root, fields.request);
  if (raw('background') === 'true') {
    reading.refuse(nodes.background ?? json.root, 'is not supported: nothing is stored. Leave it out.');
  }
  const [turns, tools] = [createTurns(reading), createResponsesTools(reading)];
  const instructions = string('instructions');
  if (instructions !== undefined) turns.add('system', [toText(instructions)]);
  if (nodes.tools !== undefined) yield* tools.read(nodes.tools);
  if (nodes.input !== undefined) yield* readInput({ reading, turns, tools }, nodes.input);
  const { replaysAll, ...reasoning } = readReasoning(reading, nodes.reasoning);
  const format = readText(reading, nodes.text);
  const asksFor = (what: string) => includes(reading, nodes.include, what);
  const asksForLogprobs = asksFor('"message.output_text.logprobs"');
  return {
    stream: raw('stream') === 'true',
    turns: replaysAll ? turns.finish() : withoutOldThoughts(turns.finish()),
    tools: yield* tools.select(nodes.tool_choice),
    oneCall: raw('parallel_tool_calls') === 'false',
    limit: raw('max_output_tokens'),
    sampling: {
      ...raws('temperature', 'top_p', 'presence_penalty', 'frequency_penalty'),
      logprobs: asksForLogprobs || nodes.top_logprobs !== undefined ? 'true' : undefined,
      ...raws('top_logprobs'),
    },
    reasoning,
    format: format === undefined ? undefined : readFormat(reading, format),
    thoughts: { shown: true, sealed: asksFor('"reasoning.encrypted_content"') },
  };
}

function includes(reading: Reading, list: Node | undefined, raw: string): boolean {
  if (list === undefined) return false;
  reading.requireKind(list, 'array');
  return [...reading.json.elements(list)].some((element) => reading.json.raw(element) === raw);
}

function readReasoning(reading: Reading, at: Node | undefined): Reasoning & { readonly replaysAll: boolean } {
  if (at === undefined) return { replaysAll: true };
  const { nodes, raw } = reading.take(at, fields.reasoning);
  const replaysAll = raw('context') !== '"current_turn"';
  const { effort } = nodes;
  if (effort === undefined) return { replaysAll };
  const name = reading.textOf(effort);
  return { replaysAll, wish: name === 'none' ? 'off' : 'on', level: { at: effort, name, exact: true } };
}

/** The format that the text must have. */
function readText(reading: Reading, at: Node | undefined): Node | undefined {
  if (at === undefined) return undefined;
  const { nodes, raw } = reading.take(at, fields.text);
  const { verbosity, format } = nodes;
  // The middle is what a model does without being asked.
  if (verbosity !== undefined && raw('verbosity') !== '"medium"') reading.leftOut.push(verbosity);
  return format;
}

/** Without the thoughts from before the last message of the user. */
function withoutOldThoughts(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  return turns.map((turn, index) => (turn.role === 'assistant' && index < last ? { ...turn, thoughts: [] } : turn));
}

function readFormat(reading: Reading, at: Node): string | undefined {
  const type = reading.typeOf(at);
  const { raw, required, requiredString } = reading.take(at, fields['text.format']);
  if (type === 'text') return undefined;
  if (type === 'json_object') return '{"type":"json_object"}';
  if (type !== 'json_schema') reading.refuseUnknown(at);
  const rest = { description: raw('description'), strict: raw('strict') };
  return toSchemaFormat(requiredString('name'), reading.json.raw(required('schema')), rest);
}
