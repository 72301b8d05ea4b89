import { eachMember, elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { MakeDelta, OutgoingEvent } from '../dialect.ts';
import { recordProviderFields } from '../model/envelope.ts';
import type { Findings } from '../model/findings.ts';
import { createNarrow, eachText, namesIn, toStep } from '../model/places.ts';
import { sealed } from '../model/sealed.ts';

/** Families of tool arguments: `response.function_call_arguments`; not `response.output_text`. */
const argumentFamily = /(arguments|input|code|diff|command)$/;
/** The dialect's own families, whose texts the model writes. */
const ownText = /^response\./;
const argumentMembers = new Set(['arguments', 'input', 'code', 'diff', 'command', 'operation']);
/** `function_call`, `mcp_call`, `web_search_call`; not `function_call_output`. */
const callType = /_call$|^mcp_approval_request$/;
/** Which tool a call is for. */
const toolName = /^(name(space)?|server_label)$/;
/** Items that list tools which the caller can use. They come back with the history. */
const toolList = /^(tool_search_output|mcp_list_tools)$/;
/** What such a list consists of. */
const listMember = /^(tools|server_label)$/;
/** Calls whose `action` the client carries out. */
const actionType = /^(computer|local_shell|shell)_call$/;

/** In characters. Longer types and indexes are ignored, which bounds the memory that channels take. */
export const longestType = 100;
const longestIndex = 20;

/** The place of an event's text: `output/part/`, each empty if the event has no such index. */
function placeOf(event: Json): { item: string; part: string } {
  const index = (name: string): string => {
    const value = event.member(event.root, name);
    const place = value === undefined ? '' : event.raw(value);
    return place.length > longestIndex ? '' : place && toStep(place);
  };
  const item = `${index('output_index')}/`;
  return { item, part: `${item}${index('content_index') || index('summary_index')}/` };
}

/** Records a delta of a text or of tool arguments. */
export function recordDelta(event: Json, family: string, found: Findings): void {
  const delta = event.member(event.root, 'delta');
  if (delta === undefined) return;
  const channel = placeOf(event).part + toStep(family);
  if (family.endsWith('audio')) found.keep(delta);
  else if (argumentFamily.test(family)) found.toolArguments(delta, false);
  else if (event.kind(delta) === 'string') {
    const logprobs = logprobsOf(event);
    found.textDelta({ channel, family, isGenerated: ownText.test(family), value: delta, logprobs });
    if (logprobs !== undefined) found.probabilities(`${channel}/logprobs`, logprobs, false);
  } else {
    // For example, the output of a hosted shell: {stdout, stderr}.
    eachText(event, { name: '', value: delta }, found, (place, value, isGenerated) => {
      const member = `${family}/${place.split('/')[1]}`;
      found.textDelta({ channel: channel + place, family: member, isGenerated, value, logprobs: undefined });
    });
  }
}

/** The token probabilities of an event's text; undefined for an empty list, which some upstreams always send. */
function logprobsOf(event: Json): Node | undefined {
  const logprobs = presentMember(event, event.root, 'logprobs');
  return logprobs !== undefined && event.raw(logprobs) === '[]' ? undefined : logprobs;
}

/** Records an event about an output item, a content part or a whole text. */
export function recordPart(event: Json, type: string, found: Findings): void {
  const root = event.root;
  const { item: itemPlace, part: partPlace } = placeOf(event);
  const item = presentMember(event, root, 'item');
  const part = presentMember(event, root, 'part');
  if (item !== undefined) recordItem(event, item, itemPlace, found);
  if (type.endsWith('.added')) {
    // Deltas will continue the text that a part begins with.
    if (part !== undefined) recordText(event, part, partPlace, found, 'textDelta');
    return;
  }
  if (part !== undefined) recordText(event, part, partPlace, found, 'wholeText');
  if (!type.endsWith('.done')) return;
  const family = type.slice(0, -'.done'.length);
  const channel = partPlace + toStep(family);
  const ending = item !== undefined ? [itemPlace] : part !== undefined ? [partPlace] : [channel, `${channel}/`];
  for (const prefix of ending) found.endTexts(prefix);
  const isCall = presentMember(event, root, 'arguments') !== undefined;
  const logprobs = presentMember(event, root, 'logprobs');
  eachMember(event, root, (name, value) => {
    if ((family.includes('_call') && argumentMembers.has(name)) || (isCall && name === 'name')) found.keep(value);
    else if (textMember.test(name) && event.kind(value) === 'string') {
      found.wholeText({ channel, family, isGenerated: ownText.test(family), value, logprobs });
    }
  });
  if (logprobs !== undefined) found.probabilities(`${channel}/logprobs`, logprobs, true);
}

/** Records one output item: its texts, its tool arguments, and what the client reads back. */
export function recordItem(json: Json, item: Node, place: string, found: Findings): void {
  const type = stringMember(json, item, 'type') ?? '';
  const isCall = callType.test(type);
  const isToolItem = isCall || type.endsWith('_call_output');
  recordProviderFields(json, item, found);
  eachMember(json, item, (name, value) => {
    const isWritten = isCall && (argumentMembers.has(name) || (actionType.test(type) && /^actions?$/.test(name)));
    if (isWritten) found.toolArguments(value, true);
    else if ((isToolItem && argumentMembers.has(name)) || sealed.test(name) || (isCall && toolName.test(name)))
      found.keep(value);
    else if (type === 'image_generation_call' && name === 'result') found.keep(value);
    else if (toolList.test(type) && listMember.test(name)) found.keep(value);
    else if (name === 'content' || name === 'summary') {
      for (const [index, part] of elements(json, value).entries())
        recordText(json, part, `${place}${index}/`, found, 'wholeText');
    }
  });
}

const textMember = /^(text|refusal|transcript)$/;

/** The types of content parts whose deltas have another name. */
const families: Readonly<Record<string, string>> = { summary_text: 'reasoning_summary_text' };

function recordText(json: Json, part: Node, place: string, found: Findings, how: 'textDelta' | 'wholeText'): void {
  const type = stringMember(json, part, 'type') ?? '';
  const family = `response.${families[type] ?? type.slice(0, longestType)}`;
  const channel = place + toStep(family);
  const logprobs = presentMember(json, part, 'logprobs');
  eachMember(json, part, (name, value) => {
    if (textMember.test(name) && json.kind(value) === 'string')
      found[how]({ channel, family, isGenerated: true, value, logprobs });
  });
  if (logprobs !== undefined) found.probabilities(`${channel}/logprobs`, logprobs, how === 'wholeText');
}

/** Makes deltas of the same kind. */
export function deltasLike(last: OutgoingEvent): MakeDelta {
  const { part, logprobs, obfuscation, ...place } = JSON.parse(last.data);
  const narrow = createNarrow();
  return (channel, text, sequence) => {
    const [, , family, ...path] = namesIn(channel);
    const data = {
      ...place,
      type: `${family}.delta`,
      delta: narrow(place.delta, path, text),
      ...(logprobs !== undefined && { logprobs: [] }),
      ...(place.sequence_number !== undefined && { sequence_number: sequence }),
    };
    return { type: last.type && data.type, data: JSON.stringify(data) };
  };
}
