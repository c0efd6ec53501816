/** What happened, when, to whom, from where: rows in SQL (libsql). Written behind the answer; a database that is down costs rows, never a sign-in. */
import type { Client } from '@libsql/client'
import { type AnyEvent, type Plugin, withTimeout } from 'authkernel/kernel'

export interface AuditRow {
  at: string
  event: string
  outcome: 'success' | 'failure'
  user: string | null
  provider: string | null
  ip: string | null
  agent: string | null
  detail: string | null
}
export interface AuditRows {
  /** Waits until what was told so far is written, or given up. */
  flush(): Promise<void>
  rows(): Promise<AuditRow[]>
  readonly lost: number
}
const failures = new Set(['signInFailed', 'refused', 'configurationFault'])

/** `deadline` in milliseconds. */
export function auditRowsPlugin(
  db: Client,
  { max = 10_000, deadline = 2000 }: { max?: number; deadline?: number } = {},
): Plugin<{ auditRows: AuditRows }> {
  return {
    name: 'audit-rows',
    setup(kernel) {
      let queue: Promise<unknown> = Promise.resolve()
      let waiting = 0
      let lost = 0
      const sql = 'insert into audit values (?, ?, ?, ?, ?, ?, ?, ?)'
      const table =
        'create table if not exists audit (at text, event text, outcome text, user text, provider text, ip text, agent text, detail text)'

      kernel.on('*', (told) => {
        if (waiting >= max) return void lost++
        waiting++
        const args = rowOf(told)
        queue = queue
          .then(() =>
            withTimeout(db.batch([table, { sql, args }], 'write'), deadline, () => new Error('The audit database does not answer.')),
          )
          .catch(() => lost++)
          .finally(() => waiting--)
      })
      kernel.onClose(async () => void (await queue))
      return {
        auditRows: {
          flush: async () => void (await queue),
          rows: async () => (await queue, (await db.execute('select * from audit order by rowid')).rows as unknown as AuditRow[]),
          get lost() {
            return lost
          },
        },
      }
    },
  }
}

/** Fields that events share by name, whichever plugin tells them. */
interface Common {
  user?: { id?: string; email?: string | null } | null
  userId?: string
  account?: { provider: string } | null
  provider?: string
  tried?: string
  login?: { user: { id?: string } }
  session?: { userId?: string } | null
  token?: { sub?: string } | null
  error?: { type?: string; code?: unknown; name: string }
}
function rowOf({ event, message }: AnyEvent): (string | null)[] {
  const { at, address, userAgent } = message.facts
  const { user, userId, account, provider, tried, login, session, token, error } = message as Common
  const code = typeof error?.code === 'string' ? ` ${error.code}` : ''
  return [
    new Date(at).toISOString(),
    event,
    failures.has(event) ? 'failure' : 'success',
    user?.id ?? userId ?? login?.user.id ?? session?.userId ?? token?.sub ?? tried ?? null,
    account?.provider ?? provider ?? null,
    address ?? null,
    userAgent ?? null,
    error ? (error.type ?? error.name) + code : null,
  ]
}
