/** Contract: what happens at the same moment. */
import { expect } from './runner.ts'
import { register } from './adapter-authenticators.ts'
import { accountKey, inHours, listedIds, newAccount, newSession, newToken, newUser, type Subject, tokenKey } from './adapter-subject.ts'

export function raceRules({ rule, storeUser, parallel }: Subject): void {
  const times = [...Array(parallel).keys()]

  rule('race: one verification token is used once', ['createVerificationToken', 'useVerificationToken'], async (adapter) => {
    const token = newToken()
    await adapter.createVerificationToken(token)
    const answers = await Promise.all(times.map(() => adapter.useVerificationToken(tokenKey(token))))
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
  })

  rule('race: first sign-ins of one user make one user', ['createUserWithAccount', 'getUserByAccount'], async (adapter) => {
    const { email } = newUser()
    const { userId: _none, ...account } = newAccount('')
    const answers = await Promise.allSettled(times.map(() => adapter.createUserWithAccount(newUser({ email }), account)))
    const made = answers.filter((answer) => answer.status === 'fulfilled')
    expect(made).toHaveLength(1)
    expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: made[0]!.value.id, email })
    expect(await adapter.getUserByEmail(email)).toMatchObject({ id: made[0]!.value.id })
  })

  rule('race: one account with several addresses leaves one user', ['createUserWithAccount', 'getUserByEmail'], async (adapter) => {
    const users = times.map(() => newUser())
    const { userId: _none, ...account } = newAccount('')
    const answers = await Promise.allSettled(users.map((user) => adapter.createUserWithAccount(user, account)))
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
    const left = await Promise.all(users.map((user) => adapter.getUserByEmail(user.email)))
    expect(left.filter((user) => user !== null)).toHaveLength(1)
  })

  rule('race: one address makes one user', ['createUser', 'getUserByEmail'], async (adapter) => {
    const { email } = newUser()
    const answers = await Promise.allSettled(times.map(() => storeUser(adapter, { email })))
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  })

  rule('race: one account links to one user', ['linkAccount', 'getUserByAccount'], async (adapter) => {
    const users = await Promise.all(times.slice(0, 5).map(() => storeUser(adapter)))
    const account = newAccount('')
    const answers = await Promise.allSettled(users.map((user) => adapter.linkAccount({ ...account, userId: user.id })))
    const winners = users.filter((_user, index) => answers[index]!.status === 'fulfilled')
    expect(winners).toHaveLength(1)
    expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: winners[0]!.id })
  })

  rule(
    "race: an authenticator's counter ends at the highest value",
    ['updateAuthenticatorCounter', 'getAuthenticator'],
    async (adapter) => {
      const authenticator = await register(adapter, await storeUser(adapter))
      const counters = shuffle(times.map((index) => index + 2))
      await Promise.allSettled(counters.map((counter) => adapter.updateAuthenticatorCounter(authenticator.credentialID, counter)))
      expect(await adapter.getAuthenticator(authenticator.credentialID)).toMatchObject({ counter: Math.max(...counters) })
    },
  )

  rule('race: of equal counters one is accepted', ['updateAuthenticatorCounter'], async (adapter) => {
    // Two answers with one counter come from two authenticators: one of them is a clone (WebAuthn 7.2).
    const authenticator = await register(adapter, await storeUser(adapter))
    const answers = await Promise.allSettled(times.map(() => adapter.updateAuthenticatorCounter(authenticator.credentialID, 2)))
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  })

  rule('race: a session that is deleted while it is extended stays deleted', ['updateSession', 'deleteSession'], async (adapter) => {
    const user = await storeUser(adapter)
    for (const _round of times.slice(0, 5)) {
      const session = newSession(user.id)
      await adapter.createSession(session)
      const extend = async (): Promise<unknown> => adapter.updateSession({ sessionToken: session.sessionToken, expires: inHours(4) })
      await Promise.allSettled([extend(), extend(), adapter.deleteSession(session.sessionToken), extend(), extend()])
      expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
    }
  })

  rule('race: sessions begun together are all there, and all listed', ['createSession', 'listSessionsByUserId'], async (adapter) => {
    const user = await storeUser(adapter)
    const sessions = times.map(() => newSession(user.id))
    await Promise.all(sessions.map((session) => adapter.createSession(session)))
    const listed = await adapter.listSessionsByUserId(user.id)
    expect(await listedIds(listed)).toEqual(await listedIds(sessions))
  })

  rule(
    'race: a user who is deleted leaves no session and no account behind',
    ['deleteUser', 'createSession', 'linkAccount', 'getAccount'],
    async (adapter) => {
      for (const _round of times.slice(0, 5)) {
        const user = await storeUser(adapter)
        const sessions = times.slice(0, 4).map(() => newSession(user.id))
        const account = newAccount(user.id)
        await Promise.allSettled([
          ...sessions.slice(0, 2).map((session) => adapter.createSession(session)),
          adapter.deleteUser(user.id),
          ...sessions.slice(2).map((session) => adapter.createSession(session)),
          adapter.linkAccount(account),
        ])
        expect(await adapter.getUser(user.id)).toBeNull()
        expect(await adapter.getAccount(account.providerAccountId, account.provider)).toBeNull()
        for (const session of sessions) {
          expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
          expect((await adapter.updateSession({ sessionToken: session.sessionToken, expires: inHours(4) })) ?? null).toBeNull()
        }
      }
    },
  )
}

// No order that a store could be good at by accident; the same in every run.
function shuffle(values: number[]): number[] {
  return values
    .map((value) => [(value * 7919) % 104_729, value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value)
}
