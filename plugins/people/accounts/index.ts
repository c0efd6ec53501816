/** A server API for what people manage about themselves: linked accounts, sessions on other devices, and leaving. */
import {
  type Account,
  AccountNotLinked,
  type AdapterAccount,
  type AdapterAccountType,
  type AdapterMethod,
  type AdapterSession,
  AuthError,
  type Context,
  type Kernel,
  MissingAdapter,
  MissingAdapterMethods,
  type Plugin,
  sha256,
  type Store,
  toHex,
} from 'authkernel/kernel'

/** Whose: the person who is signed in on a request, or a stored user. */
export type Who = Request | { userId: string }
/** A linked account as people may see it: without tokens. */
export interface LinkedAccount {
  provider: string
  providerAccountId: string
  type: AdapterAccountType
}
/** A session as people may see it: without its token. */
export interface ListedSession {
  /** SHA-256 of the token in hex: names it, opens nothing. */
  id: string
  expires: Date
  /** When it began, where the adapter keeps that. */
  createdAt: Date | null
  /** Whether it is the one of the given request. */
  current: boolean
}
/** What the plugin puts on `auth`. Nobody signed in, or an unknown user: lists are empty, the others answer false. */
export interface AccountsApi {
  accounts: {
    list(who: Who): Promise<LinkedAccount[]>
    /** Links an account by hand; false when the person has it already. Throws AccountNotLinked when it is somebody else's, or refused. */
    link(who: Who, account: Account): Promise<boolean>
    /** Takes an account away. Throws when it is the last one, unless `last` says that the person has another way in. */
    unlink(who: Who, account: Pick<Account, 'provider' | 'providerAccountId'>, options?: { last?: boolean }): Promise<boolean>
  }
  sessions: {
    list(who: Who): Promise<ListedSession[]>
    /** Ends the session of an id from `list`. */
    revoke(who: Who, id: string): Promise<boolean>
    /** Ends all sessions but the one of the request; for a `userId`, all. */
    revokeOthers(who: Who): Promise<boolean>
  }
  users: {
    /** Deletes the user with all that belongs to them. */
    delete(who: Who): Promise<boolean>
  }
}
type Found = { ctx: Context; store: Store; userId: string }

/**
 * Puts `accounts`, `sessions` and `users` on `auth`. They check who is asked for, not who asks: call them behind your own routes, with the
 * request, and with a CSRF token where they change something. Sessions need the database strategy.
 */
export function accountsPlugin(): Plugin<AccountsApi> {
  return {
    name: 'accounts',
    requires: ['store'],
    setup: (kernel) => ({ accounts: accounts(kernel), sessions: sessions(kernel), users: users(kernel) }),
  }
}

function accounts(kernel: Kernel): AccountsApi['accounts'] {
  return {
    async list(who) {
      const found = await find(kernel, who, 'listAccountsByUserId')
      if (!found) return []
      const rows = await found.store.listAccountsByUserId(found.userId)
      return rows.map(({ provider, providerAccountId, type }) => ({ provider, providerAccountId, type }))
    },
    async link(who, account) {
      const found = await find(kernel, who, 'linkAccount', 'getUserByAccount', 'getUser')
      const user = found && (await found.store.getUser(found.userId))
      if (!user) return false
      const { ctx, store } = found
      const owner = await store.getUserByAccount(keyOf(account))
      if (owner?.id === user.id) return false
      if (owner) throw new AccountNotLinked('accounts.link: the account belongs to another user.')
      if (ctx.has('hook', 'link') && (await ctx.ask('link', { user, account })) !== true) {
        throw new AccountNotLinked('accounts.link: the link hook refused to link the account.')
      }
      await store.linkAccount({ ...account, userId: user.id } as AdapterAccount)
      await ctx.emit('linkAccount', { user, account, profile: user })
      return true
    },
    async unlink(who, account, { last = false } = {}) {
      const found = await find(kernel, who, 'linkAccount', 'unlinkAccount', 'listAccountsByUserId')
      if (!found) return false
      const { store, userId } = found
      const rows = await store.listAccountsByUserId(userId)
      const row = rows.find((each) => each.provider === account.provider && each.providerAccountId === account.providerAccountId)
      if (!row) return false
      if (rows.length === 1 && !last) throw lastAccount()
      await store.unlinkAccount(keyOf(account))
      // Another one may have been unlinked at the same moment.
      if (!last && (await store.listAccountsByUserId(userId)).length === 0) {
        await store.linkAccount(row)
        throw lastAccount()
      }
      await forgetAuthenticators(store, userId, row)
      return true
    },
  }
}

