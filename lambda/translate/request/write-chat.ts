import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { type LeftOut, listLeftOut } from '../left-out.ts';
import type { ChatUpstream } from '../options.ts';
import { createToolTable, type ToolNames } from '../tools.ts';
import type { Asking, Format, Sampling } from './asking.ts';
import { writeMessages } from './chat-messages.ts';
import { writeReasoning } from './chat-reasoning.ts';
import { selectTools, writeTools } from './chat-tools.ts';
import { quote } from './raw.ts';
import { refuse } from './reading.ts';
import { type BodyText, createBodyText, type Writing } from './writing.ts';

/** A request in the words of another dialect. */
export interface Translated {
  /** The body's text in pieces, so that a long one need never be joined. */
  readonly pieces: readonly string[];
  readonly leftOut: LeftOut;
  /** The same as nodes of the client's body. */
  readonly leftOutNodes: ReadonlySet<Node>;
  readonly tools: ToolNames;
}

const longestName = 64;

/** Writes a chat request to the model with this id. Throws a 400 that names the place of what chat can't carry. */
export function* writeChat(asking: Asking, upstream: ChatUpstream, model: string): Cooperative<Translated> {
  const { json, unread } = asking;
  const [unknown] = unread;
  if (upstream.unknown === 'refuse' && unknown !== undefined) {
    refuse(asking, unknown, 'is not supported with this model. Leave it out.');
  }
  const leftOut: Node[] = [...asking.leftOut, ...unread];
  const body = createBodyText();
  const writing: Writing = {
    asking,
    upstream,
    names: createToolTable(longestName),
    body,
    leaveOut: (at) => leftOut.push(at),
  };
  const { add } = body;
  add('{"model":', quote(model), ',"messages":[');
  // First, so that the tools offered have the names before those that are only remembered.
  const selection = yield* selectTools(writing);
  yield* writeMessages(writing);
  add(']');
  yield* writeTools(writing, selection);
  for (const [name, raw] of Object.entries(limitsOf(writing))) if (raw !== undefined) add(`,"${name}":`, raw);
  if (asking.format !== undefined) addFormat(body, asking.format);
  writeReasoning(writing);
  add('}');
  return {
    pieces: body.finish(),
    leftOut: listLeftOut(json, leftOut),
    leftOutNodes: new Set(leftOut),
    tools: writing.names,
  };
}

type Members = Readonly<Record<string, string | undefined>>;

function limitsOf({ asking, upstream }: Writing): Members & Sampling {
  const limit = asking.limit ?? upstream.limit?.toString();
  return {
    [upstream.limitName]: limit,
    ...asking.sampling,
    ...(asking.stream && { stream: 'true' }),
    ...(asking.stream && upstream.streamOptions === 'send' && { stream_options: '{"include_usage":true}' }),
  };
}

function addFormat({ add }: BodyText, format: Format): void {
  if (format.kind === 'json') {
    add(',"response_format":{"type":"json_object"}');
    return;
  }
  const { name, description, schema, strict } = format;
  add(',"response_format":{"type":"json_schema","json_schema":{"name":', name);
  if (description !== undefined) add(',"description":', description);
  add(',"schema":', schema);
  if (strict !== undefined) add(',"strict":', strict);
  add('}}');
}
