/** Ten codes for the day on which the phone is lost: 50 bits each, stored as slow hashes, each good once. */
import { type AnyContext, bytes, toHex } from 'authkernel/kernel'
import { type Person, readState } from './person.ts'
import type { BackupCodeRow } from './tables.ts'

// Without letters that are mistaken for digits.
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const count = 10
const length = 10
const iterations = 100_000
// Ten letters and digits in two cases have 59 bits: with a hundredth of the work they take longer to find than ours with their 50 bits. A move of many users has many codes.
const iterationsOfStrong = 1_000

/** New codes in groups of five; all former ones are void. Shown once. */
export async function renewBackupCodes(ctx: AnyContext, person: Person): Promise<string[]> {
  const { salt } = await readState(ctx, person)
  const table = ctx.records('twoFactorBackupCode')
  // 32 divides 256: every letter is as likely.
  const codes = Array.from({ length: count }, () => Array.from(ctx.runtime.random(length), (byte) => alphabet[byte % 32]).join(''))
  const rows = await Promise.all(
    codes.map(async (code) => ({ person: person.key, userId: person.userId, hash: await slowHash(code, salt) })),
  )
  await table.deleteWhere({ where: { person: person.key } })
  await table.createMany(rows)
  return codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`)
}

/** How many are left after this one; undefined: not one of them. Of many callers with the same code one gets a number. */
export async function takeBackupCode(ctx: AnyContext, person: Person, given: string): Promise<number | undefined> {
  const code = given.toUpperCase().replace(/[\s-]/g, '')
  const own = new RegExp(`^[${alphabet}]{${length}}$`).test(code)
  // Codes of another product count as they were given out: letters in two cases, a hyphen in the middle.
  const other = /^[\w-]{6,32}$/.test(given.trim()) && given.trim() !== code ? given.trim() : undefined
  const { salt } = await readState(ctx, person)
  const table = ctx.records('twoFactorBackupCode')
  const tries: [string, number][] = own ? [[code, iterations]] : []
  if (other !== undefined && isStrong(other)) tries.push([other, iterationsOfStrong])
  if (other !== undefined) tries.push([other, iterations])
  for (const [each, work] of tries)
    if (await table.take({ person: person.key, hash: await slowHash(each, salt, work) }))
      return table.count({ person: person.key }, { max: count })
  return undefined
}

/** Takes over codes that another product gave out. `again`: they were taken before, and those that were used here since stay used. */
export async function storeBackupCodes(ctx: AnyContext, person: Person, codes: readonly string[], again = false): Promise<void> {
  const { salt } = await readState(ctx, person)
  const rows = await hashCodes(person, salt, codes)
  const table = ctx.records('twoFactorBackupCode')
  const { rows: former } = await table.find({ where: { person: person.key } })
  // Of codes that the source still has, only those are left that are left here too.
  const left = again ? rows.filter(({ hash }) => former.some((one) => one.hash === hash)) : []
  const gone = former.filter(({ hash }) => !left.some((one) => one.hash === hash))
  for (const { id } of gone) await table.delete(id)
  // A full set without a former code is a new one. A smaller set may be codes that were used here.
  if (left.length === 0 && rows.length > 0 && (!again || rows.length >= count)) await table.createMany(rows)
}

/** Rows for codes that another product gave out. */
export function hashCodes({ key, userId }: Person, salt: string, codes: readonly string[]): Promise<BackupCodeRow[]> {
  return Promise.all(
    [...new Set(codes)].map(async (code) => ({
      person: key,
      userId,
      hash: await slowHash(code, salt, isStrong(code) ? iterationsOfStrong : iterations),
    })),
  )
}

/** Those of the codes of another product that were not used here. */
export async function keepStoredCodes(ctx: AnyContext, person: Person, codes: readonly string[]): Promise<string[]> {
  const { salt } = await readState(ctx, person)
  const { rows } = await ctx.records('twoFactorBackupCode').find({ where: { person: person.key } })
  const stored = new Set(rows.map(({ hash }) => hash))
  const hashes = await Promise.all(codes.map((code) => slowHash(code, salt, isStrong(code) ? iterationsOfStrong : iterations)))
  return codes.filter((_, at) => stored.has(hashes[at] ?? ''))
}

function isStrong(code: string): boolean {
  return code.replace('-', '').length >= 10 && /[a-z]/.test(code) && /[A-Z\d]/.test(code) && /^[\w-]+$/.test(code)
}

// PBKDF2 with SHA-256 runs on every platform without a package.
async function slowHash(code: string, salt: string, work = iterations): Promise<string> {
  const key = await crypto.subtle.importKey('raw', bytes(code), 'PBKDF2', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: bytes(salt), iterations: work }, key, 256)
  return toHex(new Uint8Array(bits))
}
