/** Accounts and authenticators of the unstorage adapter. */
import type { Adapter, AdapterAccount, AdapterAuthenticator } from 'authkernel/kernel'
import type { Model } from './model.ts'
import { linkAccount } from './users.ts'
import { copyForStore, loadValue, takenError } from './values.ts'

type Accounts = Pick<
  Required<Adapter>,
  'linkAccount' | 'unlinkAccount' | 'getAccount' | 'updateAccount' | 'listAccountsByUserId' | 'listAccountOwners'
>
type Authenticators = Pick<
  Required<Adapter>,
  'createAuthenticator' | 'getAuthenticator' | 'listAuthenticatorsByUserId' | 'updateAuthenticatorCounter' | 'deleteAuthenticator'
>

export function accountMethods(model: Model): Accounts {
  const { engine, keys } = model
  return {
    linkAccount: (account) =>
      engine.transact(async (tx) => {
        await model.needUser(tx, account.userId, 'linkAccount')
        return linkAccount(model, tx, account)
      }),
    unlinkAccount: ({ provider, providerAccountId }) =>
      engine.transact(async (tx) => {
        const key = await keys.account(provider, providerAccountId)
        const account = await loadValue(tx, 'account', key, provider, providerAccountId)
        if (!account) return null
        tx.remove(key)
        const entries = await model.knownEntries(tx, 'account', account.userId)
        model.drop(tx, await keys.accountsOf(account.userId), entries, [provider, providerAccountId])
        return account
      }),
    getAccount: async (providerAccountId, provider) =>
      loadValue(engine, 'account', await keys.account(provider, providerAccountId), provider, providerAccountId),
    updateAccount: ({ userId: _owner, ...change }) =>
      engine.transact(async (tx) => {
        const { provider, providerAccountId } = change as Pick<AdapterAccount, 'provider' | 'providerAccountId'>
        const key = await keys.account(provider, providerAccountId)
        const before = await loadValue(tx, 'account', key, provider, providerAccountId)
        if (!before) return null
        // The owner is not a token field: an account never moves to another user.
        const account: AdapterAccount = { ...before, ...copyForStore(change) }
        tx.put(key, account)
        return copyForStore(account)
      }),
    async listAccountsByUserId(userId) {
      const found: AdapterAccount[] = []
      for (const { key } of await model.entries(engine, 'account', userId)) {
        const account = await loadValue(engine, 'account', await keys.account(key[0]!, key[1]!), key[0]!, key[1]!)
        if (account?.userId === userId) found.push(account)
      }
      return found
    },
    async listAccountOwners(wanted) {
      const found = await Promise.all(
        wanted.map(async ({ provider, providerAccountId }): Promise<AdapterAccount | null> =>
          loadValue(engine, 'account', await keys.account(provider, providerAccountId), provider, providerAccountId),
        ),
      )
      return found.flatMap((account) =>
        account ? [{ provider: account.provider, providerAccountId: account.providerAccountId, userId: account.userId }] : [],
      )
    },
  }
}

export function authenticatorMethods(model: Model): Authenticators {
  const { engine, keys } = model
  return {
    createAuthenticator: (given) =>
      engine.transact(async (tx) => {
        const authenticator = copyForStore(given)
        const { credentialID, userId } = authenticator
        await model.needUser(tx, userId, 'createAuthenticator')
        const key = await keys.authenticator(credentialID)
        if (await loadValue(tx, 'authenticator', key, credentialID)) throw takenError('credential')
        tx.put(key, authenticator)
        const index = await keys.authenticatorsOf(userId)
        model.add(tx, index, await model.list(tx, index), { key: [credentialID] })
        return copyForStore(authenticator)
      }),
    getAuthenticator: async (credentialID) => loadValue(engine, 'authenticator', await keys.authenticator(credentialID), credentialID),
    async listAuthenticatorsByUserId(userId) {
      const found: AdapterAuthenticator[] = []
      for (const { key } of await model.list(engine, await keys.authenticatorsOf(userId))) {
        const authenticator = await loadValue(engine, 'authenticator', await keys.authenticator(key[0]!), key[0]!)
        if (authenticator?.userId === userId) found.push(authenticator)
      }
      return found
    },
    updateAuthenticatorCounter: (credentialID, newCounter) =>
      engine.transact(async (tx) => {
        const key = await keys.authenticator(credentialID)
        const before = await loadValue(tx, 'authenticator', key, credentialID)
        if (!before) throw new Error('[unstorage] updateAuthenticatorCounter: no authenticator has this credential id')
        // WebAuthn 7.2 step 22: a counter that does not grow means a cloned authenticator; 0 after 0 is a synced passkey.
        if (newCounter <= before.counter && (newCounter !== 0 || before.counter !== 0)) {
          throw new Error(`[unstorage] updateAuthenticatorCounter: ${newCounter} does not exceed the stored ${before.counter}`)
        }
        const authenticator = { ...before, counter: newCounter }
        tx.put(key, authenticator)
        return authenticator
      }),
    deleteAuthenticator: (credentialID) =>
      engine.transact(async (tx) => {
        const key = await keys.authenticator(credentialID)
        const authenticator = await loadValue(tx, 'authenticator', key, credentialID)
        if (!authenticator) return null
        tx.remove(key)
        const index = await keys.authenticatorsOf(authenticator.userId)
        model.drop(tx, index, await model.list(tx, index), [credentialID])
        return authenticator
      }),
  }
}
