/** Users add, remove and renew factors; a login that must have one enrols it here. */
import { AccessDenied, type Context, type ParkedLogin, redirectTo } from 'authkernel/kernel'
import { hasTypedAddress } from 'authkernel/kernel/users'
import { beginTry } from './attempts.ts'
import { renewBackupCodes } from './backup-codes.ts'
import { applyChange, isFresh, leadToFactor } from './changes.ts'
import { listDevices } from './devices.ts'
import { TooManySecondFactors, WrongSecondFactor } from './errors.ts'
import { confirmedFactors, hasStrong, usableKinds } from './factors.ts'
import { hasAddress, mailCode, takeMailedCode } from './mailed-code.ts'
import type { Options } from './options.ts'
import { addPasskey } from './passkey.ts'
import { currentPerson, mustEnrolAnew, type Person, personOfLogin, readState } from './person.ts'
import type { Waiting } from './question.ts'
import { never } from './tables.ts'
import { beginTotp, confirmTotp } from './totp.ts'

// Removals that run at the same moment, and writes that happen together.
const maxRaces = 16
const maxWrites = 19

/** The user of the page: signed in, or with a login that must enrol. */
export interface Visitor {
  person: Person
  parked: ParkedLogin<Waiting> | undefined
}

/** Null: a visitor, whom the sign-in page is for. */
export async function visitorOf(ctx: Context, options: Options): Promise<Visitor | null> {
  const parked = await parkedForSetup(ctx, options)
  if (parked) return { person: await personOfLogin(ctx, parked.login), parked }
  const person = await currentPerson(ctx)
  return person && { person, parked: undefined }
}

/** After a password a thief of it must not enrol a factor of his own: the address is proved first. */
export async function mustProveAddress(ctx: Context, { person, parked }: Visitor): Promise<boolean> {
  if (!parked || parked.data.addressProved || !hasAddress(person) || !ctx.app.services.mailTransport) return false
  const { proof, match } = parked.login
  // A link or a code of this sign-in proved it already. What a provider lists as methods proves no mailbox.
  return match !== 'email' && (proof.amr.includes('pwd') || (await mustEnrolAnew(ctx, person)))
}

// A login that waits for a code of a factor it has is no ground to enrol another one.
async function parkedForSetup(ctx: Context, options: Options): Promise<ParkedLogin<Waiting> | undefined> {
  const parked = await ctx.parked<Waiting>('two-factor')
  if (!parked) return undefined
  const has = hasStrong(await usableKinds(ctx, await personOfLogin(ctx, parked.login), options.factors))
  return has && !parked.data.enrolled ? undefined : parked
}

/** `POST /two-factor/setup`. */
export async function changeFactors(ctx: Context, options: Options): Promise<Response> {
  const visitor = await visitorOf(ctx, options)
  if (!visitor) return ctx.page('signIn')
  const { action, id, code, data } = await ctx.body()
  const input = { id: typeof id === 'string' ? id : '', code: typeof code === 'string' ? code.slice(0, 64) : '' }
  const back = `${ctx.base}/two-factor/setup`
  const { parked } = visitor
  if (parked && action === 'continue' && parked.data.enrolled)
    return ctx.resume(parked, { proof: { amr: ['otp', 'mfa'], factors: 2, authTime: Math.floor(ctx.now.getTime() / 1000) } })
  if (parked && (await mustProveAddress(ctx, visitor))) return proveAddress(ctx, visitor, parked, action, input.code)
  if (!parked && !(await isFresh(ctx, options.maxAge))) return leadToFactor(ctx, visitor.person, options, back)
  const adds = action === 'totp' || action === 'confirm' || action === 'register' || action === 'emailCode'
  if (adds && visitor.person.userId !== null && (await hasTypedAddress(ctx, visitor.person.userId)))
    throw new AccessDenied('The email of this user is not verified: verify it by a link or code in a mail, then add a second factor.')
  switch (action) {
    case 'totp':
      return ctx.render('twoFactorApp', { id: await beginTotp(ctx, visitor.person) })
    case 'confirm':
      return confirmFactor(ctx, visitor, options, input.id, input.code)
    // What the script of the form says.
    case 'register':
      return addKey(ctx, visitor, options, data)
    case 'emailCode':
      if (!parked) await addEmailCode(ctx, visitor.person, options)
      return redirectTo(back)
    case 'remove':
      if (!parked) await removeFactor(ctx, visitor.person, input.id, options)
      return redirectTo(back)
    case 'renew': {
      if (parked || (await confirmedFactors(ctx, visitor.person)).length === 0) return redirectTo(back)
      return ctx.render('twoFactorCodes', { codes: (await renewCodes(ctx, visitor.person)).join(' ') })
    }
    case 'forget':
      if (!parked) await forgetBrowser(ctx, visitor.person, input.id)
      return redirectTo(back)
    default:
      return redirectTo(back)
  }
}

