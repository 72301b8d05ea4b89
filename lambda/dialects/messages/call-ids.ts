/** An id of a call as clients of other dialects see it: it begins as none of its maker's does. */
export const neutralId = (id: string): string => id.replace(/^(srv|mcp)?toolu_(bdrk_|vrtx_)?/, 'call_');

/** The maker's own id of a call, by the one that clients see: later thoughts are signed over it. */
export const ownId = (id: string): string => id.replace(/^call_/, 'toolu_');
