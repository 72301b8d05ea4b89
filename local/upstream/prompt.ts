import { asObject, asObjects, asText, type JsonObject } from './json.ts';

/** One turn of a conversation, in any dialect. */
export interface Turn extends Content {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
}

interface Content {
  readonly text: string;
  readonly images: number;
  readonly videos: number;
}

export interface Tool {
  readonly name: string;
  readonly schema: JsonObject;
}

/** The parameters of a request, without its conversation. */
export interface Wishes {
  /** How many answers are asked for at once. */
  readonly choices: number;
  readonly tools: readonly Tool[];
  readonly choice: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallel: boolean;
  /** The JSON schema that the answer must fit. */
  readonly format: JsonObject | undefined;
  readonly thinks: boolean;
  readonly maxTokens: number;
  readonly stop: readonly string[];
}

/** The parts of a request that determine the answer, in any dialect. */
export interface Prompt extends Wishes {
  /** The last thing that the user wrote. */
  readonly text: string;
  readonly images: number;
  readonly videos: number;
  /** The results of tools, if the conversation ends with them. */
  readonly toolResults: readonly string[];
  readonly inputTokens: number;
}

/** Reads only the end of a conversation, as only that is answered. */
export function createPrompt(turns: readonly Turn[], wishes: Wishes): Prompt {
  const talk = turns.map(withoutNotes).filter(saysSomething);
  const lastSpoken = talk.findLastIndex((turn) => turn.role !== 'tool');
  const toolResults = talk.slice(lastSpoken + 1).map((turn) => turn.text);
  const user = talk.findLast((turn) => turn.role === 'user');
  const characters = turns.map((turn) => turn.text).join('').length + JSON.stringify(wishes.tools).length;
  const media = turns.reduce((sum, turn) => sum + turn.images + turn.videos, 0);
  return {
    ...wishes,
    text: user?.text ?? '',
    images: user?.images ?? 0,
    videos: user?.videos ?? 0,
    toolResults,
    inputTokens: Math.ceil(characters / 4) + turns.length * 3 + media * 85,
  };
}

/** The tags in which agents describe their environment to a model, in place of a user's words or beside them. */
const notes = /<(system-reminder|environment_context|user_instructions)>[\s\S]*?<\/\1>/g;

function withoutNotes(turn: Turn): Turn {
  return turn.role === 'user' ? { ...turn, text: turn.text.replace(notes, '').trim() } : turn;
}

/** Whether a turn belongs to the conversation, rather than being a note from an agent or operator. */
function saysSomething({ role, text, images, videos }: Turn): boolean {
  return role === 'user' ? text !== '' || images + videos > 0 : role !== 'system';
}

/** Reads text and images of a message in any dialect: a string, or parts, whose types end in the same few words. */
export function readContent(content: unknown): Content {
  if (typeof content === 'string') return { text: content, images: 0, videos: 0 };
  const parts = asObjects(content);
  const partsOfType = (pattern: RegExp) => parts.filter((part) => pattern.test(asText(part.type)));
  return {
    text: partsOfType(/text$/)
      .map((part) => asText(part.text))
      .join('\n'),
    images: partsOfType(/image(_url)?$/).length,
    videos: partsOfType(/video(_url)?$/).length,
  };
}

/** `tool_choice` as the dialects spell it: a word, `{type}`, `{type, name}` or `{type, function: {name}}`. */
export function readChoice(choice: unknown): Wishes['choice'] {
  const name = asText(asObject(choice).name) || asText(asObject(asObject(choice).function).name);
  if (name) return { name };
  const word = asText(choice) || asText(asObject(choice).type);
  if (word === 'none') return 'none';
  return word === 'required' || word === 'any' ? 'required' : 'auto';
}

/** `{type: 'json_object'}`, `{type: 'json_schema', json_schema: {schema}}`, or the schema beside the type. */
export function readFormat(format: unknown): JsonObject | undefined {
  const { type, schema, json_schema: wrapped } = asObject(format);
  if (type === 'json_schema') return asObject(schema ?? asObject(wrapped).schema);
  return type === 'json_object' ? { type: 'object', properties: { answer: { type: 'string' } } } : undefined;
}

export const readLimit = (limit: unknown): number => (typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY);
