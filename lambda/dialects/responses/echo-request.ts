import { changeMembers, editPart } from '../../json/edit.ts';
import { elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';

/** The members of a request that its response repeats, with their defaults. */
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

/** The same in every response of this gateway, whatever the request says. */
const constants = '"previous_response_id":null,"background":false,"store":false,"service_tier":"default"';

/**
 * The members of a request that its response repeats, as JSON without the braces, on one line. As bytes, so that they are in memory only
 * once, however often they are written. Tools that were left out of the translated request are not repeated.
 */
export function echoOf(body: Json, leftOut: ReadonlySet<Node>): readonly Buffer[] {
  const valueOr = (object: Node | undefined, name: string, otherwise: string): string => {
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
    constants,
    ...Object.entries(repeated).map(([name, otherwise]) => `"${name}":${valueOr(body.root, name, otherwise)}`),
    `"tools":[${tools.join(',')}]`,
    `"text":{"format":${formatOf(body, presentMember(body, text, 'format'))},"verbosity":"medium"}`,
    `"reasoning":{"effort":${valueOr(reasoning, 'effort', 'null')},"summary":${valueOr(reasoning, 'summary', 'null')}}`,
    ...(user === undefined ? [] : [`"user":${body.raw(user)}`]),
  ];
  return [toOneLine(Buffer.from(members.join(',')))];
}

/** Replaces line breaks, which would end a line of an event. In JSON, they can only stand between tokens. */
function toOneLine(json: Buffer): Buffer {
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === lineFeed || json[at] === carriageReturn) json[at] = space;
  }
  return json;
}

const [lineFeed, carriageReturn, space] = [10, 13, 32];

/** Clients require all members of a function, even those that the request left out. */
function completeTool(body: Json, tool: Node): string {
  if (stringMember(body, tool, 'type') !== 'function') return body.raw(tool);
  return withDefaults(body, tool, { description: 'null', parameters: 'null', strict: 'null' });
}

/** The same for a schema, where clients require a string and a boolean, not null. */
function formatOf(body: Json, format: Node | undefined): string {
  if (format === undefined) return '{"type":"text"}';
  if (stringMember(body, format, 'type') !== 'json_schema') return body.raw(format);
  return withDefaults(body, format, { description: '""', strict: 'false' });
}

/** The object, with these members added if they are missing or null. */
function withDefaults(body: Json, object: Node, members: Readonly<Record<string, string>>): string {
  const missing = Object.entries(members).filter(([name]) => presentMember(body, object, name) === undefined);
  const edits = changeMembers(body, object, { set: Object.fromEntries(missing) });
  return editPart(body.text, { start: body.start(object), end: body.end(object) }, edits);
}
