import { elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { RawReasoning } from '../model/answer/answer-reader.ts';
import type { AnswerChanges } from '../model/answer-changes.ts';
import { toSealedBlock, voidContent } from '../model/seal.ts';
import { neutralId, ownId } from './call-ids.ts';

/** Thoughts with their signatures, as whole blocks: only so does their maker know them again. */
export function createSignedReasoning(changes?: AnswerChanges): RawReasoning & { readonly endBlock: () => void } {
  let channel: string | undefined; // of the thought in the last event that was read
  let thinking = '';
  let signature = '';
  let whole = '';
  /** Those of a plain answer, each until it ends, so that they keep their places between texts and calls. */
  const later: { readonly at: number; readonly block: string }[] = [];
  let ended = 0;
  let last: string | undefined; // kind of block

  /** A block as a part of a seal: of one that its maker would not know again, only that. */
  const sealed = (block: string, at?: number): string => (changes?.isBefore(at) ? voidContent : block);
  const signed = (reasoningBlock: string, by: string): string =>
    by === '' ? '' : toSealedBlock(JSON.stringify({ type: 'thinking', thinking: reasoningBlock, signature: by }));
  const redacted = (json: Json, block: Node): string =>
    toSealedBlock(JSON.stringify({ type: 'redacted_thinking', data: stringMember(json, block, 'data') ?? '' }));

  /** The client may send back another id than the maker's own, and texts that follow one another as one. */
  function noteBlock(json: Json, block: Node, kind: string | undefined, at?: number): void {
    const id = stringMember(json, block, 'id') ?? '';
    const isOther = id !== '' && ownId(neutralId(id)) !== id;
    if (isOther || (kind === 'text' && last === 'text')) changes?.note(at);
    last = kind;
  }

  return {
    onRead(json, found) {
      const root = json.root;
      const type = stringMember(json, root, 'type');
      const [block, delta] = [presentMember(json, root, 'content_block'), presentMember(json, root, 'delta')];
      const reasoningBlock = presentMember(json, block ?? delta, 'thinking');
      channel = found.find(({ value }) => value === reasoningBlock)?.channel;
      if (block !== undefined) {
        const kind = stringMember(json, block, 'type');
        if (kind === 'thinking') signature += stringMember(json, block, 'signature') ?? '';
        if (kind === 'redacted_thinking') whole += sealed(redacted(json, block));
        noteBlock(json, block, kind);
      } else if (type === 'content_block_stop') {
        whole += sealed(signed(thinking, signature));
        [thinking, signature] = ['', ''];
      } else if (stringMember(json, delta, 'type') === 'signature_delta') {
        signature += stringMember(json, delta, 'signature') ?? '';
      } else if (type === 'message') {
        for (const said of elements(json, presentMember(json, root, 'content'))) {
          const kind = stringMember(json, said, 'type');
          const [text, by] = [stringMember(json, said, 'thinking'), stringMember(json, said, 'signature')];
          const at = json.start(said);
          if (kind === 'redacted_thinking') later.push({ at, block: redacted(json, said) });
          if (kind === 'thinking') later.push({ at, block: signed(text ?? '', by ?? '') });
          noteBlock(json, said, kind, at);
        }
      }
    },
    onText(text, of) {
      if (of === channel) thinking += text;
    },
    endBlock() {
      const reasoningBlock = later[ended];
      if (reasoningBlock) whole += sealed(reasoningBlock.block, reasoningBlock.at);
      ended += 1;
    },
    take() {
      const literal = JSON.stringify(whole);
      whole = '';
      return literal;
    },
  };
}
