/** What the kernel registers itself, after everybody else: records and cookies of parked logins, endings of access, and leases. */
import type { RecordSpec } from '../contract/records.ts'
import type { Draft } from '../registry/draft.ts'
import { accessRecord, accessRecordName } from '../access/endings.ts'
import { parkedCookies, parkedRecord } from '../sign-in/parked-parts.ts'

const leaseRecord: RecordSpec = {
  fields: { holder: { type: 'string', max: 64 }, until: { type: 'date' } },
  expires: 'until',
  id: 'given',
}

/** Tables appear in a database only where somebody needs them: a plugin with a record of its own, or a `login` hook. */
export function registerOwnParts(draft: Draft): void {
  for (const cookie of parkedCookies) draft.cookie(cookie, 'kernel')
  const needed = draft.records.size > 0 || draft.bus.known.has('hook:login')
  if (!needed || !draft.serviceNames().includes('records')) return
  draft.record('lease', leaseRecord, 'kernel')
  draft.record(accessRecordName, accessRecord as unknown as RecordSpec, 'kernel')
  draft.record('parkedLogin', parkedRecord as unknown as RecordSpec, 'kernel')
}
