import { elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { RawThoughts } from '../answer/answer-reader.ts';
import { toSealedBlock } from '../seal.ts';

/** Thoughts with their signatures, as whole blocks: only so does their maker know them again. */
export function createSignedThoughts(): RawThoughts & { readonly endBlock: () => void } {
  let channel: string | undefined; // of the thought in the last event that was read
  let thinking = '';
  let signature = '';
  let whole = '';
  /** Those of a plain answer, each until it ends, so that they keep their places between texts and calls. */
  const later: string[] = [];
  let ended = 0;

  const signed = (thought: string, by: string): string =>
    by === '' ? '' : toSealedBlock(JSON.stringify({ type: 'thinking', thinking: thought, signature: by }));
  const redacted = (json: Json, block: Node): string =>
    toSealedBlock(JSON.stringify({ type: 'redacted_thinking', data: stringMember(json, block, 'data') ?? '' }));

  return {
    onRead(json, found) {
      const root = json.root;
      const type = stringMember(json, root, 'type');
      const [block, delta] = [presentMember(json, root, 'content_block'), presentMember(json, root, 'delta')];
      const thought = presentMember(json, block ?? delta, 'thinking');
      channel = found.find(({ value }) => value === thought)?.channel;
      if (block !== undefined) {
        const kind = stringMember(json, block, 'type');
        if (kind === 'thinking') signature += stringMember(json, block, 'signature') ?? '';
        if (kind === 'redacted_thinking') whole += redacted(json, block);
      } else if (type === 'content_block_stop') {
        whole += signed(thinking, signature);
        [thinking, signature] = ['', ''];
      } else if (stringMember(json, delta, 'type') === 'signature_delta') {
        signature += stringMember(json, delta, 'signature') ?? '';
      } else if (type === 'message') {
        for (const said of elements(json, presentMember(json, root, 'content'))) {
          const kind = stringMember(json, said, 'type');
          const [text, by] = [stringMember(json, said, 'thinking'), stringMember(json, said, 'signature')];
          if (kind === 'redacted_thinking') later.push(redacted(json, said));
          if (kind === 'thinking') later.push(signed(text ?? '', by ?? ''));
        }
      }
    },
    onText(text, of) {
      if (of === channel) thinking += text;
    },
    endBlock() {
      whole += later[ended] ?? '';
      ended += 1;
    },
    take() {
      const literal = JSON.stringify(whole);
      whole = '';
      return literal;
    },
  };
}
