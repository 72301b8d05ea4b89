import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { sealMark } from './sealed.ts';

/**
 * A seal is an encrypted text that the client sends back with its next request and can't read: upstream reasoning, as it was before names
 * were hidden. The client keeps it, so the gateway need not store anything.
 */
export interface Seals {
  /** `dialect`: the client's. */
  seal(dialect: string, content: string): string;
  /** The content, if the text is a seal of this caller and dialect. */
  open(dialect: string, text: string): string | undefined;
}

const cipher = 'aes-256-gcm';
const [nonceLength, tagLength] = [12, 16];

/** In characters. A longer seal is not opened. */
export const longestSeal = 262_144;
/** How many seals of one request are opened, as that takes time. The rest is left out. */
export const mostSeals = 1_000;

/** In bytes. The content is padded to a multiple, so that a seal's length doesn't reveal the length of a hidden name in it. */
const step = 64;
/** Ends the content. The padding follows. */
const end = '\0';

function pad(content: string): string {
  const length = Buffer.byteLength(content) + end.length;
  return content + end + ' '.repeat(-length & (step - 1));
}

function unpad(padded: string): string | undefined {
  const length = padded.lastIndexOf(end);
  return length < 0 ? undefined : padded.slice(0, length);
}

/** Begins each block in a content that consists of signed blocks. A content that is a text never holds it. */
const blockMark = '\u0001';

/** A signed block as part of a content. Parts are simply concatenated. */
export const toSealedBlock = (block: string): string => blockMark + block;

/** Stands for a block whose signature the provider would refuse. When the seal is sent back, that reasoning is left out. */
export const voidContent = `${blockMark}void`;
export const isVoid = (block: string): boolean => blockMark + block === voidContent;

/** The position of the blocks that follow, as part of a content: the number of tool calls before them. All texts come before them, too. */
export const toSealedPlace = (calls: number): string => `${blockMark}${calls}`;
/** Whether a block is such a position. */
export const isPlace = (block: string): boolean => /^\d/.test(block);

/** A text as part of a content. Signed blocks are sent upstream as they are, so a model must not be able to forge one by writing the mark. */
export const toSealedText = (text: string): string => text.replaceAll(blockMark, '');

/** The blocks of a content, and their positions; undefined if it is a text. */
export function signedBlocksIn(content: string): readonly string[] | undefined {
  return content.startsWith(blockMark) ? content.slice(1).split(blockMark) : undefined;
}

/** Checked before anything is decoded. */
const form = /^svc1\.[\w-]+$/;

/** Whose seals. Plain data. */
export interface Sealing {
  readonly salt: KeyObject;
  readonly caller: string;
}

/** Creates the seals of one caller. `salt`: the deployment's key for seals. */
export function createSeals(salt: KeyObject, caller: string): Seals {
  const bytes = hkdfSync('sha256', salt, '', `seal:${caller.length}:${caller}`, 32);
  const key = createSecretKey(Buffer.from(bytes));
  const associated = (dialect: string) => Buffer.from(sealMark + dialect);
  return {
    seal(dialect, content) {
      const nonce = randomBytes(nonceLength);
      const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagLength }).setAAD(associated(dialect));
      const sealed = Buffer.concat([
        nonce,
        sealing.update(pad(content), 'utf8'),
        sealing.final(),
        sealing.getAuthTag(),
      ]);
      return sealMark + sealed.toString('base64url');
    },
    open(dialect, text) {
      if (text.length > longestSeal || !form.test(text)) return undefined;
      const encoded = text.slice(sealMark.length);
      const sealed = Buffer.from(encoded, 'base64url');
      if (sealed.length < nonceLength + tagLength || sealed.toString('base64url') !== encoded) return undefined;
      const opening = createDecipheriv(cipher, key, sealed.subarray(0, nonceLength), { authTagLength: tagLength });
      opening.setAAD(associated(dialect)).setAuthTag(sealed.subarray(-tagLength));
      try {
        const content = opening.update(sealed.subarray(nonceLength, -tagLength), undefined, 'utf8');
        return unpad(content + opening.final('utf8'));
      } catch {
        return undefined; // truncated, modified, or of another caller or deployment
      }
    },
  };
}
