/** Sign-in by a code of six digits in a text message. A number is a way in, and no proof that a user stays the same. */
import {
  assertOptions,
  AuthError,
  type Awaitable,
  beginAttempt,
  type Bucket,
  type ClientPart,
  type Context,
  createCookie,
  networksOf,
  type Plugin,
  randomUUID,
} from 'authkernel/kernel'
import { isKnownDevice, rememberDevice } from 'authkernel/kernel/users'
import { messageText } from '../codes/channel.ts'
import { TooManyCodes, UnknownRecipient, WrongCode } from '../codes/errors.ts'
import type { CodeKind, CodeMessage } from '../codes/kind.ts'
import { type CodeMethods, codeMethods } from '../codes/methods.ts'
import { registerCodes } from '../codes/register.ts'
import { messagesOf } from './messages.ts'
import { checkNumbers, isCountry, toNumber } from './numbers.ts'
import { type NumberTaken, numberTarget } from './number-import.ts'
import { addNewcomer } from './pages.ts'
import { recordUse, releaseOldNumber } from './number-history.ts'
import { phoneUseTable } from './tables.ts'

export type { CodeMessage, PhoneConfig } from '../codes/kind.ts'
export type { PhoneUseRow } from './tables.ts'
export type { NumberTaken }
export type { CodeMethods } from '../codes/methods.ts'
export { TooManyCodes, UnknownRecipient, WrongCode }

/** What `phonePlugin` takes. */
export interface PhoneOptions {
  /** Sends one text message: hand `message.text` to your carrier. What it throws is logged, and the code is void. */
  send(message: CodeMessage, ctx: Context): Awaitable<unknown>
  /** Countries whose numbers may be used, in ISO 3166 (`['DE', 'AT']`). Default: all. */
  countries?: readonly string[]
  /** Messages in an hour, over all numbers of a tenant; default 500. Beyond it none leaves, and `phone-ceiling` is logged. */
  perHour?: number
}

const hour = 3_600

/**
 * Sign-in by a code that goes to a phone number. Needs `libphonenumber-js`, an adapter that stores users without an address, and the service
 * `records`. Throws AuthError for options of the wrong shape.
 */
export function phonePlugin(options: PhoneOptions): Plugin<ClientPart<{ readonly phone: CodeMethods<{ phone: string }> }>> {
  assertOptions('Plugin "phone"', options, { send: true, countries: true, perHour: true })
  const { send, countries, perHour = 500 } = options
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "phone": ${what}`)
  }
  if (typeof send !== 'function') refuse('give a function `send(message)`, which hands `message.text` to your carrier.')
  if (countries !== undefined && !countries.every(isCountry)) refuse("`countries` must be a list of codes such as ['DE', 'AT'].")
  if (!(Number.isInteger(perHour) && perHour > 0)) refuse('`perHour` must be a whole number above 0.')
  const kind = createPhoneKind({ send, countries, perHour })
  return {
    name: 'phone',
    requires: [
      'store',
      'store:nullableEmail',
      'store:getUserByAccount',
      'store:linkAccount',
      'store:unlinkAccount',
      'records',
      'limit',
      'once',
    ],
    setup(kernel) {
      kernel.messages(messagesOf())
      kernel.records('phoneUse', phoneUseTable)
      registerCodes(kernel, kind, { id: 'phone', type: 'phone', name: 'Phone' })
      addNewcomer(kernel)
      kernel.provide('numberImport', numberTarget(countries))
      kernel.on('signIn', async ({ user, account, ctx }) => {
        if (account?.provider === 'phone') await recordUse(ctx, account.providerAccountId, user)
      })
      return codeMethods<{ phone: string }, 'phone'>(kernel, kind, 'phone')
    },
  }
}

function createPhoneKind({
  send,
  countries,
  perHour,
}: Pick<PhoneOptions, 'send'> & { countries: readonly string[] | undefined; perHour: number }): CodeKind {
  const device = (number: string): string => `phone ${number}`
  return {
    name: 'phone',
    cookie: createCookie('phone-code', { path: 'base', maxAge: 600 }),
    field: 'phone',
    input: {
      label: 'Phone number',
      type: 'tel',
      required: true,
      autocomplete: 'tel',
      placeholder: '+49 151 23456789',
      maxlength: 32,
    },
    submit: 'Text me a code',
    page: 'phoneCode',
    path: '/phone',
    link: false,
    check: checkNumbers,
    async readIdentifier(_ctx, typed) {
      const number = await toNumber(typed, countries)
      if (number !== undefined) return number
      throw new UnknownRecipient('What was typed is no number that messages go to.', { cause: { provider: 'phone' } })
    },
    async findUser(ctx, number) {
      const known = await ctx.service('store').getUserByAccount({ provider: 'phone', providerAccountId: number })
      return known ?? { id: randomUUID(ctx.runtime), email: null }
    },
    async identify(ctx, number, startedBy) {
      await releaseOldNumber(ctx, number)
      return {
        user: {},
        account: { provider: 'phone', type: 'phone', providerAccountId: number },
        match: 'account',
        startedBy,
        proof: { amr: ['sms'] },
      }
    },
    count: (ctx, number) => countMessage(ctx, number, device(number), perHour),
    recordProof: (ctx, number) => rememberDevice(ctx, device(number)),
    async deliver(ctx, message) {
      await send({ ...message, text: messageText(ctx, message, true) }, ctx)
    },
  }
}

// Some carriers pay a share of each message, so attackers make sites send them: a network gets few, and the deployment has a ceiling.
async function countMessage(ctx: Context, number: string, name: string, perHour: number): ReturnType<CodeKind['count']> {
  const device = await isKnownDevice(ctx, name)
  const to = device ? `device ${device} ${number}` : number
  const buckets: Bucket[] = [
    { key: `phone ${to}`, rule: { max: 3, seconds: 600 } },
    { key: `phone day ${to}`, rule: { max: 10, seconds: 86_400 } },
  ]
  if (!device)
    for (const { key, scale } of networksOf(ctx.clientAddress))
      buckets.push({ key: `phone network ${key}`, rule: { max: 20 * scale, seconds: hour } })
  const ceiling: Bucket = { key: 'phone ceiling', rule: { max: perHour, seconds: hour } }
  const attempt = await beginAttempt(ctx, [...buckets, ceiling])
  if (attempt.refused?.bucket.key === ceiling.key) ctx.logger.warn('phone-ceiling')
  return attempt.refused ? false : attempt
}
