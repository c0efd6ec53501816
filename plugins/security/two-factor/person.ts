/** Whose factors, with or without a stored user: who that is, what is counted for it, and which factors it has enrolled. */
import { type AnyContext, type Context, type Login, type Row, sha256, toHex, type User } from 'authkernel/kernel'
import type { FactorRow, StateRow } from './tables.ts'

/** A user with factors, stored or not. */
export interface Person {
  /** As `login.person`. */
  key: string
  userId: string | null
  user: User
}

export async function personOfLogin(ctx: AnyContext, login: Login): Promise<Person> {
  const userId = login.person.startsWith('user:') ? login.person.slice('user:'.length) : null
  // What checks a password need not know the address.
  const storedUser = userId !== null && !login.user.email && ctx.store ? await ctx.store.getUser(userId) : null
  return { key: login.person, userId, user: storedUser ?? login.user }
}

/** The session, or null if the app is signed out. */
export async function currentPerson(ctx: Context): Promise<Person | null> {
  const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
  return login && personOfLogin(ctx, login)
}

/** The row of a user; made when it is absent. */
export async function readState(ctx: AnyContext, { key, userId }: Person): Promise<Row<StateRow>> {
  const id = toHex(await sha256(key))
  const states = ctx.records('twoFactorState')
  const found = await states.get(id)
  if (found) return found
  // Another request may make it at the same moment.
  return states.create({ id, ...createState(ctx, userId) }).catch(async (error: unknown) => {
    const existing = await states.get(id)
    if (!existing) throw error
    return existing
  })
}

/** A row of which nothing has been counted yet. */
export function createState(ctx: AnyContext, userId: string | null): StateRow {
  const salt = toHex(ctx.runtime.random(16))
  return { userId, generation: 0, salt, failures: 0, since: ctx.now, until: ctx.now, proveAddress: false }
}

/** Whether an administrator removed the factors, or a secret that was dropped took them, and none was set up since. Makes no row: it is asked at every sign-in. */
export async function mustEnrolAnew(ctx: AnyContext, person: Person): Promise<boolean> {
  const state = await ctx.records('twoFactorState').get(toHex(await sha256(person.key)))
  return state?.proveAddress === true || hasLostFactors(ctx, person)
}

/** Trusted devices count no longer. Answers how many there were. */
export async function raiseGeneration(ctx: AnyContext, person: Person): Promise<number> {
  const { id } = await readState(ctx, person)
  await ctx.records('twoFactorState').increment(id, 'generation', 1)
  return ctx.records('twoFactorDevice').deleteWhere({ where: { person: person.key } })
}

/** Confirmed factors, with those that cannot be used any more: their owner is not treated as a user without factors. */
export async function enrolledFactors(ctx: AnyContext, { key }: { key: string }): Promise<Row<FactorRow>[]> {
  const { rows } = await ctx.records('twoFactor').find({ where: { person: key } })
  return rows.filter(({ confirmed }) => confirmed)
}

/** An email code has no secret. */
export function isUsable({ kind, secret }: Row<FactorRow>): boolean {
  return kind === 'emailCode' || secret !== null
}

/** Whether all apps and keys of a user are lost: as after a reset, the address must be proved and a new factor set up at the next sign-in. */
export async function hasLostFactors(ctx: AnyContext, person: { key: string }): Promise<boolean> {
  const strong = (await enrolledFactors(ctx, person)).filter(({ kind }) => kind !== 'emailCode')
  return strong.length > 0 && !strong.some(isUsable)
}
