/** Where sessions are recorded or ended from elsewhere: a read needs none of it. */
import { lazily, type Lazy } from 'authkernel/kernel'

export const others: Lazy<typeof import('./others.ts')> = /* @__PURE__ */ lazily(() => import('./others.ts'))
