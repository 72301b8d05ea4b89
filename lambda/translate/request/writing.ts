import type { Node } from '../../json/scan.ts';
import type { ChatUpstream } from '../options.ts';
import type { ToolTable } from '../tools.ts';
import type { Asking, Raw } from './asking.ts';

/** One request while it is written. */
export interface Writing {
  readonly asking: Asking;
  readonly upstream: ChatUpstream;
  readonly names: ToolTable;
  /** Adds JSON text to the body. */
  readonly add: (...raws: readonly Raw[]) => void;
  /** Notes a place that the upstream has nothing for. */
  readonly leaveOut: (at: Node) => void;
}
