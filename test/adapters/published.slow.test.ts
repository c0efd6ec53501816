/** Published adapters of Auth.js, unmodified, behind the store boundary: the whole contract, and the table of `docs/adapters.md`. */
import { type Adapter, type AdapterMethod, createStore } from 'authkernel/kernel'
import { testAdapter } from 'authkernel/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gapsList, ownTable, publishedTable, readPart, writePart } from './_docs.ts'
import { factsOf, installed, published, versionOf } from './_published.ts'
import { reachable } from './_servers.ts'
import { serverVersions } from './_stores.ts'

const postgres = await reachable('postgres')
const ready = installed()

describe.each(published.map((each) => [`${each.package} on ${each.store}`, each] as const))('%s', (name, each) => {
  describe.skipIf(!ready || (each.store === 'PostgreSQL' && !postgres))(ready ? versionOf(each.package) : 'not installed', () => {
    let open: Awaited<ReturnType<typeof each.open>>
    beforeAll(async () => {
      open = await each.open()
    })
    afterAll(() => open?.close())

    it('lacks what it is said to lack', () => {
      const lacking = operations.filter((method) => typeof open.adapter[method] !== 'function')
      expect(lacking).toEqual(factsOf(each).lacks)
    })

    testAdapter(name, { adapter: () => createStore(open.adapter, { deadline: 20_000 }) as Adapter, ...factsOf(each) })
  })
})

describe('docs/adapters.md', () => {
  it('carries the versions of the servers that this ran on: AUTHKERNEL_WRITE_DOCS=1', async () => {
    const versions = await serverVersions()
    if (process.env.AUTHKERNEL_WRITE_DOCS) {
      writePart('own', ownTable(versions))
      writePart('published', publishedTable())
      writePart('gaps', gapsList())
    }
    const withoutVersions = (text: string): string => text.replace(/\d[\w.-]*/g, 'n')
    expect(withoutVersions(readPart('own'))).toBe(withoutVersions(ownTable(versions)))
  })
})

const operations: readonly AdapterMethod[] = [
  'createUser',
  'getUser',
  'getUserByEmail',
  'getUserByAccount',
  'updateUser',
  'deleteUser',
  'linkAccount',
  'unlinkAccount',
  'getAccount',
  'createSession',
  'getSessionAndUser',
  'updateSession',
  'deleteSession',
  'createVerificationToken',
  'useVerificationToken',
  'createAuthenticator',
  'getAuthenticator',
  'listAuthenticatorsByUserId',
  'updateAuthenticatorCounter',
  'createUserWithAccount',
  'updateAccount',
  'listAccountsByUserId',
  'listSessionsByUserId',
  'deleteSessionsByUserId',
  'deleteVerificationTokens',
  'deleteAuthenticator',
  'deleteExpired',
  'listUsers',
  'createUsers',
]
