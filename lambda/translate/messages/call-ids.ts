import { hash } from 'node:crypto';
import type { Raw, ToolCall } from '../request/model-request.ts';

/** The ids of a conversation's calls. What others made may not fit, and may come again where calls are numbered anew each turn. */
export function createCallIds() {
  const uses = new Map<Raw, number>();
  const ids = new Map<ToolCall, Raw>();
  return (call: ToolCall): Raw => {
    const known = ids.get(call);
    if (known !== undefined) return known;
    const before = uses.get(call.id) ?? 0;
    uses.set(call.id, before + 1);
    const isFit = before === 0 && /^"[\w-]+"$/.test(call.id);
    const id = isFit ? call.id : `"call_${hash('sha256', `${before || ''}${call.id}`).slice(0, 32)}"`;
    ids.set(call, id);
    return id;
  };
}
