/** The log of everything that happened: every event of the kernel and every mail, live in the browser. */
import type { EventHandler, Events } from 'authkernel'
import type { Response } from 'express'

/** One line of the log. Never a token, never a secret: what is written here is meant to be shown. */
export interface Entry {
  id: number
  at: string
  event: string
  detail: string
  bad: boolean
}
/** The log and its readers. */
export interface Audit {
  /** Newest first. */
  entries: readonly Entry[]
  write(event: string, detail: string, bad?: boolean): void
  /** Sends entries as server-sent events (WHATWG HTML, section 9.2) until the reader leaves. */
  stream(res: Response): void
}
type On = <K extends keyof Events>(name: K, handler: EventHandler<K>) => unknown

const kept = 200

export function createAudit(): Audit {
  const entries: Entry[] = []
  const readers = new Set<Response>()
  let last = 0
  return {
    entries,
    write(event, detail, bad = false) {
      const entry = { id: ++last, at: new Date().toISOString(), event, detail, bad }
      entries.unshift(entry)
      entries.length = Math.min(entries.length, kept)
      for (const reader of readers) reader.write(`id: ${entry.id}\ndata: ${JSON.stringify(entry)}\n\n`)
    },
    stream(res) {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      res.write('retry: 2000\n\n')
      readers.add(res)
      res.once('close', () => readers.delete(res))
    },
  }
}

/** Writes every event of an `auth`. */
export function record(on: On, audit: Audit): void {
  on('createUser', ({ user }) => audit.write('createUser', who(user)))
  on('updateUser', ({ user }) => audit.write('updateUser', who(user)))
  on('linkAccount', ({ user, account }) => audit.write('linkAccount', `${account.provider} → ${who(user)}`))
  on('signIn', ({ user, account, isNewUser }) =>
    audit.write('signIn', `${who(user)} by ${account?.provider ?? 'unknown'}${isNewUser ? ', new' : ''}`),
  )
  on('signOut', (ended) => audit.write('signOut', 'token' in ended ? (ended.token?.name ?? '') : (ended.session?.userId ?? '')))
  on('tokensRefreshed', ({ provider }) => audit.write('tokensRefreshed', provider))
  on('tokensExpired', ({ provider, reason }) => audit.write('tokensExpired', `${provider}: ${reason}`, true))
  on('providerLogout', ({ provider, sub }) => audit.write('providerLogout', `${sub ?? 'a session'} at ${provider}`))
  on('sessionsEnded', ({ count, by }) => audit.write('sessionsEnded', `${count ?? 'some'} by ${by ?? 'the system'}`))
  on('session', ({ session }) => audit.write('session', who(session.user)))
  on('signInFailed', ({ provider, error, user }) =>
    audit.write(
      'signInFailed',
      [provider, 'code' in error ? `${error.type} (${String(error.code)})` : error.type, user && who(user)].filter(Boolean).join(' · '),
      true,
    ),
  )
}

function who(user: { name?: string | null; email?: string | null; id?: string } | undefined): string {
  return user?.email ?? user?.name ?? user?.id ?? 'no user'
}
