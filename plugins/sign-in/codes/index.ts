/** Sign-in by a code of six digits: by mail beside the link, or by anything else that carries a message. */
import { assertOptions, AuthError, type ClientPart, createCookie, type Plugin, randomUUID, toAddress } from 'authkernel/kernel'
import { beginMail, rememberMailbox } from 'authkernel/kernel/mail'
import { checkChannel, type CodeChannel, isMail, messageText } from './channel.ts'
import { TooManyCodes, UnknownRecipient, WrongCode } from './errors.ts'
import type { CodeKind } from './kind.ts'
import { messages } from './messages.ts'
import { type CodeMethods, codeMethods } from './methods.ts'
import { registerCodes } from './register.ts'

export { type CodeChannel, email } from './channel.ts'
export type { CodeMessage, CodesConfig } from './kind.ts'
export type { CodeMethods } from './methods.ts'
export type { SignInCodeGuessRow, SignInCodeRow } from './tables.ts'
export { TooManyCodes, UnknownRecipient, WrongCode }

/** What `codesPlugin` takes: `via`, or `send` alone. */
export interface CodesOptions {
  /** `email()`, or an object with `send(message)`. */
  via?: CodeChannel
  /** Short for `via: { send }`. */
  send?: CodeChannel['send']
}

/**
 * Sign-in by a code that goes to an address. Needs an adapter and the service `records`, and for `email()` something that carries mails.
 * Throws AuthError for options of the wrong shape.
 */
export function codesPlugin(options: CodesOptions): Plugin<ClientPart<{ readonly codes: CodeMethods<{ email: string }> }>> {
  assertOptions('Plugin "codes"', options, { via: true, send: true })
  const { via, send } = options
  if (via && send) throw new AuthError('Plugin "codes": give `via` or `send`, not both.')
  const channel = checkChannel('codes', (via ?? { send }) as CodeChannel)
  const kind = createEmailKind(channel)
  return {
    name: 'codes',
    requires: [
      'store',
      'store:getUserByEmail',
      'records',
      'limit',
      'once',
      ...(isMail(channel) ? (['mail', 'mailTransport'] as const) : []),
    ],
    setup(kernel) {
      kernel.messages(messages)
      for (const [name, code, button] of [
        ['codes.both', true, true],
        ['codes.code', true, false],
        ['codes.link', false, true],
      ] as const)
        kernel.mailTemplate(name, {
          subject: code ? 'codes.mail.subject' : 'codes.mail.link-subject',
          lines: [code ? 'codes.mail.lead' : 'codes.mail.link-lead'],
          ...(code && { code: 'code' }),
          ...(button && { button: { text: 'codes.mail.open', url: 'url' } }),
          after: [button && code ? 'codes.mail.valid-both' : 'codes.mail.valid', 'codes.mail.asked', 'codes.mail.place'],
          note: 'codes.mail.never-tell',
        })
      registerCodes(kernel, kind, { id: 'codes', type: 'codes', name: 'Email' })
      return codeMethods<{ email: string }, 'codes'>(kernel, kind, 'codes')
    },
  }
}

function createEmailKind(channel: CodeChannel): CodeKind {
  return {
    name: 'codes',
    cookie: createCookie('code', { path: 'base', maxAge: 600 }),
    field: 'email',
    input: {
      label: 'Email',
      type: 'email',
      required: true,
      autocomplete: 'username',
      placeholder: 'you@example.com',
      maxlength: 254,
      autocapitalize: 'none',
      spellcheck: 'false',
    },
    submit: 'Email me a code',
    page: 'codes',
    path: '/codes',
    link: channel.link ?? true,
    readIdentifier(_ctx, typed) {
      const address = toAddress(typed)
      if (address !== undefined) return address
      throw new UnknownRecipient('What was typed is no mail address, or more than one.', { cause: { provider: 'codes' } })
    },
    findUser: async (ctx, email) =>
      (await ctx.service('store').getUserByEmail(email)) ?? { id: randomUUID(ctx.runtime), email, emailVerified: null },
    identify: async (_ctx, email) => ({
      user: { email },
      account: { provider: 'codes', type: 'codes', providerAccountId: email },
      match: 'email',
      proof: { amr: ['email'] },
    }),
    // The same counts as those of mailed links: a mailbox is spared, whatever is in the mails.
    async count(ctx, address) {
      const attempt = await beginMail(ctx, address)
      return attempt?.refused ? false : (attempt ?? { end: () => Promise.resolve() })
    },
    recordProof: (ctx, address) => rememberMailbox(ctx, address),
    deliver: async (ctx, message) => void (await channel.send({ ...message, text: messageText(ctx, message, false) }, ctx)),
  }
}
