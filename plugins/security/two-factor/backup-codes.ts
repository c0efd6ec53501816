/** Ten codes for the day on which the phone is lost: 50 bits each, stored as slow hashes, each good once. */
import { type AnyContext, bytes, toHex } from 'authkernel/kernel'
import { type Person, readState } from './person.ts'

// Without letters that are mistaken for digits.
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const count = 10
const length = 10
const iterations = 100_000

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
  for (const each of [...(own ? [code] : []), ...(other === undefined ? [] : [other])])
    if (await table.take({ person: person.key, hash: await slowHash(each, salt) }))
      return table.count({ person: person.key }, { max: count })
  return undefined
}

/** Takes over codes that another product gave out. */
export async function storeBackupCodes(ctx: AnyContext, person: Person, codes: readonly string[]): Promise<void> {
  const { salt } = await readState(ctx, person)
  const rows = await Promise.all(
    [...new Set(codes)].map(async (code) => ({ person: person.key, userId: person.userId, hash: await slowHash(code, salt) })),
  )
  if (rows.length > 0) await ctx.records('twoFactorBackupCode').createMany(rows)
}

// PBKDF2 with SHA-256 runs on every platform without a package.
async function slowHash(code: string, salt: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', bytes(code), 'PBKDF2', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: bytes(salt), iterations }, key, 256)
  return toHex(new Uint8Array(bits))
}
