/** `auth.ready()`: what must be there beside the options. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AdapterMethod } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { baseConfig } from '../_setup.ts'

it('names every missing table and package at once, and the single errors in its cause', async () => {
  const asked: AdapterMethod[][] = []
  const adapter = {
    ...memoryAdapter(),
    missingTables: (operations: readonly AdapterMethod[]) => (asked.push([...operations]), ['users', 'accounts']),
  }
  const absent = { lib: () => Promise.reject(new Error('Cannot find package')) }
  const auth = createAuth(baseConfig({ providers: [], adapter })).use(webauthnPlugin(absent))
  const error = await auth.ready().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^2 things are missing:\n- .*npm install @simplewebauthn\/server.*\n- .*tables users, accounts.*npx authkernel migrate --apply/,
    ),
    cause: { errors: [expect.any(Error), expect.any(Error)] },
  })
  expect(asked[0]).toEqual(expect.arrayContaining(['getSessionAndUser', 'createAuthenticator']))
})

it('throws a single fault as it is, and asks again until it is mended', async () => {
  let missing = ['sessions']
  const auth = createAuth(baseConfig({ providers: [], adapter: { ...memoryAdapter(), missingTables: () => missing } }))
  await expect(auth.ready()).rejects.toThrow(/^The database lacks the table sessions\./)
  missing = []
  await auth.ready()
  missing = ['users']
  await auth.ready()
})

it('a store that does not answer is a warning: the server may start before its database', async () => {
  const config = baseConfig({
    providers: [],
    adapter: {
      ...memoryAdapter(),
      missingTables: () => {
        throw new Error('connect ECONNREFUSED')
      },
    },
  })
  await createAuth(config).ready()
  expect(config.logger.warnings).toEqual(['store-not-checked'])
})