function lastAccount(): AuthError {
  return new AuthError(
    'accounts.unlink: this is the last account of the user, who could not sign in again. Pass { last: true } to allow it.',
  )
}

/** A passkey without its account would still sign in. */
async function forgetAuthenticators(store: Store, userId: string, { type, providerAccountId }: AdapterAccount): Promise<void> {
  if (type !== 'webauthn' || !store.supports('listAuthenticatorsByUserId') || !store.supports('deleteAuthenticator')) return
  for (const authenticator of await store.listAuthenticatorsByUserId(userId)) {
    if (authenticator.providerAccountId === providerAccountId) await store.deleteAuthenticator(authenticator.credentialID)
  }
}

function sessions(kernel: Kernel): AccountsApi['sessions'] {
  return {
    async list(who) {
      const found = await find(kernel, who, 'listSessionsByUserId')
      if (!found) return []
      const { ctx, store, userId } = found
      const current = await currentId(ctx)
      const rows = (await store.listSessionsByUserId(userId)).filter(({ expires }) => expires > ctx.now)
      return Promise.all(
        rows.map(async (row) => {
          const id = await idOf(row)
          return { id, expires: row.expires, createdAt: row.createdAt ?? null, current: id === current }
        }),
      )
    },
    async revoke(who, id) {
      const found = await find(kernel, who, 'listSessionsByUserId', 'deleteSession')
      if (!found) return false
      for (const row of await found.store.listSessionsByUserId(found.userId)) {
        if ((await idOf(row)) !== id) continue
        await found.store.deleteSession(row.sessionToken)
        return true
      }
      return false
    },
    async revokeOthers(who) {
      const found = await find(kernel, who, 'deleteSessionsByUserId')
      if (!found) return false
      const sessionToken = who instanceof Request ? tokenOf(found.ctx) : undefined
      await found.store.deleteSessionsByUserId(found.userId, sessionToken === undefined ? undefined : { sessionToken })
      return true
    },
  }
}

function users(kernel: Kernel): AccountsApi['users'] {
  return {
    async delete(who) {
      const found = await find(kernel, who, 'deleteUser', 'getUser')
      if (!found || !(await found.store.getUser(found.userId))) return false
      await found.store.deleteUser(found.userId)
      return true
    },
  }
}

/** The store and the user, if there is one; throws when the adapter lacks an operation. */
async function find(kernel: Kernel, who: Who, ...methods: AdapterMethod[]): Promise<Found | undefined> {
  // Nothing of the request is looked at when the user is named; what a tenant is must then be said by the request form.
  const ctx = await kernel.context(who instanceof Request ? who : new Request('http://localhost/'))
  if (ctx.app.fault) throw ctx.app.fault
  const { store } = ctx
  if (!store) throw new MissingAdapter('Plugin "accounts" needs an adapter: add one with adapterPlugin().')
  const missing = methods.filter((method) => !store.supports(method))
  if (missing.length > 0) throw new MissingAdapterMethods(`Plugin "accounts": the adapter has no ${missing.join(', ')}.`)
  const userId = who instanceof Request ? (await ctx.session.user(ctx))?.id : who.userId
  return userId === undefined ? undefined : { ctx, store, userId }
}

function keyOf({
  provider,
  providerAccountId,
}: Pick<Account, 'provider' | 'providerAccountId'>): Pick<Account, 'provider' | 'providerAccountId'> {
  return { provider, providerAccountId }
}

function tokenOf(ctx: Context): string | undefined {
  return ctx.chunkedCookie(ctx.cookies.sessionToken.name)
}

async function currentId(ctx: Context): Promise<string | undefined> {
  const sessionToken = tokenOf(ctx)
  return sessionToken === undefined ? undefined : idOf({ sessionToken })
}

/** The same for a token and for the form in which `hashSessionTokens` lists it. */
async function idOf({ sessionToken }: Pick<AdapterSession, 'sessionToken'>): Promise<string> {
  return /^sha256:[0-9a-f]{64}$/.test(sessionToken) ? sessionToken.slice('sha256:'.length) : toHex(await sha256(sessionToken))
}
