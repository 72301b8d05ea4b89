import { hash } from 'node:crypto';
import { createScanner } from '../../json/scan.ts';
import { JsonFault, JsonLimit } from '../../json/tokens.ts';
import {
  type AssistantTurn,
  inside,
  isCall,
  type Part,
  type Raw,
  type ToolCall,
  type ToolResult,
} from '../model/request/model-request.ts';
import { refuse } from '../model/request/refuse-item.ts';
import { toText } from '../model/request/request-reader.ts';
import type { BodyText, RequestWriter } from '../model/request/request-writer.ts';
import { listFound } from '../model/request/select-tools.ts';
import { isBlank, type Message } from './arrange-turns.ts';
import type { MarkOf } from './cache-marks.ts';
import { ownId } from './call-ids.ts';

/** The state of writing one conversation. */
interface TurnWriter extends RequestWriter {
  readonly idOf: (call: ToolCall) => Raw;
  readonly markOf: MarkOf;
}

/** Makes the ids of calls valid and unique. Ids of other servers may not be valid, and repeat if calls are numbered per turn. */
function createCallIds() {
  const uses = new Map<Raw, number>();
  const ids = new Map<ToolCall, Raw>();
  return (call: ToolCall): Raw => {
    const known = ids.get(call);
    if (known !== undefined) return known;
    const own: Raw = `"${ownId(inside(call.id))}"`;
    const before = uses.get(own) ?? 0;
    uses.set(own, before + 1);
    const isValid = before === 0 && /^"[\w-]+"$/.test(own);
    const id = isValid ? own : `"call_${hash('sha256', `${before || ''}${call.id}`).slice(0, 32)}"`;
    ids.set(call, id);
    return id;
  };
}

/** Writes the instructions and the messages: results right after their calls, never two messages of the assistant in a row. */
export function writeTurns(parts: RequestWriter, arranged: readonly Message[], markOf: MarkOf): void {
  const writer: TurnWriter = { ...parts, idOf: createCallIds(), markOf };
  const { request, body } = writer;
  const [instructions] = arranged;
  if (instructions?.role === 'system') {
    body.add(',"system":');
    writeBlocks(writer, instructions);
  }
  const messages = instructions?.role === 'system' ? arranged.slice(1) : arranged;
  const last = messages.at(-1);
  if (last === undefined || last.role === 'assistant') {
    refuse(request, request.json.root, 'must end with a message of the user that is not empty.');
  }
  body.add(',"messages":[');
  for (const [index, message] of messages.entries()) {
    body.add(index > 0 ? ',' : '', `{"role":"${message.role}","content":`);
    if (message.role === 'assistant') writeTurn(writer, message.turn);
    else writeBlocks(writer, message);
    body.add('}');
  }
  body.add(']');
}

interface Blocks {
  readonly results?: readonly ToolCall[];
  readonly parts: readonly Part[];
}

/** Writes the blocks of a message, results first. */
function writeBlocks(writer: TurnWriter, { results = [], parts }: Blocks): void {
  const { body, markOf } = writer;
  let left = results.length + parts.length;
  const end = (block: Part | ToolResult | undefined) => {
    left -= 1;
    body.add(markOf(block), left > 0 ? '},' : '}');
  };
  body.add('[');
  for (const call of results) {
    writeResult(writer, call);
    end(call.result);
  }
  for (const part of parts) {
    addPart(writer, part);
    end(part);
  }
  body.add(']');
}

/** Returns a function that adds a comma before each element but the first. */
function createSeparator({ add }: BodyText) {
  let isFirst = true;
  return () => {
    if (!isFirst) add(',');
    isFirst = false;
  };
}

/** Adds the result of a call, without its closing brace. */
function writeResult(writer: TurnWriter, call: ToolCall): void {
  const { body, idOf } = writer;
  const { parts = [], failed = false, found } = call.result ?? {};
  const given: readonly Part[] = found === undefined ? parts : [toText(listFound(writer, found))];
  body.add('{"type":"tool_result","tool_use_id":', idOf(call));
  const shown = given.filter((part) => part.kind !== 'text' || !isBlank(part.text));
  if (shown.length > 0) {
    body.add(',"content":');
    writeBlocks(writer, { parts: shown });
  }
  if (failed) body.add(',"is_error":true');
}

/** Adds a block without its closing brace, as a cache mark may follow. */
function addPart({ request, body: { add } }: RequestWriter, part: Part): void {
  if (part.kind === 'text') add('{"type":"text","text":', part.text);
  else if (part.kind === 'audio') refuse(request, part.at, "is audio, which this model can't hear. Send text.");
  else if (part.kind === 'image') {
    const [head, type = ''] = /^"data:([\w.+/-]{1,60});base64,/.exec(part.url.slice(0, 100)) ?? [];
    if (head !== undefined) add(...base64Block('image', type, `"${part.url.slice(head.length)}`));
    else if (/^"https?:/.test(part.url)) add('{"type":"image","source":{"type":"url","url":', part.url, '}');
    else refuse(request, part.at, 'is no image in base64 and no http(s) URL. Send one.');
  } else {
    const [head] = /^"data:application\/pdf;base64,/.exec(part.data.slice(0, 100)) ?? [];
    if (head === undefined) refuse(request, part.at, 'is no PDF as a data URL in base64. Send a PDF, or text.');
    add(...base64Block('document', 'application/pdf', `"${part.data.slice(head.length)}`));
    if (part.name !== undefined) add(',"title":', part.name);
  }
}

const base64Block = (kind: string, type: string, data: Raw): Raw[] => [
  `{"type":"${kind}","source":{"type":"base64","media_type":"${type}","data":`,
  data,
  '}',
];

/** Writes a turn of the assistant in its original order, because the provider verifies signatures against it. */
function writeTurn(writer: TurnWriter, { content, reasoning }: AssistantTurn): void {
  if (reasoning.length > 0) writer.noteReasoning();
  const { body, names, idOf, markOf } = writer;
  const separate = createSeparator(body);
  let next = 0;
  const addReasoning = (before: number) => {
    for (
      let reasoningBlock = reasoning[next];
      reasoningBlock && reasoningBlock.after <= before;
      reasoningBlock = reasoning[next]
    ) {
      next += 1;
      for (const block of reasoningBlock.signed ?? []) {
        separate();
        body.add(block);
      }
    }
  };
  body.add('[');
  for (const [index, one] of content.entries()) {
    addReasoning(index);
    if (isCall(one)) {
      separate();
      body.add('{"type":"tool_use","id":', idOf(one), `,"name":${JSON.stringify(names.nameOf(one.tool))},"input":`);
      body.add(inputOf(writer, one), markOf(one), '}');
    } else if (!isBlank(one.text)) {
      separate();
      body.add('{"type":"text","text":', one.text, markOf(one), '}');
    }
  }
  body.add(']');
}

/** The arguments of a call as an object. */
function inputOf({ request }: RequestWriter, { at, form, given }: ToolCall): Raw {
  if (form === 'input') return `{"input":${given}}`;
  const text: string = form === 'string' ? JSON.parse(given) : given;
  if (form === 'string' && /^\s*$/.test(text)) return '{}';
  try {
    const json = createScanner().scan(text);
    if (json.kind(json.root) === 'object') return text;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    if (error instanceof JsonLimit) {
      return refuse(request, at, `has arguments that exceed a limit of the gateway: ${error.message}. Send fewer.`);
    }
  }
  return refuse(request, at, 'has arguments that are no JSON object. Send the object that the tool was called with.');
}
