import { readdirSync } from 'node:fs';
import { gatewayFileDirectory, readGatewayFile } from './gateway-file.ts';

/** The ports of this user's running gateways. */
export function runningPorts(directory = gatewayFileDirectory()): number[] {
  const ports = namesIn(directory).flatMap((name) => Number(/^gateway-(\d+)\.json$/.exec(name)?.[1]) || []);
  return ports.filter((port) => readGatewayFile(port, directory) !== undefined).toSorted((a, b) => a - b);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // none has ever run
  }
}
