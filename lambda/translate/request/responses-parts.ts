import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { Part } from './asking.ts';
import {
  isPauseDue,
  type Reading,
  refuseUnknown,
  required,
  requireKind,
  takeMembers,
  takeString,
  typeOf,
} from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';

/** The parts of a content or an output; a text is its own only part. */
export function* readParts(reading: Reading, content: Node): Cooperative<Part[]> {
  const parts: Part[] = [];
  for (const part of partsOf(reading, content)) {
    if (typeof part === 'string') return [{ kind: 'text', text: part }];
    const read = readPart(reading, part);
    if (read !== undefined) parts.push(read);
    if (isPauseDue(reading, part)) yield;
  }
  return parts;
}

/** The parts as they stand there; a text is its own only part. */
export function* partsOf(reading: Reading, content: Node): Generator<string | Node> {
  const { json } = reading;
  requireKind(reading, content, 'string', 'array');
  if (json.kind(content) === 'string') yield json.raw(content);
  else yield* json.elements(content);
}

export const isText = (type: string) => type === 'input_text' || type === 'output_text' || type === 'text';

export function readText(reading: Reading, part: Node): string {
  const { text } = takeMembers(reading, part, fields['text part']);
  return takeString(reading, required(reading, part, 'text', text));
}

/** Reads a part; undefined for one that only its maker can read. */
function readPart(reading: Reading, part: Node): Part | undefined {
  const { json, leftOut } = reading;
  const type = typeOf(reading, part);
  if (isText(type)) return { kind: 'text', text: readText(reading, part) };
  switch (type) {
    case 'input_image': {
      const { image_url: url } = takeMembers(reading, part, fields['input_image part']);
      return { kind: 'image', at: part, url: takeString(reading, required(reading, part, 'image_url', url)) };
    }
    case 'input_file': {
      const { file_data: data, filename } = takeMembers(reading, part, fields['input_file part']);
      const name = filename === undefined ? undefined : takeString(reading, filename);
      return { kind: 'file', at: part, name, data: takeString(reading, required(reading, part, 'file_data', data)) };
    }
    case 'input_audio': {
      const { input_audio: audio } = takeMembers(reading, part, fields['input_audio part']);
      return { kind: 'audio', at: part, audio: json.raw(required(reading, part, 'input_audio', audio)) };
    }
    case 'encrypted_content':
      leftOut.push(part);
      return undefined;
    default:
      return refuseUnknown(reading, part, 'Send text instead.');
  }
}
