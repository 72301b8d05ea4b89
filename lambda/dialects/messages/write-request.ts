import type { Node } from '../../json/scan.ts';
import { isCall, type ModelRequest, nearestLevel, quote, type Raw } from '../model/request/model-request.ts';
import { refuse } from '../model/request/refuse-item.ts';
import {
  type RequestWriter,
  type UpstreamOptions,
  type WrittenRequest,
  writeRequest,
} from '../model/request/request-writer.ts';
import { descriptionOf, type Selection, schemaOf, selectTools } from '../model/request/select-tools.ts';
import { arrange, createIsKnown, type IsKnown, isFilled, type Thinking } from './arrange-turns.ts';
import { chooseMarks, type MarkOf } from './cache-marks.ts';
import { writeTurns } from './write-turns.ts';

const longestName = 128;

/** Writes a messages request for an upstream. `model`: the upstream's id. Throws a 400 that names the place of what messages can't express. */
export const writeMessagesRequest = (request: ModelRequest, upstream: UpstreamOptions, model: string): WrittenRequest =>
  writeRequest({ request, upstream, longestName }, (writer) => {
    const { body } = writer;
    refuseSampling(request);
    body.add('{"model":', quote(model));
    // First, so that offered tools get their names before tools that only occur in the history.
    const selection = selectTools(writer);
    const isKnown = createIsKnown(writer, selection);
    const thinking = chooseThinking(writer, selection, isKnown);
    const messages = arrange(writer, thinking, isKnown);
    const markOf = chooseMarks(writer, selection, messages);
    writeTurns(writer, messages, markOf);
    writeTools(writer, selection, markOf);
    writeThinking(writer, thinking);
    // The endpoint that counts tokens refuses what doesn't affect the prompt.
    if (!request.isCounted) writeSampling(writer, thinking);
    body.add('}');
  });

/** The values that upstreams refuse while the model thinks. */
const refusedOfThinking: Readonly<Record<string, (value: number) => boolean>> = {
  temperature: (value) => value !== 1,
  top_p: (value) => value < 0.95,
  top_k: () => true,
};

function writeSampling({ request, upstream, body, leaveOut }: RequestWriter, { effort }: Thinking): void {
  const { temperature, top_p, top_k, stop } = request.sampling;
  const max_tokens = request.limit ?? `${upstream.limit}`;
  for (const [name, raw] of Object.entries({ max_tokens, temperature, top_p, top_k, stop_sequences: stop })) {
    if (raw === undefined) continue;
    if (effort !== undefined && refusedOfThinking[name]?.(Number(raw))) leaveOut(placeOf(request, name));
    else body.add(`,"${name}":`, raw);
  }
  if (request.stream) body.add(',"stream":true');
}

/** The node of the first of these members, or else the body. */
const placeOf = ({ json }: ModelRequest, ...names: readonly string[]): Node =>
  names.map((name) => json.member(json.root, name)).find((node) => node !== undefined) ?? json.root;

const cannot = 'is more than this model can do. Leave it out.';

function refuseSampling(request: ModelRequest): void {
  const { temperature, presence_penalty, frequency_penalty, logprobs, top_logprobs, logit_bias } = request.sampling;
  const refuseAt = (...names: readonly string[]) => refuse(request, placeOf(request, ...names), cannot);
  if (temperature !== undefined && Number(temperature) > 1) {
    refuse(request, placeOf(request, 'temperature'), 'must be 1 or less with this model.');
  }
  if (presence_penalty !== undefined && Number(presence_penalty) !== 0) refuseAt('presence_penalty');
  if (frequency_penalty !== undefined && Number(frequency_penalty) !== 0) refuseAt('frequency_penalty');
  if (top_logprobs !== undefined && Number(top_logprobs) !== 0) refuseAt('top_logprobs');
  if (logprobs === 'true' && top_logprobs === undefined) refuseAt('logprobs', 'include');
  if (logit_bias !== undefined && !/^\{\s*\}$/.test(logit_bias)) refuseAt('logit_bias');
  if (request.format === 'json') {
    const what = 'asks for any JSON, which this model is only given a schema for. Send a json_schema.';
    refuse(request, placeOf(request, 'response_format', 'text'), what);
  }
}

const choices = { auto: 'auto', none: 'none', required: 'any' };

function writeTools(writer: RequestWriter, { tools, choice }: Selection, markOf: MarkOf): void {
  const { request, body } = writer;
  if (tools.length === 0) return;
  for (const [index, [name, tool]] of tools.entries()) {
    const description = descriptionOf(tool);
    body.add(index === 0 ? ',"tools":[' : ',', `{"name":${quote(name)}`);
    if (description !== undefined) body.add(',"description":', description);
    body.add(',"input_schema":', schemaOf(tool), ...(tool.strict === 'true' ? [',"strict":true'] : []));
    body.add(markOf(tool), '}');
  }
  body.add(']');
  if (choice === undefined && !request.oneCall) return;
  const { mode = 'auto', forced } = choice ?? {};
  const named = forced === undefined ? '' : `,"name":${quote(forced)}`;
  const one = request.oneCall && mode !== 'none' ? ',"disable_parallel_tool_use":true' : '';
  body.add(`,"tool_choice":{"type":"${forced === undefined ? choices[mode] : 'tool'}"${named}${one}}`);
}

const levels = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Decides how much the model should think. */
function chooseThinking(writer: RequestWriter, { choice }: Selection, isKnown: IsKnown): Thinking {
  const { wish, level } = writer.request.effort;
  if (wish === 'off' || level === undefined) return { isOff: wish === 'off' };
  // With thinking on, upstreams refuse a forced tool call, and results of calls whose reasoning can't be replayed.
  const mayThink = choice?.mode !== 'required' && !isWithoutItsReasoning(writer, isKnown);
  const effort = mayThink ? nearestLevel(level.name, levels) : undefined;
  if (effort !== level.name || !level.exact) writer.leaveOut(level.at);
  return { effort, isOff: effort === undefined };
}

/** Adds how much the model should think, and the format of its answer. */
function writeThinking({ request, body, leaveOut }: RequestWriter, { effort }: Thinking): void {
  if (request.effort.wish === 'off') body.add(',"thinking":{"type":"disabled"}');
  else if (effort !== undefined) body.add(',"thinking":{"type":"adaptive","display":"summarized"}');
  const config: Raw[] = effort === undefined ? [] : [`"effort":"${effort}"`];
  const { schema, description } = request.format === 'json' ? {} : (request.format ?? {});
  if (description !== undefined) leaveOut(description);
  const format: Raw[] = schema === undefined ? [] : ['"format":{"type":"json_schema","schema":', schema, '}'];
  const comma = config.length > 0 && format.length > 0 ? [','] : [];
  if (config.length + format.length > 0) body.add(',"output_config":{', ...config, ...comma, ...format, '}');
}

/** Whether the model continues from tool calls that follow reasoning which can't be replayed. */
function isWithoutItsReasoning({ request }: RequestWriter, isKnown: IsKnown): boolean {
  const last = request.turns.findLast((turn) => turn.role === 'assistant' || turn.parts.some(isFilled));
  return (
    last?.role === 'assistant' &&
    last.content.some(isCall) &&
    last.reasoning.length > 0 &&
    !last.reasoning.some(isKnown)
  );
}
