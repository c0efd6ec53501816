/** The two tables of sessions that are kept as records, and what their rows say. */
import type { AdapterSession, StoredRow, StoredTable } from 'authkernel/kernel'
import type { SessionGeneration } from 'authkernel/kernel/stores'

const text = { type: 'string', max: 255, optional: false, default: undefined } as const
const date = { type: 'date', max: 255, optional: false, default: undefined } as const

/** Sessions by the hash of their token. `until`: when the row goes, which is earlier than `expires` for a copy. */
export const sessionTable: StoredTable = {
  name: 'storedSession',
  fields: [
    // With the name of a tenant before it.
    { ...text, name: 'userId', max: 300 },
    { ...text, name: 'stamp', max: 48 },
    { ...date, name: 'expires' },
    { ...date, name: 'created', optional: true },
    { name: 'columns', type: 'text', max: 255, optional: true, default: null },
    { name: 'revision', type: 'integer', max: 255, optional: false, default: 0 },
    { ...date, name: 'until' },
  ],
  unique: [],
  index: [['userId']],
  owner: undefined,
  expires: 'until',
}

/** Generations by the hash of a user's id: only of users all of whose sessions were ended together. */
export const generationTable: StoredTable = {
  name: 'sessionGeneration',
  fields: [
    { ...text, name: 'generation', max: 48 },
    { ...text, name: 'kept', optional: true },
    { ...text, name: 'keptStamp', max: 48, optional: true },
    { ...date, name: 'until' },
  ],
  unique: [],
  index: [],
  owner: undefined,
  expires: 'until',
}

/** Fields of a row that a session decides, without its user, stamp and end of the row. */
export function fieldsOf({ sessionToken: _secret, userId: _user, expires, createdAt, ...columns }: AdapterSession): {
  expires: Date
  created: Date | null
  columns: string | null
} {
  const own = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
  return { expires, created: createdAt ?? null, columns: Object.keys(own).length === 0 ? null : JSON.stringify(own) }
}

/** The session of a row, under the token or the listed form that the caller has. */
export function toSession(sessionToken: string, row: StoredRow): AdapterSession {
  const { userId, expires, created, columns } = row
  return {
    ...(typeof columns === 'string' ? (JSON.parse(columns) as Record<string, unknown>) : {}),
    sessionToken,
    userId: String(userId),
    expires: expires as Date,
    ...(created !== null && { createdAt: created as Date }),
  }
}

/** The generation that a row says; no row: that of users whose sessions were never ended together. */
export function toGeneration(row: StoredRow | null): SessionGeneration {
  if (!row) return { name: '', kept: undefined }
  const { generation, kept, keptStamp } = row
  return {
    name: String(generation),
    kept: typeof kept === 'string' ? { session: kept, stamp: String(keptStamp ?? '') } : undefined,
  }
}
