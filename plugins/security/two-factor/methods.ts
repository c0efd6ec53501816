/** `auth.twoFactor` for server code, support and administrators, and `client.twoFactor` for own pages instead of the built-in ones. */
import {
  AccessDenied,
  AuthError,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  type JobContext,
  jobFor,
  type Kernel,
  type OfTenant,
  type User,
  type Wire,
} from 'authkernel/kernel'
import { beginTry } from './attempts.ts'
import { isFresh, resetFactors } from './changes.ts'
import { listDevices } from './devices.ts'
import { NoLoginWaits, ProofTooOld, TooManySecondFactors, WrongSecondFactor } from './errors.ts'
import { confirmedFactors, hasStrong, usableKinds } from './factors.ts'
import type { Options } from './options.ts'
import { beginAsk } from './passkey.ts'
import { currentPerson, type Person, personOfLogin } from './person.ts'
import { drawQrPath, type QrCode } from './qr-code.ts'
import { type Answer, findWaiting, mailWaitingCode, tryFactor } from './question.ts'
import { confirmGranted, countFactor, forgetBrowser, removeFactor, renewCodes } from './setup.ts'
import { beginTotp, enrolmentOf, type TotpEnrolment } from './totp.ts'

/** Whose: the user who is signed in on a request, or a stored user. `tenant` names the tenant where there are several. */
export type FactorsOf = Request | ({ userId: string } & OfTenant)
/** A factor without its secret. */
export interface ListedFactor {
  id: string
  kind: string
  created: Date
}
/** What the plugin puts on `auth`. It checks whose factors are meant, not CSRF: call it from your own protected routes. */
export interface TwoFactorApi {
  twoFactor: {
    /** Empty: the user has none, or the request is signed out. */
    list(who: FactorsOf): Promise<ListedFactor[]>
    /** How many backup codes are left. */
    backupCodes(who: FactorsOf): Promise<number>
    /**
     * For an administrator whom you have checked: removes all factors, ends all sessions, and asks for email verification and a new factor at the next sign-in. Answers no code. Throws AuthError without a `reason`.
     */
    reset(user: { userId: string } & OfTenant, by: { admin: User; reason: string }): Promise<void>
  }
}

export function createApi(kernel: Kernel): TwoFactorApi['twoFactor'] {
  return {
    async list(who) {
      const { ctx, person } = await findPerson(kernel, who)
      const rows = person ? await confirmedFactors(ctx, person) : []
      return rows.map(({ id, kind, created }) => ({ id, kind, created }))
    },
    async backupCodes(who) {
      const { ctx, person } = await findPerson(kernel, who)
      return person ? ctx.records('twoFactorBackupCode').count({ person: person.key }, { max: 10 }) : 0
    },
    async reset(user, { admin, reason }) {
      if (typeof reason !== 'string' || reason.trim() === '')
        throw new AuthError('twoFactor.reset: give a `reason`; the audit log keeps it.')
      const { ctx, person } = await findPerson(kernel, user)
      if (!person) throw new AuthError('twoFactor.reset: there is no such user.')
      await resetFactors(ctx, person, { admin, reason })
    },
  }
}

