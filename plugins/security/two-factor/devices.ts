/** Browsers that are not asked for a while: a random value in a cookie, and a record that can be taken away singly. */
import { type Context, type CookieHandle, createCookie, type Row, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import { type Person, readState } from './person.ts'
import type { TrustedDeviceRow } from './tables.ts'

/** How long and how many. */
export interface TrustedDevices {
  /** Default 30. */
  days: number
  /** Default 10; the oldest goes. */
  max: number
}

export const deviceCookie: CookieHandle = /* @__PURE__ */ createCookie('trusted-device', { maxAge: 30 * 86_400 })

/** Whether the browser of this request was trusted by this user, since the factors changed last. */
export async function isBrowserTrusted(ctx: Context, person: Person): Promise<boolean> {
  const value = deviceCookie.get(ctx)
  if (value === undefined || !/^[\w-]{43}$/.test(value)) return false
  const row = await ctx.records('twoFactorDevice').get({ hash: toHex(await sha256(value)) })
  // A cookie that was copied to another kind of browser is none.
  if (row === null || row.person !== person.key || row.label !== labelOf(ctx.facts.userAgent)) return false
  return row.generation === (await readState(ctx, person)).generation
}

/** Trusts this browser. */
export async function trustBrowser(ctx: Context, person: Person, { days, max }: TrustedDevices): Promise<void> {
  const table = ctx.records('twoFactorDevice')
  const value = toBase64Url(ctx.runtime.random(32).slice())
  const { generation } = await readState(ctx, person)
  const expires = new Date(ctx.now.getTime() + days * 86_400_000)
  const label = labelOf(ctx.facts.userAgent)
  await table.create({
    person: person.key,
    userId: person.userId,
    hash: toHex(await sha256(value)),
    generation,
    label,
    created: ctx.now,
    expires,
  })
  const { rows } = await table.find({ where: { person: person.key }, order: 'desc', limit: 1000 })
  for (const { id } of rows.slice(max)) await table.delete(id)
  await ctx.emit('noted', { name: 'device.trusted', outcome: 'success', user: { id: person.userId ?? undefined }, details: { label } })
  deviceCookie.set(ctx, value, { maxAge: days * 86_400, expires })
}

/** Newest first. */
export async function listDevices(ctx: Context, person: Person): Promise<Row<TrustedDeviceRow>[]> {
  return (await ctx.records('twoFactorDevice').find({ where: { person: person.key }, order: 'desc' })).rows
}

function labelOf(userAgent = ''): string {
  const find = (names: readonly [RegExp, string][]): string => names.find(([pattern]) => pattern.test(userAgent))?.[1] ?? ''
  const browser = find([
    [/Edg\//, 'Edge'],
    [/Firefox\//, 'Firefox'],
    [/Chrome\//, 'Chrome'],
    [/Safari\//, 'Safari'],
  ])
  const system = find([
    [/Android/, 'Android'],
    [/iPhone|iPad/, 'iOS'],
    [/Windows/, 'Windows'],
    [/Mac OS X/, 'macOS'],
    [/Linux/, 'Linux'],
  ])
  return [browser, system].filter(Boolean).join(', ')
}
