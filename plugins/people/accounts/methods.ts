/** `auth.accounts`, `auth.sessions` and `auth.users`. */
import { type Account, type AdapterAccount, type AdapterMethod, type AnyContext, jobFor, type Kernel, type Store } from 'authkernel/kernel'
import { AccountNotLinked, MissingAdapter, MissingAdapterMethods } from 'authkernel/errors'
import { disconnectAccount } from 'authkernel/kernel/users'
import { type DataExport, exportData } from './data-export.ts'
import { type ErasureReport, eraseUser } from './erasure.ts'
import { type LinkedAccount, toLinkedAccount } from './linked-account.ts'
import { createSessions, type SessionsApi, type Who } from './methods-sessions.ts'
import { changeProfile, type Profile, toProfile } from './profile.ts'

/** What the plugin puts on `auth`. When signed out, or for an unknown user, lists are empty and the others return false. */
export interface AccountsApi {
  accounts: {
    list(who: Who): Promise<LinkedAccount[]>
    /** Links an account manually; false when the user has it already. Throws AccountNotLinked when it is another user's, or rejected. */
    link(who: Who, account: Account): Promise<boolean>
    /**
     * Takes an account away, and ends the other sessions of the user. Throws LastAccount when the user could not sign in any more, unless `last` says that there is
     * another way in.
     */
    unlink(who: Who, account: Pick<Account, 'provider' | 'providerAccountId'>, options?: { last?: boolean }): Promise<boolean>
  }
  sessions: SessionsApi
  profile: {
    /** Null when signed out, or for an unknown user. */
    get(who: Who): Promise<Profile | null>
    /**
     * Changes name, picture and custom fields that are `editable`; null clears one. Throws HttpError 400 for a wrong value or another field. A session by jwt shows
     * the change after its next update: `client.profile.update` renews it at once.
     */
    update(who: Who, change: { name?: string | null; image?: string | null; [field: string]: unknown }): Promise<Profile | null>
  }
  users: {
    /** Everything that is kept about the user. Null when signed out, or for an unknown user. */
    export(who: Who): Promise<DataExport | null>
    /** Deletes the user with all that belongs to them. */
    delete(who: Who): Promise<boolean>
    /** The same, with a report of what was removed, for a request of erasure. Null when signed out, or where nothing of the user is there. */
    erase(who: Who): Promise<ErasureReport | null>
  }
}

/** Methods on `auth`. */
export function createApi(kernel: Kernel): AccountsApi {
  return { accounts: createAccounts(kernel), sessions: createSessions(kernel), profile: createProfile(kernel), users: createUsers(kernel) }
}

function createAccounts(kernel: Kernel): AccountsApi['accounts'] {
  return {
    async list(who) {
      const found = await findStoredUser(kernel, who, 'listAccountsByUserId')
      if (!found) return []
      const rows = await found.store.listAccountsByUserId(found.userId)
      return rows.map(toLinkedAccount)
    },
    async link(who, account) {
      const found = await findStoredUser(kernel, who, 'linkAccount', 'getUserByAccount', 'getUser')
      const user = found && (await found.store.getUser(found.userId))
      if (!user) return false
      const { ctx, store } = found
      const owner = await store.getUserByAccount(accountKey(account))
      if (owner?.id === user.id) return false
      if (owner) throw new AccountNotLinked('accounts.link: the account belongs to another user.')
      if (ctx.has('hook', 'link') && (await ctx.ask('link', { user, account })) !== true) {
        throw new AccountNotLinked('accounts.link: the link hook rejected the account.')
      }
      await store.linkAccount({ ...account, userId: user.id } as AdapterAccount)
      await ctx.emit('linkAccount', { user, account, profile: user })
      return true
    },
    async unlink(who, account, { last = false } = {}) {
      const found = await findStoredUser(kernel, who, 'getUser', 'linkAccount', 'unlinkAccount', 'listAccountsByUserId')
      if (!found) return false
      const user = await found.store.getUser(found.userId)
      return user !== null && disconnectAccount(found.ctx, user, account, { by: 'accounts.unlink', last, unknownProviders: true })
    },
  }
}

function createProfile(kernel: Kernel): AccountsApi['profile'] {
  return {
    async get(who) {
      const found = await findStoredUser(kernel, who, 'getUser')
      const user = found && (await found.store.getUser(found.userId))
      return user ? toProfile(found.store, user) : null
    },
    async update(who, change) {
      const found = await findStoredUser(kernel, who, 'getUser', 'updateUser')
      return found ? changeProfile(found.ctx, found.userId, change) : null
    },
  }
}

function createUsers(kernel: Kernel): AccountsApi['users'] {
  return {
    async export(who) {
      const found = await findStoredUser(kernel, who, 'getUser')
      return found ? exportData(found.ctx, found.userId) : null
    },
    async erase(who) {
      const found = await findStoredUser(kernel, who, 'deleteUser', 'getUser')
      return found ? eraseUser(found.ctx, found.userId) : null
    },
    async delete(who) {
      const found = await findStoredUser(kernel, who, 'deleteUser', 'getUser')
      if (!found || !(await found.store.getUser(found.userId))) return false
      await found.store.deleteUser(found.userId)
      return true
    },
  }
}

type StoredUserScope = { ctx: AnyContext; store: Store; userId: string }
/** The store and the user, if there is one; throws when the adapter lacks an operation. */
async function findStoredUser(kernel: Kernel, who: Who, ...methods: AdapterMethod[]): Promise<StoredUserScope | undefined> {
  const asked = who instanceof Request ? await kernel.contextOf(who) : undefined
  const ctx = asked ?? (await kernel.contextOf(jobFor('accounts', who as Exclude<Who, Request>)))
  const { store } = ctx
  if (!store) throw new MissingAdapter('Plugin "accounts" needs an adapter: add one with adapterPlugin().')
  const missing = methods.filter((method) => !store.supports(method))
  if (missing.length > 0) throw new MissingAdapterMethods(`Plugin "accounts": the adapter has no ${missing.join(', ')}.`)
  const userId = asked ? (await asked.session.user(asked))?.id : (who as Exclude<Who, Request>).userId
  return userId === undefined ? undefined : { ctx, store, userId }
}

function accountKey({
  provider,
  providerAccountId,
}: Pick<Account, 'provider' | 'providerAccountId'>): Pick<Account, 'provider' | 'providerAccountId'> {
  return { provider, providerAccountId }
}
