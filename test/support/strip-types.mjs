// Jest runs TypeScript as Node does. Types are checked by tsc, not here.
import { stripTypeScriptTypes } from 'node:module';

export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
