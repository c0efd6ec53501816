/** Second factors of another product, for a move that may be run again. Keys are ids of users. */
import {
  type AnyContext,
  AuthError,
  type ImportedFactor,
  type ImportState,
  type ImportTarget,
  RecordConflict,
  type Row,
  sha256,
  toHex,
} from 'authkernel/kernel'
import { hashCodes, keepStoredCodes, storeBackupCodes } from './backup-codes.ts'
import { confirmedFactors } from './factors.ts'
import { createState, enrolledFactors, type Person, raiseGeneration } from './person.ts'
import { type FactorRow, never } from './tables.ts'

// Users whose factors are read or written at once.
const width = 20
// Rows of one call.
const pageSize = 500

/** Stores factors for users without one here; `dry` only counts. Throws AuthError for a secret that is not base32. */
export async function takeFactors(ctx: AnyContext, rows: readonly ImportedFactor[], { dry }: { dry: boolean }): Promise<number> {
  const bad = rows.findIndex((row) => refuseFactor(row) !== undefined)
  if (bad !== -1) throw new AuthError(`The second factor of entry ${bad} has a secret that is not base32, or more than 100 backup codes.`)
  let stored = 0
  for (const value of rows) {
    const person = personOf(value.userId)
    if (!(await ctx.store?.getUser(value.userId)) || (await confirmedFactors(ctx, person)).length > 0) continue
    if (dry || (await writeFactor(ctx, { key: value.userId, value })) !== undefined) stored++
  }
  return stored
}

/** Those of the codes that are still stored: what the other product may accept, too. */
export async function listUnusedCodes(ctx: AnyContext, userId: string, codes: readonly string[]): Promise<string[]> {
  return keepStoredCodes(ctx, personOf(userId), codes)
}

/** Factors as a move stores them. */
export const factorTarget: ImportTarget<ImportedFactor> = {
  refuse: (_ctx, value) => refuseFactor(value),
  isEmpty: async (ctx) =>
    (await ctx.records('twoFactor').count({}, { max: 1 })) + (await ctx.records('twoFactorState').count({}, { max: 1 })) === 0,
  read: (ctx, rows) => eachOf(rows, (row) => readFactor(ctx, row)),
  async write(ctx, rows) {
    const made = await writeFirstFactors(
      ctx,
      rows.filter(({ over }) => over === undefined).map(({ value }) => value),
    )
    return eachOf(rows, (row) => made.get(row.key) ?? replaceFactor(ctx, row))
  },
  async remove(ctx, rows) {
    const removed = await eachOf(rows, (row) => removeFactors(ctx, row))
    return removed.filter(Boolean).length
  },
}

function refuseFactor({ secret, backupCodes }: ImportedFactor): string | undefined {
  if (!/^[A-Z2-7]{16,128}$/.test(secret)) return 'the secret is not base32 of 16 to 128 letters'
  return backupCodes.length > 100 ? 'there are more than 100 backup codes' : undefined
}

async function readFactor(ctx: AnyContext, { key, value }: { key: string; value?: ImportedFactor }): Promise<ImportState | undefined> {
  const person = personOf(key)
  const rows = await enrolledFactors(ctx, person)
  if (rows.length > 0)
    return { version: await versionOf(rows), same: value !== undefined && rows.some(({ secret }) => secret === value.secret) }
  // An administrator removed the factors: the former one must not come back.
  const state = await ctx.records('twoFactorState').get(toHex(await sha256(person.key)))
  return state?.proveAddress === true ? { version: 'reset', same: false } : undefined
}

/** Undefined too where another request writes the same at this moment. */
async function replaceFactor(ctx: AnyContext, row: Parameters<typeof writeFactor>[1]): Promise<string | undefined> {
  try {
    return await writeFactor(ctx, row)
  } catch (error) {
    if (error instanceof RecordConflict) return undefined
    throw error
  }
}