/** New backup codes; the former ones count no longer. Throws AccessEnded when access ended meanwhile: there are none then. */
export async function renewCodes(ctx: Context, person: Person): Promise<string[]> {
  // The slow hashes take long enough for the session to be ended meanwhile: then the codes must open nothing.
  const stamp = (await ctx.access.stampSession()) ?? (await ctx.access.stamp(person.key))
  const codes = await ctx.access.grant(
    stamp,
    'credential',
    () => renewBackupCodes(ctx, person),
    () => ctx.records('twoFactorBackupCode').deleteWhere({ where: { person: person.key } }),
  )
  await applyChange(ctx, person, 'changed', { others: false })
  await ctx.emit('noted', { name: 'backupCodes.renewed', outcome: 'success', user: person.user })
  return codes
}

async function proveAddress(
  ctx: Context,
  { person }: Visitor,
  parked: ParkedLogin<Waiting>,
  action: unknown,
  code: string,
): Promise<Response> {
  const back = `${ctx.base}/two-factor/setup?flow=${parked.flow}`
  if (action === 'send') {
    await mailCode(ctx, person, parked.id)
    return redirectTo(`${back}&sent=1`)
  }
  const attempt = await beginTry(ctx, person, parked.id)
  if (attempt.refused?.reason === 'over') {
    await ctx.drop(parked)
    throw new TooManySecondFactors(`Five wrong codes ended the sign-in of ${person.key}.`)
  }
  if (attempt.refused) return ctx.render('twoFactorSetup', { error: TooManySecondFactors.type })
  if (!(await takeMailedCode(ctx, person, parked.id, code)))
    return ctx.render('twoFactorSetup', { error: WrongSecondFactor.type, sent: '1' })
  await attempt.right()
  await ctx.keep(parked, { ...parked.data, addressProved: true })
  return redirectTo(back)
}

async function confirmFactor(ctx: Context, { person, parked }: Visitor, options: Options, id: string, code: string): Promise<Response> {
  const row = await ctx.records('twoFactor').get(id)
  if (!row || row.person !== person.key || row.confirmed)
    return redirectTo(`${ctx.base}/two-factor/setup${parked ? `?flow=${parked.flow}` : ''}`)
  const attempt = await beginTry(ctx, person, parked?.id)
  if (attempt.refused) return ctx.render('twoFactorSetup', { error: TooManySecondFactors.type })
  const first = !hasStrong(await usableKinds(ctx, person, options.factors))
  // The secret is not shown again: the code is typed below the text key that is still on the screen, or the enrolment begins anew.
  if (!(await confirmGranted(ctx, parked, row, code))) return ctx.render('twoFactorApp', { again: id, error: WrongSecondFactor.type })
  await attempt.right()
  return showCodes(ctx, { person, parked }, first)
}

/** A factor of a user whose access ended meanwhile goes again. */
export async function confirmGranted(
  ctx: Context,
  parked: ParkedLogin<Waiting> | undefined,
  row: Parameters<typeof confirmTotp>[1],
  code: string,
): Promise<boolean> {
  const stamp = parked?.access ?? (await ctx.access.stampSession())
  if (!stamp) return false
  return ctx.access.grant(
    stamp,
    'credential',
    () => confirmTotp(ctx, row, code),
    (confirmed) => confirmed !== false && ctx.records('twoFactor').delete(row.id),
  )
}

