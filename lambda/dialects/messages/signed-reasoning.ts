import { elements, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { RawReasoning } from '../model/answer/answer-reader.ts';
import type { AnswerChanges } from '../model/answer-changes.ts';
import { toSealedBlock, voidContent } from '../model/seal.ts';
import { neutralId, ownId } from './call-ids.ts';

/** Collects reasoning as whole blocks with their signatures, because the provider verifies those. */
export function createSignedReasoning(changes?: AnswerChanges): RawReasoning & { readonly endBlock: () => void } {
  let channel: string | undefined; // of the reasoning in the last event
  let thinking = '';
  let signature = '';
  let whole = '';
  /** The blocks of a plain answer, each until it ends, so that they keep their positions between texts and calls. */
  const later: { readonly at: number; readonly block: string }[] = [];
  let ended = 0;
  let last: string | undefined; // type of the last block

  /** A block as part of a seal; void if the provider would refuse its signature. */
  const sealed = (block: string, at?: number): string => (changes?.isBefore(at) ? voidContent : block);
  const signed = (reasoningBlock: string, by: string): string =>
    by === '' ? '' : toSealedBlock(JSON.stringify({ type: 'thinking', thinking: reasoningBlock, signature: by }));
  const redacted = (json: Json, block: Node): string =>
    toSealedBlock(JSON.stringify({ type: 'redacted_thinking', data: stringMember(json, block, 'data') ?? '' }));

  /** Records what the client may not send back as it was: another id than the vendor's, or consecutive texts joined into one. */
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
