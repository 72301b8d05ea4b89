/** The id of a call as clients of other dialects see it, without the vendor's prefix. */
export const neutralId = (id: string): string => id.replace(/^(srv|mcp)?toolu_(bdrk_|vrtx_)?/, 'call_');

/** Restores the vendor's id from the one that clients see, because later reasoning is signed over it. */
export const ownId = (id: string): string => id.replace(/^call_/, 'toolu_');
