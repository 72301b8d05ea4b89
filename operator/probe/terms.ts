/** Shared by the probe and its artifact. */
export const secretHeader = 'x-probe-secret';
export const leastSecret = 32;
export const secretHashVariable = 'PROBE_SECRET_HASH';
/** SHA-256 in hex. */
export const secretHash = /^[0-9a-f]{64}$/;
