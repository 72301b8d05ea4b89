import { GatewayError } from '../../errors.ts';
import { presentMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import { describe, refuseState } from '../model/check-body.ts';
import { fileAt, imageAt, searchIn } from '../model/content.ts';
import { readBodies } from '../model/request-body.ts';

/** The members of an item that may hold content. */
const contentMembers = ['content', 'output', 'outputs'];

export const bodies = readBodies({
  history: 'input',
  instructions: 'instructions',
  content: { instructions: contentMembers, input: contentMembers, prompt: 'all' },
  variables: ['prompt', 'variables'],
  pictures: ['image_url', 'video_url'],
  fileMember: 'file_data',
  files: {
    input_image: imageAt('image_url'),
    computer_screenshot: imageAt('image_url'),
    // An image that the model generated earlier.
    image_generation_call: imageAt('result'),
    input_file: fileAt('file_data'),
    input_audio: fileAt('input_audio', 'data'),
    input_video: fileAt('video_url'),
  },
});

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
 * Members that refer to items, files, containers and prompts that only the upstream may have: `id`, `file_id`, `vector_store_ids`; not
 * `call_id`, which belongs to the caller's own tool.
 */
const references = {
  input: /^(id|(?!call_)\w{1,100}_ids?)$/,
  prompt: /^id$/,
  tools: /^(vector_store_ids|file_ids|container)$/,
};

export function hasReferences(body: Json): boolean {
  const places = { input: 'all', prompt: 'all', tools: 'all' } as const;
  const isReference = (node: Node, place: keyof typeof references) =>
    body.isKey(node) && references[place].test(body.string(node));
  return searchIn(body, places, isReference) !== undefined;
}
