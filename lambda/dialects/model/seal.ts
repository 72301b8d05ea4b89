import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { sealMark } from './sealed.ts';

/** What a client must send back and may not read: sealed here, opened here, stored nowhere. */
export interface Seals {
  /** `dialect`: the one of the client that gets the seal. */
  seal(dialect: string, content: string): string;
  /** The content of a seal that was made for this caller and dialect; undefined for anything else. */
  open(dialect: string, text: string): string | undefined;
}

const cipher = 'aes-256-gcm';
const [nonceLength, tagLength] = [12, 16];

/** In characters. A longer seal is not looked at. */
export const longestSeal = 262_144;
/** The most seals of one request that are opened, as that takes time. The rest is left out, whoever made it. */
export const mostSeals = 1_000;

/** In bytes: the length of a seal must not tell how long a hidden name in its content is. */
const step = 64;
/** Ends the content. What follows fills the step. */
const end = '\0';

function pad(content: string): string {
  const length = Buffer.byteLength(content) + end.length;
  return content + end + ' '.repeat(-length & (step - 1));
}

function unpad(padded: string): string | undefined {
  const length = padded.lastIndexOf(end);
  return length < 0 ? undefined : padded.slice(0, length);
}

/** Begins each block of a content that is signed blocks, and stands in no text. */
const blockMark = '\u0001';

/** A block that its maker signed, as a part of a content: parts may be joined. */
export const toSealedBlock = (block: string): string => blockMark + block;

/** The content of a seal in place of a signature that its maker would refuse: the thought is left out when it comes back. */
export const voidContent = `${blockMark}void`;
/** Whether a block of a content is void. */
export const isVoid = (block: string): boolean => blockMark + block === voidContent;

/** As a part of a content: how many calls came before the blocks after it. Whatever was said stands before them. */
export const toSealedPlace = (calls: number): string => `${blockMark}${calls}`;
/** Whether a block of a content is only the place of others. */
export const isPlace = (block: string): boolean => /^\d/.test(block);

/** A text as a part of a content. Blocks go back as they are, so a model that writes the mark must not pass for their maker. */
export const toSealedText = (text: string): string => text.replaceAll(blockMark, '');

/** The blocks that a content consists of, and their places; undefined if it is a text. */
export function signedBlocksIn(content: string): readonly string[] | undefined {
  return content.startsWith(blockMark) ? content.slice(1).split(blockMark) : undefined;
}

/** Checked before anything is decoded. */
const form = /^svc1\.[\w-]+$/;

/** Whose seals, as data. */
export interface Sealing {
  readonly salt: KeyObject;
  readonly caller: string;
}

/** Seals of one caller. `salt`: the deployment's network salt. */
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
        return undefined; // cut, changed, another caller's or another deployment's
      }
    },
  };
}
