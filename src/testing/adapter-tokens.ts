/** Contract: verification tokens. */
import { expect } from './runner.ts'
import { newToken, type Subject, tokenKey, unique } from './adapter-subject.ts'

export function tokenRules({ rule }: Subject): void {
  rule('row 169: useVerificationToken returns the token once', ['createVerificationToken', 'useVerificationToken'], async (adapter) => {
    const token = newToken()
    const { identifier, token: value } = token
    await adapter.createVerificationToken(token)
    expect(await adapter.useVerificationToken({ identifier, token: value })).toMatchObject(token)
    expect(await adapter.useVerificationToken({ identifier, token: value })).toBeNull()
  })

  rule(
    'an unknown token, or one of another address, is null and consumes nothing',
    ['createVerificationToken', 'useVerificationToken'],
    async (adapter) => {
      const token = newToken()
      await adapter.createVerificationToken(token)
      expect(await adapter.useVerificationToken({ identifier: token.identifier, token: unique() })).toBeNull()
      expect(await adapter.useVerificationToken({ identifier: `${unique()}@example.com`, token: token.token })).toBeNull()
      expect(await adapter.useVerificationToken(tokenKey(token))).toMatchObject(token)
    },
  )

  rule("using one token leaves the user's others", ['createVerificationToken', 'useVerificationToken'], async (adapter) => {
    const first = newToken()
    const second = newToken({ identifier: first.identifier })
    const third = newToken()
    for (const token of [first, second, third]) await adapter.createVerificationToken(token)
    expect(await adapter.useVerificationToken(tokenKey(first))).toMatchObject(first)
    expect(await adapter.useVerificationToken(tokenKey(second))).toMatchObject(second)
    expect(await adapter.useVerificationToken(tokenKey(third))).toMatchObject(third)
  })

  rule('expires of a token is a Date to the millisecond', ['createVerificationToken', 'useVerificationToken'], async (adapter) => {
    const token = newToken({ expires: new Date('2036-03-30T01:30:00.007Z') })
    await adapter.createVerificationToken(token)
    expect((await adapter.useVerificationToken(tokenKey(token)))?.expires).toEqual(token.expires)
  })

  rule(
    'deleteVerificationTokens removes those of one identifier',
    ['deleteVerificationTokens', 'createVerificationToken'],
    async (adapter) => {
      const first = newToken()
      const second = newToken({ identifier: first.identifier })
      const other = newToken()
      for (const token of [first, second, other]) await adapter.createVerificationToken(token)
      await adapter.deleteVerificationTokens(first.identifier)
      expect(await adapter.useVerificationToken(tokenKey(first))).toBeNull()
      expect(await adapter.useVerificationToken(tokenKey(second))).toBeNull()
      expect(await adapter.useVerificationToken(tokenKey(other))).toMatchObject(other)
      await adapter.deleteVerificationTokens(`${unique()}@example.com`)
    },
  )
}
