import {
  type Format,
  type ModelRequest,
  nearestLevel,
  quote,
  type Raw,
  type ToolDefinition,
} from '../model/request/model-request.ts';
import {
  type RequestWriter,
  type UpstreamOptions,
  type WrittenRequest,
  writeRequest,
} from '../model/request/request-writer.ts';
import { descriptionOf, type Selection, schemaOf, selectTools } from '../model/request/select-tools.ts';
import { writeTurns } from './write-turns.ts';

const longestName = 64;

/** Writes a chat request for an upstream. `model`: the upstream's id. Throws a 400 that names the place of what chat can't express. */
export const writeChatRequest = (request: ModelRequest, upstream: UpstreamOptions, model: string): WrittenRequest =>
  writeRequest({ request, upstream, longestName }, (writer) => {
    const { add } = writer.body;
    const { format } = request;
    add('{"model":', quote(model), ',"messages":[');
    // First, so that offered tools get their names before tools that only occur in the history.
    const selection = selectTools(writer);
    writeTurns(writer);
    add(']');
    writeTools(writer, selection);
    for (const [name, raw] of Object.entries(limitsOf(writer))) if (raw !== undefined) add(`,"${name}":`, raw);
    if (format === 'json') add(',"response_format":{"type":"json_object"}');
    else if (format !== undefined) addSchema(writer, format);
    writeReasoning(writer);
    add('}');
  });

/** Adds the members that offer tools; nothing if there are none. */
function writeTools({ request, body }: RequestWriter, { tools, choice }: Selection): void {
  if (tools.length === 0) return;
  for (const [index, [name, tool]] of tools.entries()) {
    body.add(index === 0 ? ',"tools":[' : ',', ...writeFunction(name, tool));
  }
  body.add(']');
  if (choice?.forced !== undefined) {
    body.add(`,"tool_choice":{"type":"function","function":{"name":${quote(choice.forced)}}}`);
  } else if (choice !== undefined) body.add(',"tool_choice":', quote(choice.mode));
  if (request.oneCall) body.add(',"parallel_tool_calls":false');
}

function writeFunction(name: string, tool: ToolDefinition): Raw[] {
  const description = descriptionOf(tool);
  return [
    `{"type":"function","function":{"name":${quote(name)}`,
    ...(description === undefined ? [] : [',"description":', description]),
    ',"parameters":',
    schemaOf(tool),
    ...(tool.strict === undefined ? [] : [',"strict":', tool.strict]),
    '}}',
  ];
}

function limitsOf({ request, upstream }: RequestWriter): ModelRequest['sampling'] {
  const limit = request.limit ?? upstream.limit?.toString();
  return {
    [upstream.limitName]: limit,
    ...request.sampling,
    ...(request.stream && { stream: 'true' }),
    ...(request.stream && upstream.streamOptions === 'send' && { stream_options: '{"include_usage":true}' }),
  };
}

function addSchema(
  { request, body: { add } }: RequestWriter,
  { name, description, schema, strict }: Exclude<Format, 'json'>,
): void {
  add(',"response_format":{"type":"json_schema","json_schema":{"name":', name);
  if (description !== undefined) add(',"description":', request.json.raw(description));
  add(',"schema":', schema);
  if (strict !== undefined) add(',"strict":', strict);
  add('}}');
}

/** Members that only switch reasoning on or off. */
const switches: Readonly<Partial<Record<UpstreamOptions['reasoning'], (on: boolean) => string>>> = {
  thinking: (on) => `"thinking":{"type":"${on ? 'enabled' : 'disabled'}"}`,
  enable_thinking: (on) => `"enable_thinking":${on}`,
  chat_template_kwargs: (on) => `"chat_template_kwargs":{"enable_thinking":${on}}`,
};

/** Adds how much the model should reason, in the upstream's own member. What that can't express is left out. */
function writeReasoning(writer: RequestWriter): void {
  const { request, upstream, body, leaveOut } = writer;
  const { wish, level } = request.effort;
  const write = switches[upstream.reasoning];
  if (upstream.reasoning === 'reasoning_effort') addEffort(writer);
  else {
    if (write !== undefined && wish !== undefined) body.add(`,${write(wish === 'on')}`);
    // Switching off expresses the level `none` completely.
    const isExpressed = write !== undefined && level?.name === 'none';
    if (level !== undefined && !isExpressed) leaveOut(level.at);
  }
}

function addEffort({ request, upstream, body, leaveOut }: RequestWriter): void {
  const { offAt, level } = request.effort;
  // Where reasoning is switched off, a level has no meaning.
  if (offAt !== undefined && level !== undefined) leaveOut(level.at);
  const wanted = offAt === undefined ? level : { at: offAt, name: 'none', exact: true };
  if (wanted === undefined) return;
  const known = nearestLevel(wanted.name, upstream.levels);
  if (known !== wanted.name || !wanted.exact) leaveOut(wanted.at);
  if (known !== undefined) body.add(`,"reasoning_effort":"${known}"`);
}
