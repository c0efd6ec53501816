/** Contract: WebAuthn authenticators. */
import type { Adapter, AdapterAuthenticator, AdapterUser } from 'authkernel/kernel'
import { expect } from './runner.ts'
import { newAccount, newAuthenticator, type Subject, unique } from './adapter-subject.ts'

export function authenticatorRules({ rule, storeUser }: Subject): void {
  rule('row 173: an authenticator comes back as it was stored', ['createAuthenticator', 'getAuthenticator'], async (adapter) => {
    const user = await storeUser(adapter)
    for (const values of [{}, { transports: null }, { credentialBackedUp: false, credentialDeviceType: 'singleDevice', counter: 0 }]) {
      const authenticator = await register(adapter, user, values)
      const read = await adapter.getAuthenticator(authenticator.credentialID)
      expect(read).toMatchObject({ ...authenticator, transports: authenticator.transports ?? null })
      expect(read!.credentialBackedUp).toBe(authenticator.credentialBackedUp)
    }
  })

  rule(
    'rows 171, 172: an unknown authenticator is null, an unknown user has none',
    ['getAuthenticator', 'listAuthenticatorsByUserId'],
    async (adapter) => {
      expect(await adapter.getAuthenticator(btoa(unique()))).toBeNull()
      expect(await adapter.listAuthenticatorsByUserId(crypto.randomUUID())).toEqual([])
      expect(await adapter.listAuthenticatorsByUserId((await storeUser(adapter)).id)).toEqual([])
    },
  )

  rule('listAuthenticatorsByUserId lists those of one user', ['listAuthenticatorsByUserId', 'createAuthenticator'], async (adapter) => {
    const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
    const own = [await register(adapter, user), await register(adapter, user), await register(adapter, user)]
    await register(adapter, other)
    const listed = await adapter.listAuthenticatorsByUserId(user.id)
    expect(listed.map(({ credentialID }) => credentialID).sort()).toEqual(own.map(({ credentialID }) => credentialID).sort())
    expect(listed[0]).toMatchObject({ userId: user.id, counter: 1, credentialBackedUp: true })
  })

  rule('row 170: createAuthenticator throws on a taken credential id', ['createAuthenticator', 'getAuthenticator'], async (adapter) => {
    const [user, thief] = [await storeUser(adapter), await storeUser(adapter)]
    const authenticator = await register(adapter, user)
    await expect(adapter.createAuthenticator({ ...authenticator, userId: thief.id })).rejects.toBeInstanceOf(Error)
    expect(await adapter.getAuthenticator(authenticator.credentialID)).toMatchObject({ userId: user.id })
  })

  rule(
    'row 170: updateAuthenticatorCounter counts up and returns the authenticator',
    ['updateAuthenticatorCounter', 'getAuthenticator'],
    async (adapter) => {
      const user = await storeUser(adapter)
      const [authenticator, other] = [await register(adapter, user), await register(adapter, user)]
      expect(await adapter.updateAuthenticatorCounter(authenticator.credentialID, 2)).toMatchObject({ ...authenticator, counter: 2 })
      expect(await adapter.getAuthenticator(authenticator.credentialID)).toMatchObject({ counter: 2 })
      expect(await adapter.getAuthenticator(other.credentialID)).toMatchObject({ counter: 1 })
    },
  )

  rule('a counter may have 32 bits', ['updateAuthenticatorCounter', 'createAuthenticator'], async (adapter) => {
    const authenticator = await register(adapter, await storeUser(adapter))
    expect(await adapter.updateAuthenticatorCounter(authenticator.credentialID, 4_294_967_295)).toMatchObject({ counter: 4_294_967_295 })
    expect(await adapter.getAuthenticator(authenticator.credentialID)).toMatchObject({ counter: 4_294_967_295 })
  })

  rule('row 170: updateAuthenticatorCounter throws for an unknown credential', ['updateAuthenticatorCounter'], async (adapter) => {
    await expect(adapter.updateAuthenticatorCounter(btoa(unique()), 5)).rejects.toBeInstanceOf(Error)
  })

  rule('D27: a counter never goes back, and 0 after 0 is fine', ['updateAuthenticatorCounter', 'getAuthenticator'], async (adapter) => {
    const user = await storeUser(adapter)
    const authenticator = await register(adapter, user, { counter: 7 })
    await expect(adapter.updateAuthenticatorCounter(authenticator.credentialID, 6)).rejects.toBeInstanceOf(Error)
    await expect(adapter.updateAuthenticatorCounter(authenticator.credentialID, 0)).rejects.toBeInstanceOf(Error)
    expect(await adapter.getAuthenticator(authenticator.credentialID)).toMatchObject({ counter: 7 })
    const synced = await register(adapter, user, { counter: 0 })
    expect(await adapter.updateAuthenticatorCounter(synced.credentialID, 0)).toMatchObject({ counter: 0 })
  })

  rule('credential ids of 255 characters and public keys of 1.5 kB fit', ['createAuthenticator', 'getAuthenticator'], async (adapter) => {
    const user = await storeUser(adapter)
    const credentialID = btoa(unique('c')).replaceAll('=', '').padEnd(255, 'A')
    const authenticator = await register(adapter, user, {
      credentialID,
      providerAccountId: credentialID,
      credentialPublicKey: 'K'.repeat(1_500),
    })
    expect(await adapter.getAuthenticator(credentialID)).toMatchObject(authenticator)
  })

  rule('deleteAuthenticator takes one and leaves the others', ['deleteAuthenticator', 'createAuthenticator'], async (adapter) => {
    const user = await storeUser(adapter)
    const [first, second] = [await register(adapter, user), await register(adapter, user)]
    await adapter.deleteAuthenticator(first.credentialID)
    expect(await adapter.getAuthenticator(first.credentialID)).toBeNull()
    expect((await adapter.listAuthenticatorsByUserId(user.id)).map(({ credentialID }) => credentialID)).toEqual([second.credentialID])
  })
}

/** Stores an authenticator with the account that a passkey has, as the kernel does. */
export async function register(
  adapter: Required<Adapter>,
  user: AdapterUser,
  values: Partial<AdapterAuthenticator> = {},
): Promise<AdapterAuthenticator> {
  const authenticator = newAuthenticator(user.id, values)
  await adapter.linkAccount(
    newAccount(user.id, { provider: 'passkey', type: 'webauthn', providerAccountId: authenticator.providerAccountId }),
  )
  await adapter.createAuthenticator(authenticator)
  return authenticator
}
