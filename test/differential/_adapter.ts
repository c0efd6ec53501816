/** The adapter both libraries get: the nineteen operations of the specification and nothing else, with every call recorded. */
import type { Recorder } from './_recorder.ts'

type Row = Record<string, unknown>
type Operation = (...args: never[]) => unknown

/** What a flow may change. */
export interface AdapterOptions {
  /** Rows that are there before the flow. */
  users?: Row[]
  accounts?: Row[]
  sessions?: Row[]
  tokens?: Row[]
  authenticators?: Row[]
  /** Operations that the adapter lacks. */
  omit?: string[]
  /** Operations with another implementation: throwing ones for example. */
  replace?: Record<string, Operation>
}
export type RecordedAdapter = Record<string, Operation>

/** An empty store in memory with the given rows. */
export function recordedAdapter(recorder: Recorder, options: AdapterOptions = {}): RecordedAdapter {
  const rows = (given: Row[] = []): Row[] => given.map((row) => ({ ...row }))
  const users = rows(options.users)
  const accounts = rows(options.accounts)
  const sessions = rows(options.sessions)
  const tokens = rows(options.tokens)
  const authenticators = rows(options.authenticators)
  const find = (list: Row[], key: Row): Row | undefined =>
    list.find((row) => Object.entries(key).every(([name, value]) => row[name] === value))
  const get = (list: Row[], key: Row): Row | null => copy(find(list, key))
  const put = (list: Row[], row: Row): Row => {
    list.push({ ...row })
    return { ...row }
  }
  const change = (list: Row[], key: Row, values: Row): Row | null => {
    const row = find(list, key)
    return row ? { ...Object.assign(row, values) } : null
  }
  const drop = (list: Row[], key: Row): Row | null => {
    const row = find(list, key)
    if (row) list.splice(list.indexOf(row), 1)
    return copy(row)
  }
  const operations: Record<string, Operation> = {
    // Auth.js leaves the id of a passkey's user to the adapter.
    createUser: (user: Row) => put(users, { id: crypto.randomUUID(), ...user }),
    getUser: (id: string) => get(users, { id }),
    getUserByEmail: (email: string) => get(users, { email }),
    getUserByAccount({ provider, providerAccountId }: Row) {
      const account = find(accounts, { provider, providerAccountId })
      return account ? get(users, { id: account['userId'] }) : null
    },
    updateUser: (values: Row) => change(users, { id: values['id'] }, values),
    deleteUser: (id: string) => drop(users, { id }),
    linkAccount: (account: Row) => put(accounts, account),
    unlinkAccount: ({ provider, providerAccountId }: Row) => drop(accounts, { provider, providerAccountId }),
    getAccount: (providerAccountId: string, provider: string) => get(accounts, { provider, providerAccountId }),
    createSession: (session: Row) => put(sessions, session),
    getSessionAndUser(sessionToken: string) {
      const session = get(sessions, { sessionToken })
      const user = session && get(users, { id: session['userId'] })
      return session && user ? { session, user } : null
    },
    updateSession: (values: Row) => change(sessions, { sessionToken: values['sessionToken'] }, values),
    deleteSession: (sessionToken: string) => drop(sessions, { sessionToken }),
    createVerificationToken: (token: Row) => put(tokens, token),
    useVerificationToken: ({ identifier, token }: Row) => drop(tokens, { identifier, token }),
    createAuthenticator: (row: Row) => put(authenticators, row),
    getAuthenticator: (credentialID: string) => get(authenticators, { credentialID }),
    listAuthenticatorsByUserId: (userId: string) => authenticators.filter((row) => row['userId'] === userId).map((row) => ({ ...row })),
    updateAuthenticatorCounter: (credentialID: string, counter: number) => change(authenticators, { credentialID }, { counter }),
    ...options.replace,
  }
  const adapter: RecordedAdapter = {}
  for (const [name, operation] of Object.entries(operations)) {
    if (options.omit?.includes(name)) continue
    adapter[name] = async (...args: never[]) => {
      recorder.note('adapter', name, args)
      return operation(...args)
    }
  }
  return adapter
}

function copy(row: Row | undefined): Row | null {
  return row ? { ...row } : null
}
