import type { Random } from './random.ts';

const characters = [...'ABCyz019-_.=+/ \n\u0000é'];

/** Cuts a seal off, or changes some of its characters. */
export function spoilSeal(seal: string, random: Random): string {
  const at = random.below(seal.length + 1);
  const inserted = random.pick(characters);
  const spoilt = random.pick([
    seal.slice(0, at),
    seal.slice(at),
    seal.slice(0, at) + inserted + seal.slice(at),
    seal.slice(0, at) + inserted + seal.slice(at + 1),
    seal.slice(0, at) + seal.slice(at + 1 + random.below(8)),
    seal + inserted,
  ]);
  return spoilt === seal ? spoilSeal(seal, random) : spoilt;
}
