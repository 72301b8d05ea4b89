import type { Writable } from 'node:stream';

/** Writes lines to a stream. Those of one turn of the event loop leave together, in one write to the system. */
export function gatherLines(stream: Writable): (line: string) => void {
  let gathering = false;
  const release = () => {
    gathering = false;
    stream.uncork();
  };
  return (line) => {
    if (!gathering) {
      gathering = true;
      stream.cork();
      setImmediate(release);
    }
    stream.write(line);
  };
}