async function addKey(ctx: Context, { person, parked }: Visitor, options: Options, data: unknown): Promise<Response> {
  const first = !hasStrong(await usableKinds(ctx, person, options.factors))
  const offered = options.factors.some(({ kind }) => kind === 'passkey')
  const stamp = parked?.access ?? (await ctx.access.stampSession())
  if (!offered || !stamp || !(await addPasskey(ctx, person, data, stamp)))
    return ctx.render('twoFactorSetup', { error: WrongSecondFactor.type })
  return showCodes(ctx, { person, parked }, first)
}

async function showCodes(ctx: Context, visitor: Visitor, first: boolean): Promise<Response> {
  const codes = await countFactor(ctx, visitor, first)
  if (!codes) return redirectTo(`${ctx.base}/two-factor/setup`)
  return ctx.render('twoFactorCodes', { codes: codes.join(' '), ...(visitor.parked && { go: '1' }) })
}

/** A factor counts from now on. The first one comes with backup codes. */
export async function countFactor(ctx: Context, { person, parked }: Visitor, first: boolean): Promise<string[] | undefined> {
  const { id: state } = await readState(ctx, person)
  await ctx.records('twoFactorState').update(state, { proveAddress: false })
  await applyChange(ctx, person, 'added', { others: true, renew: !parked })
  // After the ending: the sign-in that set the factor up goes on.
  if (parked) await ctx.keep(parked, { ...parked.data, enrolled: true })
  return first ? renewBackupCodes(ctx, person) : undefined
}

async function addEmailCode(ctx: Context, person: Person, { factors }: Options): Promise<void> {
  const rows = await confirmedFactors(ctx, person)
  const offered = factors.some(({ kind }) => kind === 'emailCode')
  if (!offered || !hasAddress(person) || rows.length === 0 || rows.some(({ kind }) => kind === 'emailCode')) return
  const base = { person: person.key, userId: person.userId, kind: 'emailCode', secret: null, confirmed: true, step: 0 }
  await ctx.records('twoFactor').create({ ...base, created: ctx.now, expires: never })
  await applyChange(ctx, person, 'added', { others: false })
}

/** False: the user has no such factor. Throws AccessDenied for the last one of a user who must have one. */
export async function removeFactor(ctx: Context, person: Person, id: string, options: Options): Promise<boolean> {
  for (let races = 0; races < maxRaces; races++) {
    // Read before the factors: a request that removes another one meanwhile raises it, and this removal looks again.
    const { id: state, generation } = await readState(ctx, person)
    const rows = await confirmedFactors(ctx, person)
    if (!rows.some((one) => one.id === id)) return false
    const rest = rows.filter((one) => one.id !== id && isStrongAndOffered(one.kind, options))
    if (rest.length === 0 && (await options.isRequired(person.user)))
      throw new AccessDenied('The last second factor of a user who must have one cannot be removed.')
    // A code by mail and backup codes are nothing without an app or a key.
    const gone = rest.length === 0 ? rows : rows.filter((one) => one.id === id)
    const raised = { record: 'twoFactorState', increment: state, field: 'generation', by: 1, if: { generation } } as const
    const removals = gone.slice(0, maxWrites).map((row) => ({ record: 'twoFactor', take: row.id }) as const)
    if (!(await ctx.atomic([raised, ...removals]))) continue
    if (rest.length === 0) await ctx.records('twoFactorBackupCode').deleteWhere({ where: { person: person.key } })
    await applyChange(ctx, person, 'removed', { others: true, renew: true })
    return true
  }
  throw new AccessDenied('The factors of this user are changed by other requests at the same moment. Try again.')
}

function isStrongAndOffered(kind: string, { factors }: Options): boolean {
  return hasStrong([kind]) && factors.some((one) => one.kind === kind)
}

/** False: the user trusts no such browser. */
export async function forgetBrowser(ctx: Context, person: Person, id: string): Promise<boolean> {
  const device = (await listDevices(ctx, person)).find((each) => each.id === id)
  if (!device) return false
  await ctx.records('twoFactorDevice').delete(device.id)
  await ctx.emit('noted', { name: 'device.untrusted', outcome: 'success', user: person.user, details: { label: device.label } })
  return true
}