async function writeFactor(
  ctx: AnyContext,
  { key, value: { secret, backupCodes }, over }: { key: string; value: ImportedFactor; over?: string | undefined },
): Promise<string | undefined> {
  const person = personOf(key)
  const rows = await enrolledFactors(ctx, person)
  if (over !== 'reset' && (rows.length === 0 ? undefined : await versionOf(rows)) !== over) return undefined
  const former = rows.find(({ kind }) => kind === 'totp')
  const again = former?.secret === secret
  // First the codes: a factor without them locks out a user who has lost the phone.
  await storeBackupCodes(ctx, person, backupCodes, again)
  if (again) return versionOf(rows)
  const made = await ctx.records('twoFactor').create(await toRow(ctx, person, secret, over))
  if (former) await ctx.records('twoFactor').delete(former.id)
  // A browser that was trusted under the former factor is not under this one.
  if (over !== undefined) await raiseGeneration(ctx, person)
  return versionOf([...rows.filter((row) => row !== former), made])
}

/**
 * Factors of users of whom nothing was ever counted here, a page at a time: versions by user. Only one run or request can make the row of a user that counts, and
 * the others find it.
 */
async function writeFirstFactors(ctx: AnyContext, rows: readonly ImportedFactor[]): Promise<Map<string, string>> {
  const made = new Map<string, string>()
  const people = await Promise.all(
    rows.map(async (value) => ({ value, person: personOf(value.userId), id: toHex(await sha256(personOf(value.userId).key)) })),
  )
  const states = ctx.records('twoFactorState')
  const known = new Set((await states.getMany(people.map(({ id }) => id))).map(({ id }) => id))
  const fresh = people.filter(({ id }) => !known.has(id)).map((one) => ({ ...one, state: createState(ctx, one.value.userId) }))
  try {
    await states.createMany(fresh.map(({ id, state }) => ({ id, ...state })))
  } catch (error) {
    if (error instanceof RecordConflict) return made
    throw error
  }
  // First the codes: a factor without them locks out a user who has lost the phone.
  const codes = (await eachOf(fresh, ({ person, value, state }) => hashCodes(person, state.salt, value.backupCodes))).flat()
  for (let at = 0; at < codes.length; at += pageSize) await ctx.records('twoFactorBackupCode').createMany(codes.slice(at, at + pageSize))
  const factors = await ctx
    .records('twoFactor')
    .createMany(await Promise.all(fresh.map(({ person, value }) => toRow(ctx, person, value.secret, undefined))))
  for (const row of factors) made.set(row.userId ?? '', await versionOf([row]))
  return made
}

/** Two that take the place of one former state have the same id, so that one of them is stored. */
async function toRow(
  ctx: AnyContext,
  { key: person, userId }: Person,
  secret: string,
  over: string | undefined,
): Promise<FactorRow & { id: string }> {
  const id = toHex(await sha256(JSON.stringify(['taken', person, over ?? '']))).slice(0, 32)
  return { id, person, userId, kind: 'totp', secret, confirmed: true, step: 0, created: ctx.now, expires: never }
}

async function removeFactors(ctx: AnyContext, { key, version }: { key: string; version: string }): Promise<boolean> {
  const person = personOf(key)
  const rows = await enrolledFactors(ctx, person)
  if (rows.length === 0 || (await versionOf(rows)) !== version) return false
  for (const { id } of rows) await ctx.records('twoFactor').delete(id)
  await ctx.records('twoFactorBackupCode').deleteWhere({ where: { person: person.key } })
  await raiseGeneration(ctx, person)
  return true
}

/** Another enrolment has other ids. A use of a code changes none. */
async function versionOf(rows: readonly Row<FactorRow>[]): Promise<string> {
  const ids = rows.map(({ id }) => id).toSorted()
  return toHex(await sha256(ids.join(' ')))
}

function personOf(userId: string): Person {
  return { key: `user:${userId}`, userId, user: { id: userId } }
}

async function eachOf<T, R>(rows: readonly T[], work: (row: T) => R | Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < rows.length; at += width) done.push(...(await Promise.all(rows.slice(at, at + width).map(work))))
  return done
}
