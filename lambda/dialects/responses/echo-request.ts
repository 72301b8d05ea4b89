import { changeMembers, editPart } from '../../json/edit.ts';
import { elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';

/** What a response repeats of its request, and what stands there where the request says nothing. */
const repeated: Readonly<Record<string, string>> = {
  instructions: 'null',
  metadata: '{}',
  tool_choice: '"auto"',
  parallel_tool_calls: 'true',
  truncation: '"disabled"',
  temperature: '1',
  top_p: '1',
  top_logprobs: '0',
  presence_penalty: '0',
  frequency_penalty: '0',
  max_output_tokens: 'null',
  max_tool_calls: 'null',
  safety_identifier: 'null',
  prompt_cache_key: 'null',
};

/** What holds for every response of this gateway, whatever was asked. */
const settled = '"previous_response_id":null,"background":false,"store":false,"service_tier":"default"';

/**
 * The members of a request that its response repeats, as JSON without the braces, on one line: as bytes, so that they are held once,
 * however often they are written. Tools that were left out of the translated request are not repeated.
 */
export function echoOf(body: Json, leftOut: ReadonlySet<Node>): readonly Buffer[] {
  const askedOr = (object: Node | undefined, name: string, otherwise: string): string => {
    const value = presentMember(body, object, name);
    return value === undefined ? otherwise : body.raw(value);
  };
  const [text, reasoning] = [body.member(body.root, 'text'), body.member(body.root, 'reasoning')];
  const tools: string[] = [];
  for (const tool of elements(body, body.member(body.root, 'tools'))) {
    if (!leftOut.has(tool)) tools.push(completeTool(body, tool));
  }
  const user = presentMember(body, body.root, 'user');
  const members = [
    settled,
    ...Object.entries(repeated).map(([name, otherwise]) => `"${name}":${askedOr(body.root, name, otherwise)}`),
    `"tools":[${tools.join(',')}]`,
    `"text":{"format":${formatOf(body, presentMember(body, text, 'format'))},"verbosity":"medium"}`,
    `"reasoning":{"effort":${askedOr(reasoning, 'effort', 'null')},"summary":${askedOr(reasoning, 'summary', 'null')}}`,
    ...(user === undefined ? [] : [`"user":${body.raw(user)}`]),
  ];
  return [toOneLine(Buffer.from(members.join(',')))];
}

/** A line end can only stand between two tokens, and must not end a line of an event. */
function toOneLine(json: Buffer): Buffer {
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === lineFeed || json[at] === carriageReturn) json[at] = space;
  }
  return json;
}

const [lineFeed, carriageReturn, space] = [10, 13, 32];

/** Readers ask for all members of a function, also where the request left them out. */
function completeTool(body: Json, tool: Node): string {
  if (stringMember(body, tool, 'type') !== 'function') return body.raw(tool);
  return complete(body, tool, { description: 'null', parameters: 'null', strict: 'null' });
}

/** The same for a schema. Its readers want a text and a truth value, and no null. */
function formatOf(body: Json, format: Node | undefined): string {
  if (format === undefined) return '{"type":"text"}';
  if (stringMember(body, format, 'type') !== 'json_schema') return body.raw(format);
  return complete(body, format, { description: '""', strict: 'false' });
}

/** The object, with these members where it has none of the name, or null. */
function complete(body: Json, object: Node, members: Readonly<Record<string, string>>): string {
  const missing = Object.entries(members).filter(([name]) => presentMember(body, object, name) === undefined);
  const edits = changeMembers(body, object, { set: Object.fromEntries(missing) });
  return editPart(body.text, { start: body.start(object), end: body.end(object) }, edits);
}
