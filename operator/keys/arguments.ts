import { networkOf } from '../../lambda/identity/network.ts';
import { checked, matching, readWhole } from '../read-word.ts';
import { isPlace, parseExpiry, parsePrices, parseSpan } from './parse.ts';

export const readMember = matching(/^[\w.@:+-]{1,100}$/, '1 to 100 letters, digits and . _ @ : + -');
export const readPlace = checked((text) => (isPlace(text) ? text : undefined), 'what the page before said');
export const readKey = matching(/^[\w-]{1,100}$/, 'a key, or a word that stands for one');
export const readLimit = readWhole(0, 1_000_000);
export const readSpan = checked(parseSpan, 'a span such as 1h, 12h or 2d');
export const readPrices = checked(parsePrices, 'four prices such as 3,15,0.3,3.75');
export const readNetwork = checked(networkOf, 'an IPv4 address, an IPv6 address or a /64');

export const readExpiry = (now: () => number) =>
  checked((value) => parseExpiry(value, now()), 'a span such as 12h, 30d or 2w, or a date to come');
