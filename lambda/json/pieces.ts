/** Text to write: a string, or pieces, some of them bytes that are also retained for later. */
export type Written = string | readonly Piece[];
export type Piece = string | Uint8Array;
