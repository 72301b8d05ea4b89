import { code, prose } from './html.ts';
import { type Header, type OpenApi, type Ref, type Response, resolve, type Schema } from './openapi.ts';
import { listEndpoints } from './render-operation.ts';

/** How a path answers other methods and a WebSocket's handshake. */
const besides = { 'x-other-methods': '405', 'x-websocket': '426' };

/** What every status except success means, each meaning once, however many endpoints have it. */
export function renderErrors(document: OpenApi): string {
  const statuses = new Map<string, Map<string, readonly unknown[]>>();
  const note = (status: string, { description, headers }: Response) => {
    const error = Object.entries(headers ?? {}).find(([name]) => name.endsWith('-Error'))?.[1];
    const meanings = statuses.get(status) ?? new Map();
    statuses.set(status, meanings.set(description, error ? codesOf(resolve<Header>(document, error).schema) : []));
  };
  for (const { operation } of listEndpoints(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status !== '200') note(status, resolve<Response>(document, response));
    }
  }
  for (const methods of Object.values(document.paths)) {
    for (const [extension, status] of Object.entries(besides)) {
      const answer = methods[extension] as Ref | undefined;
      if (answer) note(status, resolve<Response>(document, answer));
    }
  }
  note('404', resolve<Response>(document, document['x-unknown-path']));
  const rows = [...statuses]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(
      ([status, meanings]) =>
        `<div id="status-${status}"><dt>${status}</dt>${[...meanings]
          .map(
            ([text, codes]) =>
              `<dd>${codes.map((name) => code(String(name))).join(' ')}<span>${prose(text)}</span></dd>`,
          )
          .join('')}</div>`,
    );
  return `<dl class="errors">${rows.join('')}</dl>`;
}

const codesOf = ({ const: constant, enum: values = [constant] }: Schema = {}): readonly unknown[] => values;
