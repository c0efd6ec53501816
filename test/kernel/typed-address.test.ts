/** One answer for every way in to the question whether an address was only typed: for factors and keys it is the answer that sign-ins get. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { hasTypedAddress } from 'authkernel/kernel/users'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { newUser } from '../../src/testing/adapter-subject.ts'
import { baseConfig } from '../_setup.ts'

async function world({ lists = true, mails = true } = {}) {
  const { listAccountsByUserId, ...plain } = memoryAdapter()
  const adapter = lists ? { ...plain, listAccountsByUserId } : plain
  let kernel!: Kernel
  const auth = createAuth(baseConfig({ experimental: { enableWebAuthn: true } }))
    .use(adapterPlugin(adapter))
    .use(webauthnPlugin())
    .use(
      oauthPlugin({
        id: 'orbit',
        clientId: 'a',
        clientSecret: 'b',
        authorization: 'https://o.example/a',
        token: 'https://o.example/t',
        userinfo: 'https://o.example/u',
      }),
    )
    .use({
      name: 'inside',
      setup(own) {
        kernel = own
        if (mails) own.provide('mailTransport', { send: () => {} })
      },
    })
  await auth.ready()
  const user = await plain.createUser({ ...newUser(), emailVerified: null })
  const addPasskey = async (): Promise<void> => {
    await plain.linkAccount({ userId: user.id, provider: 'passkey', providerAccountId: 'k', type: 'webauthn' })
    const key = { credentialID: 'k', userId: user.id, providerAccountId: 'k', credentialPublicKey: 'a', counter: 0 }
    await plain.createAuthenticator({ ...key, credentialDeviceType: 'singleDevice', credentialBackedUp: false })
  }
  const isTyped = async () => hasTypedAddress(await kernel.contextOf({ job: 'test' }), user.id)
  return { plain, user, addPasskey, isTyped }
}

describe('an address that was only typed', () => {
  it('is that of a user with a passkey alone', async () => {
    const { addPasskey, isTyped } = await world()
    await addPasskey()
    expect(await isTyped()).toBe(true)
  })

  it('also where the adapter cannot list accounts', async () => {
    const { addPasskey, isTyped } = await world({ lists: false })
    await addPasskey()
    expect(await isTyped()).toBe(true)
  })

  it('also beside an account of a provider that is gone: it signs in no user', async () => {
    const { plain, user, addPasskey, isTyped } = await world()
    await addPasskey()
    await plain.linkAccount({ userId: user.id, provider: 'gone', providerAccountId: '1', type: 'oauth' })
    expect(await isTyped()).toBe(true)
  })

  it('is not that of a user with an account at a provider, without a passkey, with a proof, or where no mail can prove one', async () => {
    const first = await world()
    await first.addPasskey()
    await first.plain.linkAccount({ userId: first.user.id, provider: 'orbit', providerAccountId: '1', type: 'oauth' })
    expect(await first.isTyped()).toBe(false)
    expect(await (await world()).isTyped()).toBe(false)
    const proved = await world()
    await proved.addPasskey()
    await proved.plain.updateUser({ id: proved.user.id, emailVerified: new Date() })
    expect(await proved.isTyped()).toBe(false)
    const silent = await world({ mails: false })
    await silent.addPasskey()
    expect(await silent.isTyped()).toBe(false)
  })
})
