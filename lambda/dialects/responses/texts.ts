import { eachMember, elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { MakeDelta, OutgoingEvent } from '../dialect.ts';
import { recordProviderFields } from '../model/envelope.ts';
import type { Findings } from '../model/findings.ts';
import { createNarrow, eachText, namesIn, toStep } from '../model/places.ts';
import { sealed } from '../model/sealed.ts';

/** Families of texts that a program reads: `response.function_call_arguments`; not `response.output_text`. */
const programText = /(arguments|input|code|diff|command)$/;
/** Families of the dialect's own, whose texts the model writes. */
const ownText = /^response\./;
const programMembers = new Set(['arguments', 'input', 'code', 'diff', 'command', 'operation']);
/** `function_call`, `mcp_call`, `web_search_call`; not `function_call_output`. */
const callType = /_call$|^mcp_approval_request$/;
/** Calls whose `action` a program carries out. */
const actionType = /^(computer|local_shell|shell)_call$/;

/** In characters. Longer types and indexes are ignored, or many texts could have long names. */
export const longestType = 100;
const longestIndex = 20;

/** Where a text is: `output/part/`, each empty if the event has no such index. */
function placeOf(event: Json): { item: string; part: string } {
  const index = (name: string): string => {
    const value = event.member(event.root, name);
    const place = value === undefined ? '' : event.raw(value);
    return place.length > longestIndex ? '' : place && toStep(place);
  };
  const item = `${index('output_index')}/`;
  return { item, part: `${item}${index('content_index') || index('summary_index')}/` };
}

/** Records a piece of a text, or of what a program reads. */
export function recordDelta(event: Json, family: string, found: Findings): void {
  const delta = event.member(event.root, 'delta');
  if (delta === undefined) return;
  const channel = placeOf(event).part + toStep(family);
  if (family.endsWith('audio')) found.keep(delta);
  else if (programText.test(family)) found.program(delta, false);
  else if (event.kind(delta) === 'string') {
    const logprobs = tokensOf(event);
    found.textDelta({ channel, family, isGenerated: ownText.test(family), value: delta, logprobs });
    if (logprobs !== undefined) found.probabilities(`${channel}/logprobs`, logprobs, false);
  } else {
    // Such as the output of a hosted shell: {stdout, stderr}.
    eachText(event, { name: '', value: delta }, found, (place, value, isGenerated) => {
      const member = `${family}/${place.split('/')[1]}`;
      found.textDelta({ channel: channel + place, family: member, isGenerated, value, logprobs: undefined });
    });
  }
}

/** The tokens of an event's text; undefined for an empty list, which some upstreams send with each text. */
function tokensOf(event: Json): Node | undefined {
  const logprobs = presentMember(event, event.root, 'logprobs');
  return logprobs !== undefined && event.raw(logprobs) === '[]' ? undefined : logprobs;
}

/** Records the events about one output item, content part or whole text. */
export function recordPart(event: Json, type: string, found: Findings): void {
  const root = event.root;
  const { item: itemPlace, part: partPlace } = placeOf(event);
  const item = presentMember(event, root, 'item');
  const part = presentMember(event, root, 'part');
  if (item !== undefined) recordItem(event, item, itemPlace, found);
  if (type.endsWith('.added')) {
    // Deltas will add to the text that a part begins with.
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
    if ((family.includes('_call') && programMembers.has(name)) || (isCall && name === 'name')) found.keep(value);
    else if (textMember.test(name) && event.kind(value) === 'string') {
      found.wholeText({ channel, family, isGenerated: ownText.test(family), value, logprobs });
    }
  });
  if (logprobs !== undefined) found.probabilities(`${channel}/logprobs`, logprobs, true);
}

/** Records one output item: its texts, and what a program reads back. */
export function recordItem(json: Json, item: Node, place: string, found: Findings): void {
  const type = stringMember(json, item, 'type') ?? '';
  const isCall = callType.test(type);
  const isProgram = isCall || type.endsWith('_call_output');
  recordProviderFields(json, item, found);
  eachMember(json, item, (name, value) => {
    const isWritten = isCall && (programMembers.has(name) || (actionType.test(type) && /^actions?$/.test(name)));
    if (isWritten) found.program(value, true);
    else if ((isProgram && programMembers.has(name)) || sealed.test(name) || (isCall && name === 'name'))
      found.keep(value);
    else if (type === 'image_generation_call' && name === 'result') found.keep(value);
    else if (name === 'content' || name === 'summary') {
      for (const [index, part] of elements(json, value).entries())
        recordText(json, part, `${place}${index}/`, found, 'wholeText');
    }
  });
}

const textMember = /^(text|refusal|transcript)$/;

/** Content parts whose deltas have another name than the part. */
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
