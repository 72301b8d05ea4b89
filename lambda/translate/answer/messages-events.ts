import type { Literal } from './facts.ts';

export type MessageEvents = ReturnType<typeof createMessageEvents>;

/** The events of a message. Its blocks have indexes without gaps. `live`: whether anyone reads them. */
export function createMessageEvents(live: boolean) {
  let out = '';
  let index = 0;
  let head = '';
  const delta = 'content_block_delta';
  const begin = (type: string): string => `event: ${type}\ndata: {"type":"${type}"`;
  // Joined, as V8 would put a template together anew with each event.
  const beginDelta = (type: string, member: string) =>
    [begin(delta), `,"index":${index},"delta":{"type":"${type}","${member}":`].join('');

  /** Writes an event with these members, given as JSON. */
  function write(type: string, members = ''): void {
    if (live) out += `${begin(type)}${members && `,${members}`}}\n\n`;
  }

  return {
    write,
    /** Starts a block, whose text then comes in deltas of this type, in this member. */
    open(block: string, deltaType: string, member: string): void {
      write('content_block_start', `"index":${index},"content_block":${block}`);
      head = beginDelta(deltaType, member);
    },
    /** Adds to the open block. */
    add(text: Literal): void {
      if (live && text.length > 2) out += `${head}${text}}}\n\n`;
    },
    /** Adds to the open block what comes in one delta of another type. */
    addOnce(deltaType: string, member: string, value: string): void {
      if (live) out += `${beginDelta(deltaType, member)}${value}}}\n\n`;
    },
    close(): void {
      write('content_block_stop', `"index":${index}`);
      index += 1;
    },
    take(): string {
      const written = out;
      out = '';
      return written;
    },
  };
}
