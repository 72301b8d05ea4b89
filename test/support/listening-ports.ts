import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const listens = '0A';

/** The TCP ports at which a process listens, as Linux tells them: https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html */
export function listeningPorts(pid: number): number[] {
  const sockets = new Map<string, number>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === listens) sockets.set(`socket:[${inode}]`, Number.parseInt(local.split(':')[1] ?? '', 16));
    }
  }
  const open = readdirSync(`/proc/${pid}/fd`).map((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
    } catch {
      return ''; // It has been closed since.
    }
  });
  return open.flatMap((target) => sockets.get(target) ?? []);
}
