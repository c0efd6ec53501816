/** An index to import on demand: what serving needs beyond the snapshot. Registering and compiling need none of it. */
import { recordTables } from '../store/records.ts'
import { flows } from './request-context.ts'
import { handlers } from './routes.ts'

export { finishResponse } from './finish.ts'
export { JobContext } from './common-context.ts'
export { RequestContext } from './request-context.ts'
export { resolveSettings, resolveTenant } from './settings.ts'

/** What later requests load. */
export const laterLoads: readonly (() => unknown)[] = [flows, handlers, recordTables]
