/** Text that is written at once, or in pieces. Some of those may be bytes that are kept for later too. */
export type Written = string | readonly Piece[];
export type Piece = string | Uint8Array;
