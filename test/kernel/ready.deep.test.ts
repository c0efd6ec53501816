/** `auth.ready()`: what must be there beside the options. */
import { describe, expect, it, vi } from 'vitest'
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

describe('waiting for a store', () => {
  const away = (until: number) => {
    let tries = 0
    const inner = memoryAdapter()
    const adapter = {
      ...inner,
      getUserByEmail: (email: string) => {
        if (++tries <= until) throw new Error('connect ECONNREFUSED')
        return inner.getUserByEmail!(email)
      },
    }
    return createAuth(baseConfig({ providers: [], adapter }))
  }

  it('goes on when it answers, and says meanwhile why it waits', async () => {
    const told: string[] = []
    await away(1).ready({ wait: 10, onProgress: ({ message }) => told.push(message) })
    expect(told).toEqual([expect.stringContaining('getUserByEmail'), ''])
  })

  it('throws what is wrong when the time is over, and mistakes of the configuration at once', async () => {
    const told: number[] = []
    await expect(away(100).ready({ wait: 1, onProgress: ({ seconds }) => told.push(seconds) })).rejects.toMatchObject({
      type: 'AdapterError',
    })
    expect(told).toEqual([0, 1])
    const absent = { lib: () => Promise.reject(new Error('Cannot find package')) }
    const auth = createAuth(baseConfig({ providers: [], adapter: memoryAdapter() })).use(webauthnPlugin(absent))
    await expect(auth.ready({ wait: 60 })).rejects.toThrow('npm install @simplewebauthn/server')
  })

  it('writes a line on a terminal, and takes it away', async () => {
    const { isTTY } = process.stderr
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    Object.assign(process.stderr, { isTTY: true })
    try {
      await away(1).ready({ wait: 10 })
      expect(write.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('authkernel waits since 0 s'), '\r\u001B[K'])
    } finally {
      Object.assign(process.stderr, { isTTY })
      write.mockRestore()
    }
  })
})
