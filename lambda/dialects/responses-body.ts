import type { RequestFile } from '../budget/estimate.ts';
import { GatewayError } from '../errors.ts';
import { type Cooperative, nodesPerTurn } from '../json/cooperative.ts';
import type { Json, Node } from '../json/scan.ts';
import { presentMember } from './answer.ts';
import {
  conversationStart,
  describe,
  type FileRules,
  findFilesIn,
  findVisionContent,
  stringAt,
  textsOf,
  type VisionRule,
} from './body.ts';

const types = ['input_image', 'input_video', 'image_url', 'video_url', 'image', 'video', 'computer_screenshot'];
const files = ['file_data'];
const visionRules = new Map<string, VisionRule>([
  ['input', { types, members: ['image_url', 'video_url'], files, within: ['content', 'output', 'outputs'] }],
  // The variables of a prompt have names of the caller's choosing.
  ['prompt', { types, members: [], files, within: 'all' }],
]);

function readFile(body: Json, part: Node, type: string): RequestFile | undefined {
  switch (type) {
    case 'input_image':
    case 'computer_screenshot':
      return { isImage: true, data: stringAt(body, part, 'image_url') };
    // A picture that the model made before comes back in this item.
    case 'image_generation_call':
      return { isImage: true, data: stringAt(body, part, 'result') };
    case 'input_file':
      return { isImage: false, data: stringAt(body, part, 'file_data') };
    case 'input_audio':
      return { isImage: false, data: stringAt(body, part, 'input_audio', 'data') };
    case 'input_video':
      return { isImage: false, data: stringAt(body, part, 'video_url') };
    default:
      return undefined;
  }
}

const fileRules: readonly FileRules[] = [...visionRules].map(([root, { within }]) => ({
  roots: new Set([root]),
  within: within === 'all' ? within : new Set(within),
  readFile,
}));

/** The files in a body. */
export function* findFiles(body: Json, visit: (file: RequestFile) => void): Cooperative<void> {
  for (const rules of fileRules) yield* findFilesIn(body, rules, visit);
}

/** Where a body holds an image or a video. */
export function findVision(body: Json): Cooperative<string | undefined> {
  return findVisionContent(body, visionRules);
}

/** Refuses an input of the wrong kind, and requests for stored state. */
export function checkBody(body: Json): void {
  const input = presentMember(body, body.root, 'input');
  if (input !== undefined && body.kind(input) !== 'string' && body.kind(input) !== 'array') {
    throw new GatewayError('invalid_request', `input must be a string or an array, not ${describe(body.kind(input))}.`);
  }
  for (const name of ['previous_response_id', 'conversation']) {
    if (presentMember(body, body.root, name) !== undefined) throw stateless(name);
  }
  const background = body.member(body.root, 'background');
  if (background !== undefined && body.raw(background) === 'true') throw stateless('background');
}

/**
 * Members by which a body refers to items, files, containers and prompts, which only the upstream might have: `id`, `file_id`,
 * `vector_store_ids`; not `call_id`, which belongs to the caller's own tool.
 */
const references = new Map([
  ['input', /^(id|(?!call_)\w{1,100}_ids?)$/],
  ['prompt', /^id$/],
  ['tools', /^(vector_store_ids|file_ids|container)$/],
]);

export function* hasReferences(body: Json): Cooperative<boolean> {
  for (const [root, names] of references) {
    const value = presentMember(body, body.root, root);
    if (value === undefined) continue;
    const end = body.next(value);
    for (let node = value; node < end; node += 1) {
      if (node % nodesPerTurn === 0) yield;
      if (body.isKey(node) && names.test(body.string(node))) return true;
    }
  }
  return false;
}

/** Items without a type are messages too. */
export function findConversationStart(body: Json): readonly Node[] {
  const input = body.member(body.root, 'input');
  const messages = input !== undefined && body.kind(input) === 'string' ? [input] : conversationStart(body, input);
  return [...textsOf(body, body.member(body.root, 'instructions')), ...messages];
}

function stateless(name: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${name} is not supported: nothing is stored between requests. Send the full history in input.`,
  );
}
