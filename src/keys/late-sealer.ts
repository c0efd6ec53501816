/** The default `sealer`, loaded by the first value that is sealed or opened: registering and compiling need no cryptography. */
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Sealer } from '../contract/services.ts'
import { lateObject, lazily, type Lazy } from '../runtime/lazily.ts'

/** What it loads. */
export const sealing: Lazy<typeof import('./sealer.ts')> = /* @__PURE__ */ lazily(() => import('./sealer.ts'))

/** One for all snapshots of a kernel. */
export function lateSealer(runtime: Runtime, shared: Shared): Sealer {
  return lateObject(['seal', 'open'], sealing, ({ createSealer }) => createSealer(runtime, shared))
}
