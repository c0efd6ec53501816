/** Codes of an authenticator app (RFC 6238): SHA-1, 6 digits, 30 seconds, a secret of 20 bytes, one step of tolerance. */
import { type AnyContext, AuthError, type Row } from 'authkernel/kernel'
import type { Person } from './person.ts'
import { type FactorRow, never } from './tables.ts'

const period = 30
const secretBytes = 20
const unconfirmedSeconds = 600

/** A secret that waits for its first code, and how an app reads it. */
export interface TotpEnrolment {
  id: string
  /** Base32, in groups of four. */
  secret: string
  uri: string
}

/** Stores a secret for 10 minutes; it counts after `confirmTotp`. Answers the factor's id. */
export async function beginTotp(ctx: AnyContext, person: Person): Promise<string> {
  const { Secret } = await loadTotpLibrary()
  const secret = new Secret({ buffer: ctx.runtime.random(secretBytes).slice().buffer as ArrayBuffer }).base32
  const factors = ctx.records('twoFactor')
  // One secret at a time waits: a former one must not be confirmed by mistake.
  const { rows } = await factors.find({ where: { person: person.key } })
  for (const row of rows) if (row.kind === 'totp' && !row.confirmed) await factors.delete(row.id)
  const expires = new Date(ctx.now.getTime() + unconfirmedSeconds * 1000)
  const { id } = await factors.create({
    person: person.key,
    userId: person.userId,
    kind: 'totp',
    secret,
    confirmed: false,
    step: 0,
    created: ctx.now,
    expires,
  })
  return id
}

/** How an app reads a secret that waits; undefined: there is none. */
export async function enrolmentOf(ctx: AnyContext, person: Person, id: string, issuer: string): Promise<TotpEnrolment | undefined> {
  const row = await ctx.records('twoFactor').get(id)
  if (!row || row.person !== person.key || row.confirmed || row.secret === null) return undefined
  const label = person.user.email ?? person.user.name ?? issuer
  return { id, secret: row.secret.replace(/(.{4})(?=.)/g, '$1 '), uri: (await totpOf(row.secret, issuer, label)).toString() }
}

/** True: the code fits, and the factor counts from now on. */
export async function confirmTotp(ctx: AnyContext, row: Row<FactorRow>, code: string): Promise<boolean> {
  const step = await stepOf(ctx, row, code)
  if (step === undefined) return false
  const change = { confirmed: true, step, expires: never }
  return (await ctx.records('twoFactor').update(row.id, change, { if: { confirmed: false } })) !== null
}

/** True to one of many callers with the same code: the accepted step is raised by compare-and-set. */
export async function acceptTotp(ctx: AnyContext, row: Row<FactorRow>, code: string): Promise<boolean> {
  const step = await stepOf(ctx, row, code)
  if (step === undefined) return false
  if (step > row.step && (await ctx.records('twoFactor').update(row.id, { step }, { if: { step: row.step } }))) return true
  // The right code, for the second time.
  await ctx.emit('noted', {
    name: 'factor.replayed',
    outcome: 'denied',
    reason: 'replayed',
    user: { id: row.userId ?? undefined },
    details: { id: row.id },
  })
  return false
}

async function stepOf(ctx: AnyContext, { secret }: FactorRow, code: string): Promise<number | undefined> {
  const token = code.replace(/\s/g, '')
  if (secret === null || !/^\d{6}$/.test(token)) return undefined
  const delta = (await totpOf(secret, '', '')).validate({ token, timestamp: ctx.now.getTime(), window: 1 })
  return delta === null ? undefined : Math.floor(ctx.now.getTime() / 1000 / period) + delta
}

async function totpOf(secret: string, issuer: string, label: string) {
  const { Secret, TOTP } = await loadTotpLibrary()
  return new TOTP({ issuer, label, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period })
}

async function loadTotpLibrary() {
  try {
    return await import('otpauth')
  } catch (error) {
    throw new AuthError('Plugin "two-factor": codes of an app need the package otpauth: npm install otpauth', {
      cause: { err: error as Error },
    })
  }
}
