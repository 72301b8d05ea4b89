import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { Part } from './asking.ts';
import { takeMembers } from './members.ts';
import { type Reading, readContent, refuseUnknown, typeOf } from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';

/** The parts of a content or an output. */
export function readParts(reading: Reading, content: Node): Cooperative<Part[]> {
  return readContent<Part>(reading, content, toText, (part) => readPart(reading, part));
}

export const toText = (text: string) => ({ kind: 'text', text }) as const;

export const isText = (type: string) => type === 'input_text' || type === 'output_text' || type === 'text';

export function readText(reading: Reading, part: Node): string {
  return takeMembers(reading, part, fields['text part']).requiredString('text');
}

/** Reads a part; undefined for one that only its maker can read. */
function readPart(reading: Reading, part: Node): Part | undefined {
  const type = typeOf(reading, part);
  if (isText(type)) return toText(readText(reading, part));
  switch (type) {
    case 'input_image': {
      const image = takeMembers(reading, part, fields['input_image part']);
      return { kind: 'image', at: part, url: image.requiredString('image_url') };
    }
    case 'input_file': {
      const file = takeMembers(reading, part, fields['input_file part']);
      return { kind: 'file', at: part, name: file.string('filename'), data: file.requiredString('file_data') };
    }
    case 'input_audio': {
      const audio = takeMembers(reading, part, fields['input_audio part']);
      return { kind: 'audio', at: part, audio: reading.json.raw(audio.required('input_audio')) };
    }
    case 'encrypted_content':
      reading.leftOut.push(part);
      return undefined;
    default:
      return refuseUnknown(reading, part, 'Send text instead.');
  }
}
