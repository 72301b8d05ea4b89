import { GatewayError } from '../errors.ts';
import type { Cooperative } from '../json/cooperative.ts';
import type { Json, Node } from '../json/scan.ts';
import { presentMember } from './answer.ts';
import {
  conversationStart,
  describe,
  fileAt,
  findFilesIn,
  findVisionContent,
  imageAt,
  refuseState,
  searchIn,
  textsOf,
  type VisionRule,
} from './body.ts';
import type { Dialect } from './dialect.ts';

const types = ['input_image', 'input_video', 'image_url', 'video_url', 'image', 'video', 'computer_screenshot'];
const files = ['file_data'];
const visionRules = new Map<string, VisionRule>([
  ['input', { types, members: ['image_url', 'video_url'], files, within: ['content', 'output', 'outputs'] }],
  // The variables of a prompt have names of the caller's choosing.
  ['prompt', { types, members: [], files, within: 'all' }],
]);

const readers = new Map([
  ['input_image', imageAt('image_url')],
  ['computer_screenshot', imageAt('image_url')],
  // A picture that the model made before comes back in this item.
  ['image_generation_call', imageAt('result')],
  ['input_file', fileAt('file_data')],
  ['input_audio', fileAt('input_audio', 'data')],
  ['input_video', fileAt('video_url')],
]);

export const findFiles: Dialect['findFiles'] = (body, visit) => findFilesIn(body, visionRules, readers, visit);

export const findVision: Dialect['findVision'] = (body) => findVisionContent(body, visionRules);

/** Refuses an input of the wrong kind, and requests for stored state. */
export function checkBody(body: Json): void {
  const input = presentMember(body, body.root, 'input');
  if (input !== undefined && body.kind(input) !== 'string' && body.kind(input) !== 'array') {
    throw new GatewayError('invalid_request', `input must be a string or an array, not ${describe(body.kind(input))}.`);
  }
  for (const name of ['previous_response_id', 'conversation']) {
    if (presentMember(body, body.root, name) !== undefined) refuseState(name, 'input');
  }
  const background = body.member(body.root, 'background');
  if (background !== undefined && body.raw(background) === 'true') refuseState('background', 'input');
}

/**
 * Members by which a body refers to items, files, containers and prompts, which only the upstream might have: `id`, `file_id`,
 * `vector_store_ids`; not `call_id`, which belongs to the caller's own tool.
 */
const references = new Map([
  ['input', { within: 'all', names: /^(id|(?!call_)\w{1,100}_ids?)$/ }],
  ['prompt', { within: 'all', names: /^id$/ }],
  ['tools', { within: 'all', names: /^(vector_store_ids|file_ids|container)$/ }],
] as const);

export function* hasReferences(body: Json): Cooperative<boolean> {
  const found = yield* searchIn(
    body,
    references,
    (node, { names }) => body.isKey(node) && names.test(body.string(node)),
  );
  return found !== undefined;
}

/** Items without a type are messages too. */
export function findConversationStart(body: Json): readonly Node[] {
  const input = body.member(body.root, 'input');
  const messages = input !== undefined && body.kind(input) === 'string' ? [input] : conversationStart(body, input);
  return [...textsOf(body, body.member(body.root, 'instructions')), ...messages];
}
