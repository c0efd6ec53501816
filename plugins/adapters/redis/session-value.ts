/**
 * A session as one short text: `expires.createdAt.stamp.userId`, times in base 36, and a line with the columns of the host where it has any.
 * The stamp is the generation of the user's sessions when the session began.
 */
import type { AdapterSession } from 'authkernel/kernel'

/** What is kept of a session. Its token is not. */
export interface StoredSession {
  readonly userId: string
  /** Milliseconds. */
  readonly expires: number
  /** Milliseconds; undefined: not known. */
  readonly createdAt: number | undefined
  readonly stamp: string
  /** Columns of the host. Dates are texts of ISO 8601. */
  readonly columns: Readonly<Record<string, unknown>>
}

/** Writes a session. Times keep their milliseconds. */
export function writeSession({ userId, expires, createdAt, stamp, columns }: StoredSession): string {
  const line = `${expires.toString(36)}.${createdAt?.toString(36) ?? ''}.${stamp}.${encodeURIComponent(userId)}`
  return Object.keys(columns).length === 0 ? line : `${line}\n${JSON.stringify(columns)}`
}

/** Reads what `writeSession` wrote. Throws for any other text: it is not signed out, it is an error of the store. */
export function readSession(text: string): StoredSession {
  const [line = '', columns] = text.split('\n', 2)
  const [expires = '', createdAt = '', stamp = '', userId = ''] = line.split('.', 4)
  const end = Number.parseInt(expires, 36)
  if (Number.isNaN(end) || userId === '') throw new Error('[redis] A stored session cannot be read.')
  return {
    userId: decodeURIComponent(userId),
    expires: end,
    createdAt: createdAt === '' ? undefined : Number.parseInt(createdAt, 36),
    stamp,
    columns: columns === undefined ? {} : (JSON.parse(columns) as Record<string, unknown>),
  }
}

/** The row of an adapter. */
export function toRow(sessionToken: string, { userId, expires, createdAt, columns }: StoredSession): AdapterSession {
  return {
    ...columns,
    sessionToken,
    userId,
    expires: new Date(expires),
    ...(createdAt !== undefined && { createdAt: new Date(createdAt) }),
  }
}

/** The parts of a row, with a stamp. */
export function fromRow({ sessionToken: _secret, userId, expires, createdAt, ...columns }: AdapterSession, stamp: string): StoredSession {
  const own = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
  return { userId, expires: expires.getTime(), createdAt: createdAt?.getTime(), stamp, columns: own }
}
