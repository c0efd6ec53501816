/** Contract: keys that differ are different, whatever the store makes of letters and separators. */
import { expect } from './runner.ts'
import { register } from './adapter-authenticators.ts'
import { newAccount, newSession, newToken, type Subject, tokenKey, unique } from './adapter-subject.ts'
import { hostile } from './adapter-users.ts'

export function keyRules({ rule, storeUser }: Subject): void {
  rule(
    'account ids that differ in case, accents, trailing space or separators are different accounts',
    ['linkAccount', 'getUserByAccount'],
    async (adapter) => {
      const base = unique('Key')
      const owners = new Map<string, string>()
      for (const providerAccountId of variantsOf(base)) {
        const user = await storeUser(adapter)
        await adapter.linkAccount(newAccount(user.id, { providerAccountId }))
        owners.set(providerAccountId, user.id)
      }
      for (const [providerAccountId, id] of owners) {
        expect((await adapter.getUserByAccount({ provider: 'acme', providerAccountId }))?.id, JSON.stringify(providerAccountId)).toBe(id)
      }
    },
  )

  rule('provider and account id are two values, not one joined text', ['linkAccount', 'getUserByAccount'], async (adapter) => {
    const id = unique()
    const pairs: [string, string][] = [
      ['a', `b:${id}`],
      ['a:b', id],
      ['a/b', id],
      ['a', `b/${id}`],
      ['a|b', id],
      ['a', `b|${id}`],
    ]
    for (const [provider, providerAccountId] of pairs) {
      const user = await storeUser(adapter)
      await adapter.linkAccount(newAccount(user.id, { provider, providerAccountId }))
      expect((await adapter.getUserByAccount({ provider, providerAccountId }))?.id).toBe(user.id)
    }
  })

  rule('addresses that differ only in accents or separators are different users', ['createUser', 'getUserByEmail'], async (adapter) => {
    const base = unique('mail')
    const ids = new Map<string, string>()
    for (const local of [
      `${base}é`,
      `${base}e`,
      `${base}e\u0301`,
      `${base}+a`,
      `${base}/a`,
      `${base}?a`,
      `${base}:a`,
      `${base}..a`,
      `${base}#a`,
    ]) {
      const email = `${local}@example.com`
      ids.set(email, (await storeUser(adapter, { email })).id)
    }
    for (const [email, id] of ids) expect((await adapter.getUserByEmail(email))?.id, email).toBe(id)
  })

  rule('session tokens are compared exactly', ['createSession', 'getSessionAndUser', 'deleteSession'], async (adapter) => {
    const base = unique('Session')
    const user = await storeUser(adapter)
    const tokens = variantsOf(base)
    for (const sessionToken of tokens) await adapter.createSession(newSession(user.id, { sessionToken }))
    await adapter.deleteSession(tokens[0]!)
    expect(await adapter.getSessionAndUser(tokens[0]!)).toBeNull()
    for (const sessionToken of tokens.slice(1)) {
      expect((await adapter.getSessionAndUser(sessionToken))?.session.sessionToken, JSON.stringify(sessionToken)).toBe(sessionToken)
    }
    expect(await adapter.getSessionAndUser(base.replace('Session', 'sESSION'))).toBeNull()
  })

  rule('verification tokens are compared exactly', ['createVerificationToken', 'useVerificationToken'], async (adapter) => {
    const token = newToken({ token: unique('AbC') })
    await adapter.createVerificationToken(token)
    for (const value of [token.token.toLowerCase(), `${token.token} `, `${token.token}/`, `${token.token}?x`]) {
      expect(await adapter.useVerificationToken({ identifier: token.identifier, token: value })).toBeNull()
    }
    for (const identifier of [token.identifier.toUpperCase(), `${token.identifier} `, token.identifier.replace('a', 'á')]) {
      expect(await adapter.useVerificationToken({ identifier, token: token.token })).toBeNull()
    }
    expect(await adapter.useVerificationToken(tokenKey(token))).toMatchObject(token)
  })

  rule('credential ids are compared exactly', ['createAuthenticator', 'getAuthenticator'], async (adapter) => {
    const user = await storeUser(adapter)
    const base = btoa(unique('Credential')).replaceAll('=', '')
    const ids = [`${base}Aa/+=`, `${base}aA/+=`, `${base}aa/+=`, `${base}aa+/=`, `${base}aa`]
    for (const credentialID of ids) await register(adapter, user, { credentialID })
    for (const credentialID of ids) expect((await adapter.getAuthenticator(credentialID))?.credentialID).toBe(credentialID)
  })

  rule(
    'hostile strings are fine as keys',
    ['linkAccount', 'createSession', 'useVerificationToken', 'getAuthenticator'],
    async (adapter) => {
      const user = await storeUser(adapter)
      for (const text of hostile) {
        const account = newAccount(user.id, { provider: text, providerAccountId: unique(text) })
        await adapter.linkAccount(account)
        expect(await adapter.getUserByAccount({ provider: text, providerAccountId: account.providerAccountId })).toMatchObject({
          id: user.id,
        })
        const session = newSession(user.id, { sessionToken: unique(text) })
        await adapter.createSession(session)
        expect((await adapter.getSessionAndUser(session.sessionToken))?.session.sessionToken).toBe(session.sessionToken)
        expect(await adapter.getSessionAndUser(text)).toBeNull()
        expect(await adapter.useVerificationToken({ identifier: text, token: text })).toBeNull()
        expect(await adapter.getAuthenticator(text)).toBeNull()
        expect((await adapter.deleteSession(text)) ?? null).toBeNull()
      }
    },
  )

  rule(
    'a key that no database can hold finds nothing and breaks nothing',
    ['getSessionAndUser', 'useVerificationToken', 'getUserByEmail'],
    async (adapter) => {
      // A cookie or a query can carry these: the answer is "unknown", not a failing store.
      for (const text of ['\0', 'a\0b', '\ud800', 'x'.repeat(4_096)]) {
        expect(await adapter.getSessionAndUser(text)).toBeNull()
        expect(await adapter.useVerificationToken({ identifier: text, token: text })).toBeNull()
        expect(await adapter.getUserByEmail(text)).toBeNull()
        expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: text })).toBeNull()
      }
    },
  )
}

/** Keys that careless stores take for one. */
function variantsOf(base: string): string[] {
  return [
    base,
    base.toLowerCase(),
    base.toUpperCase(),
    `${base}é`,
    `${base}e`,
    `${base}e\u0301`,
    `${base}ß`,
    `${base}ss`,
    `${base} `,
    `${base}/x`,
    `${base}:x`,
    `${base}?x`,
    `${base}#x`,
    `${base}\\x`,
    `${base}%2Fx`,
    `${base}..x`,
    `${base}/../x`,
    `${base}~x`,
  ]
}