/** A browser that is not asked for a factor. */
export interface TrustedBrowser {
  id: string
  /** "Firefox, Linux"; empty when the browser told nothing. */
  label: string
  created: Date
}
/** `client.twoFactor`. A rejection rejects with AuthClientError, whose `error` is named below. */
export interface TwoFactorMethods {
  /**
   * Which factors the login of this browser waits for: `totp`, `passkey`, `emailCode`, whether a backup code counts, and whether the browser may be remembered.
   * Null: no login waits.
   */
  getQuestion(): Promise<{ factors: string[]; backupCode: boolean; remember: boolean } | null>
  /** Options for `askForPasskey` of authkernel/client, where `factors` has `passkey`. Errors: `NoLoginWaits` (409). */
  getPasskeyOptions(): Promise<object>
  /**
   * Ends the sign-in with a code of an app, of a mail, or a backup code, or with the passkey `data` (JSON); `url` is where it leads. `remember`: this browser is not asked again, where the option
   * `trustedDevices` allows it. Errors: `WrongSecondFactor` (401), `TooManySecondFactors` (429), `NoLoginWaits` (409).
   */
  verify(input: ({ code: string } | { data: string }) & { remember?: boolean }): Promise<{ url: string }>
  /** Mails a code for the login that waits. Errors: `NoLoginWaits`. */
  sendCode(): Promise<null>
  /** Factors of the user who is signed in. Errors of this and of all that follow: `AccessDenied` (403) for a visitor. */
  list(): Promise<Wire<ListedFactor>[]>
  /**
   * A secret for an app, with the `uri` for a QR code, and its picture where the package `uqr` is installed. It counts after `confirm`, and is gone after 10 minutes. Errors of this and of all that follow: `ProofTooOld`
   * (403) when the last proof is older than `maxAge`: lead the user to `/two-factor/setup`, or let them sign in again.
   */
  addApp(): Promise<TotpEnrolment & { qr: QrCode | null }>
  /** The first code of the app. `codes`: ten backup codes, with the first factor alone. Errors: `WrongSecondFactor`, `TooManySecondFactors`. */
  confirm(input: { id: string; code: string }): Promise<{ codes: string[] }>
  /** False: there is no such factor. Errors: `AccessDenied` for the last one of a user who must have one. */
  remove(input: { id: string }): Promise<boolean>
  /** Ten new backup codes instead of the former ones. None for a user without a factor. */
  renewCodes(): Promise<{ codes: string[] }>
  /** Browsers that are not asked, the newest first. */
  listBrowsers(): Promise<Wire<TrustedBrowser>[]>
  /** False: there is no such browser. */
  forgetBrowser(input: { id: string }): Promise<boolean>
}
/** `client.twoFactor` on `auth`, for types alone. */
export type TwoFactorClient = ClientPart<{ readonly twoFactor: TwoFactorMethods }>

/** Adds the methods. */
export function addClientMethods(kernel: Kernel, options: Options): TwoFactorClient {
  return clientMethods(kernel, 'twoFactor', {
    getQuestion: clientMethod(async (ctx) => {
      const waiting = await findWaiting(ctx, options)
      if (!waiting || (waiting.kinds.length === 0 && !waiting.backup)) return null
      const remember = Boolean(options.trustedDevices) && waiting.login.purpose === 'signIn'
      return { factors: waiting.kinds, backupCode: waiting.backup, remember }
    }),
    getPasskeyOptions: clientMethod(async (ctx) => {
      const waiting = await findWaiting(ctx, options)
      if (!waiting?.kinds.includes('passkey'))
        throw new NoLoginWaits('twoFactor.getPasskeyOptions: this browser has no sign-in that waits for a passkey.')
      return beginAsk(ctx, waiting.person)
    }),
    verify: clientMethod(readAnswer, (ctx, given) => verifyCode(ctx, options, given)),
    sendCode: clientMethod((ctx) => sendWaitingCode(ctx, options)),
    list: clientMethod(async (ctx) =>
      (await confirmedFactors(ctx, await requirePerson(ctx))).map(({ id, kind, created }) => ({ id, kind, created })),
    ),
    addApp: clientMethod(async (ctx) => beginApp(ctx, await requireFreshPerson(ctx, options), options)),
    confirm: clientMethod(
      (sent) => ({ id: createTextReader('id')(sent), code: createTextReader('code')(sent) }),
      async (ctx, { id, code }) => confirmApp(ctx, await requireFreshPerson(ctx, options), options, id, code),
    ),
    remove: clientMethod(
      (sent) => ({ id: createTextReader('id')(sent) }),
      async (ctx, { id }) => removeFactor(ctx, await requireFreshPerson(ctx, options), id, options),
    ),
    renewCodes: clientMethod(async (ctx) => {
      const person = await requireFreshPerson(ctx, options)
      return { codes: (await confirmedFactors(ctx, person)).length > 0 ? await renewCodes(ctx, person) : [] }
    }),
    listBrowsers: clientMethod(async (ctx) =>
      (await listDevices(ctx, await requirePerson(ctx))).map(({ id, label, created }) => ({ id, label, created })),
    ),
    forgetBrowser: clientMethod(
      (sent) => ({ id: createTextReader('id')(sent) }),
      async (ctx, { id }) => forgetBrowser(ctx, await requireFreshPerson(ctx, options), id),
    ),
  })
}

