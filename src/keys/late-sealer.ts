/** The default `sealer`, loaded by the first value that is sealed or opened: registering and compiling need no cryptography. */
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Sealer } from '../contract/services.ts'
import { lazily, type Lazy } from '../runtime/lazily.ts'

/** What it loads. */
export const sealing: Lazy<typeof import('./sealer.ts')> = /* @__PURE__ */ lazily(() => import('./sealer.ts'))

/** From then on its methods are those of the loaded one: a session read runs through nothing more. */
export function lateSealer(runtime: Runtime, shared: Shared): Sealer {
  let made: Sealer | undefined
  const become = async (): Promise<Sealer> => {
    const { createSealer } = await sealing()
    return (made ??= Object.assign(sealer, createSealer(runtime, shared)))
  }
  const sealer: Sealer = {
    seal: (purpose, payload, seconds, settings) =>
      made ? made.seal(purpose, payload, seconds, settings) : become().then((own) => own.seal(purpose, payload, seconds, settings)),
    open: (purpose, token, settings, endless) =>
      made ? made.open(purpose, token, settings, endless) : become().then((own) => own.open(purpose, token, settings, endless)),
  }
  return sealer
}
