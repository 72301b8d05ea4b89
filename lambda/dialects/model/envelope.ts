import type { Json, Node } from '../../json/scan.ts';
import type { Findings } from './findings.ts';

/** `provider`, `system_fingerprint`, `x_acme`, `timings`; not `id` or `created`. */
const providerField =
  /^(provider|system_fingerprint|native_finish_reason|x_.*|cost|cost_details|is_byok|timings|kv_transfer_params|prompt_token_ids)$/s;

const maybeProviderField = new Set([...'cikmnpstx\\'].map((first) => first.charCodeAt(0)));

/** Whether a member reveals the provider. */
export const isProviderField = (name: string): boolean => name === 'model' || providerField.test(name);

/** Records the members of an object that reveal the provider: the model, and vendor fields. */
export function recordProviderFields(json: Json, object: Node | undefined, found: Findings): void {
  if (object === undefined || json.kind(object) !== 'object') return;
  const end = json.next(object);
  for (let key = object + 1; key < end; key = json.next(key + 1)) {
    // The first character rules out most keys.
    if (!maybeProviderField.has(json.text.charCodeAt(json.start(key) + 1))) continue;
    const name = json.string(key);
    if (name === 'model') found.model(key + 1);
    else if (providerField.test(name)) found.drop(object, key);
  }
}

/** The object around the generated content: the prefix of its id, and the members that the dialect defines. */
export interface Envelope {
  readonly idPrefix: string;
  readonly members: ReadonlySet<string>;
}

/** Records everything in an envelope that reveals the provider, including an id in a vendor's form. */
export function recordEnvelope(json: Json, object: Node, { idPrefix, members }: Envelope, found: Findings): void {
  recordVendorMembers(json, object, members, found);
  for (const key of json.keys(object)) {
    const value = key + 1;
    if (json.string(key) !== 'id' || json.kind(value) !== 'string') continue;
    const id = json.string(value);
    const rest = afterPrefix(id, idPrefix);
    if (rest !== id && idPrefix + rest !== id) found.id(value, idPrefix);
  }
}

/** Records what reveals the provider in an object, including a machine's name in any member outside `members`, which the dialect defines. */
export function recordVendorMembers(json: Json, object: Node, members: ReadonlySet<string>, found: Findings): void {
  recordProviderFields(json, object, found);
  for (const key of json.keys(object)) {
    const name = json.string(key);
    if (!members.has(name) && !isProviderField(name) && namesMachine(json, key)) found.drop(object, key);
  }
}

/** A router's `gen-`; not the start of a UUID. */
const anyPrefix = /^(?![0-9a-f]+-)[a-z]+[-_]/;
/** What clouds add to the ids of models that they resell: `msg_bdrk_01`. */
const cloudPrefix = /^(bdrk|vrtx)_/;

/** An id without this prefix, or without a vendor's. */
export function afterPrefix(id: string, prefix: string): string {
  return (id.startsWith(prefix) ? id.slice(prefix.length) : id.replace(anyPrefix, '')).replace(cloudPrefix, '');
}

/** `host`, `pod_name`, `workerId`. */
const machineName =
  /(^|_)(host|pod|node|worker|machine|server|instance|replica|cluster|region|zone|namespace|datacenter)s?(_?(name|id|ip|uuid))?$/i;
/** `gpu-7.internal`, `gpu7.acme.example:8000`, `10.0.0.7`, `vllm-6c9d8b7f5d-x2k4q`. */
const machine =
  /^[\w-]+\.(internal|local|lan)(:\d+)?$|^([\w-]+\.){2,}[a-z]{2,}(:\d+)?$|^\d{1,3}(\.\d{1,3}){3}(:\d+)?$|^[\w-]+-[0-9a-f]{8,10}-[0-9a-z]{5}$/i;
/** In characters, including the quotes. */
const longestMachine = 255;

/** Whether a member names a machine, or holds one at any depth. */
function namesMachine(json: Json, member: Node): boolean {
  const end = json.next(member + 1);
  for (let node = member; node < end; node += 1) {
    if (json.end(node) - json.start(node) > longestMachine) continue;
    if (json.isKey(node)) {
      if (machineName.test(json.string(node)) && json.kind(node + 1) !== 'null') return true;
    } else if (json.kind(node) === 'string' && machine.test(json.string(node))) return true;
  }
  return false;
}