async function verifyCode(ctx: Context, options: Options, given: Answer): Promise<Response> {
  const result = await tryFactor(ctx, options, given)
  if (result === undefined) throw new NoLoginWaits('twoFactor.verify: this browser has no sign-in that waits for a factor.')
  if (result instanceof Response) return result
  if ('wait' in result) throw tooManyTries(result.wait)
  throw new WrongSecondFactor('twoFactor.verify: the code is wrong, used or old.')
}

async function sendWaitingCode(ctx: Context, options: Options): Promise<null> {
  if (!(await mailWaitingCode(ctx, options)))
    throw new NoLoginWaits('twoFactor.sendCode: this browser has no sign-in that waits for a factor.')
  return null
}

async function beginApp(ctx: Context, person: Person, { issuer, factors }: Options): Promise<TotpEnrolment & { qr: QrCode | null }> {
  if (!factors.some(({ kind }) => kind === 'totp')) throw new AccessDenied('twoFactor.addApp: `factors` has no `totp()`.')
  const found = await enrolmentOf(ctx, person, await beginTotp(ctx, person), issuer ?? new URL(ctx.origin).host)
  if (!found) throw new AccessDenied('twoFactor.addApp: another request took its place.')
  return { ...found, qr: (await drawQrPath(found.uri)) ?? null }
}

async function confirmApp(ctx: Context, person: Person, options: Options, id: string, code: string): Promise<{ codes: string[] }> {
  const row = await ctx.records('twoFactor').get(id)
  if (!row || row.person !== person.key || row.confirmed) throw new WrongSecondFactor('twoFactor.confirm: no secret of this id waits.')
  const attempt = await beginTry(ctx, person, undefined)
  if (attempt.refused) throw tooManyTries(attempt.refused.reason === 'wait' ? attempt.refused.wait : 3600)
  const first = !hasStrong(await usableKinds(ctx, person, options.factors))
  if (!(await confirmGranted(ctx, undefined, row, code))) throw new WrongSecondFactor('twoFactor.confirm: the code is wrong.')
  await attempt.right()
  return { codes: (await countFactor(ctx, { person, parked: undefined }, first)) ?? [] }
}

/** The user of the session. Throws AccessDenied for a visitor, a key, an app and an admin who acts as the user. */
async function requirePerson(ctx: Context): Promise<Person> {
  const person = await currentPerson(ctx)
  if (!person) throw new AccessDenied('twoFactor: no user is signed in.')
  return person
}

/** The same, when the last proof is young enough for a change. */
async function requireFreshPerson(ctx: Context, { maxAge }: Options): Promise<Person> {
  const person = await requirePerson(ctx)
  if (!(await isFresh(ctx, maxAge))) throw new ProofTooOld(`twoFactor: the last proof is older than ${maxAge} seconds.`)
  return person
}

function tooManyTries(wait: number): TooManySecondFactors {
  return new TooManySecondFactors('twoFactor: too many wrong codes.', { cause: { retryAfter: wait } })
}

/** A code, or what a browser says of a passkey. */
function readAnswer(sent: unknown): ({ code: string } | { data: string }) & { remember?: boolean } {
  const { data, remember } = Object(sent) as { data?: unknown; remember?: unknown }
  const kept = { remember: remember === true }
  if (data === undefined) return { code: createTextReader('code')(sent), ...kept }
  if (typeof data !== 'string') throw new TypeError('data: JSON as a text')
  return { data, ...kept }
}

function createTextReader(name: string): (sent: unknown) => string {
  return (sent) => {
    const value = (Object(sent) as Record<string, unknown>)[name]
    if (typeof value !== 'string' || value.length > 64) throw new TypeError(`${name}: a text of at most 64 characters`)
    return value
  }
}

async function findPerson(kernel: Kernel, who: FactorsOf): Promise<{ ctx: Context | JobContext; person: Person | undefined }> {
  if (who instanceof Request) {
    const ctx = await kernel.contextOf(who)
    const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
    return { ctx, person: login ? await personOfLogin(ctx, login) : undefined }
  }
  const ctx = await kernel.contextOf(jobFor('twoFactor', who))
  const user = ctx.store ? await ctx.store.getUser(who.userId) : { id: who.userId }
  return { ctx, person: user ? { key: `user:${who.userId}`, userId: who.userId, user } : undefined }
}
