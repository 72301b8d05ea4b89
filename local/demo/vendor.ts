import { createHash } from 'node:crypto';

/** The invented maker behind the demo upstream: loud on purpose, so that the gateway has something to hide. */
export const vendor = {
  apiKey: 'qk-demo-4711',
  textModel: 'quillon/quill-4-text',
  visionModel: 'quillon/quill-4-vision',
  /** The names that a gateway has to hide, besides the model ids. */
  names: ['Quillon', 'Quill-4'],
  /** Fields that give the maker away in every answer and chunk. */
  marks: { provider: 'Quillon', system_fingerprint: 'fp_quillon_44', x_quillon: { region: 'quillon-eu-1' } },
  headers: { server: 'quillon-edge/2.4', 'x-quillon-region': 'quillon-eu-1', 'set-cookie': 'quillon_session=1' },
  consoleUrl: 'https://console.quillon.example/keys',
} as const;

/** An id in the maker's style; the number of the request makes it unique. */
export const vendorId = (prefix: string, number: number): string => `${prefix}quillon${`${number}`.padStart(8, '0')}`;

/** Content that only the maker could read: a signature, or encrypted reasoning. */
export const sealText = (text: string): string => createHash('sha512').update(`sealed ${text}`).digest('base64');

/** A request that the maker refuses; each dialect has its own words for the status. */
export class VendorError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'VendorError';
    this.status = status;
  }
}
