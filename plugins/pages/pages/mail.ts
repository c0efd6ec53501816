/** The service `mail`: templates of plugins, written in the language of whoever reads them, as text and as HTML. */
import {
  type AnyContext,
  AuthError,
  lazily,
  type Mail,
  MailNotSent,
  type MailTemplate,
  type MailTransport,
  type Plugin,
  redactError,
  type Theme,
  withDeadline,
} from 'authkernel/kernel'
import { mailTexts } from './messages/mail.ts'

/** Options of `mailPlugin`. */
export interface MailPluginOptions {
  /** Sender: `Acme <no-reply@acme.example>`. Default: that of the transport, else `no-reply@` and the own host. */
  from?: string | undefined
  /** Carries all mails for which the caller names nothing else; default: the first email provider that sends what it is given. */
  transport?: MailTransport | undefined
  /** Default: that of `createAuth`. */
  theme?: Theme | undefined
}

const writer = lazily(() => import('./write-mail.ts'))

/** Brings the service `mail`, and `mailTransport` where `transport` is given. */
export function mailPlugin({ from, transport, theme }: MailPluginOptions = {}): Plugin {
  const mail: Mail = {
    write: async (ctx, template, data, options = {}) => (await writer()).write(ctx, templateOf(ctx, template), data, options, theme),
    async send(ctx, to, name, data, options = {}) {
      const template = templateOf(ctx, name)
      const carrier = options.transport ?? ctx.service('mailTransport')
      const { oneAddress, ownSender, write } = await writer()
      try {
        const message = {
          ...write(ctx, template, data, options, theme),
          to: oneAddress(to),
          from: from ?? carrier.from ?? ownSender(ctx),
        }
        const { network } = ctx.app.config.deadlines
        await withDeadline(
          network,
          [ctx.signal],
          async (signal) => carrier.send(message, signal, ctx),
          (given) => new Error(given ? 'the request was given up' : `no answer within ${network} ms (deadlines.network)`),
        )
      } catch (error) {
        const err = redactError(error, [to, ...Object.values(data).filter((value) => typeof value === 'string')])
        throw new MailNotSent(`The mail "${name}" could not be sent: ${err.message}`, { cause: { err, template: name } })
      }
    },
  }
  return {
    name: 'mail',
    setup(kernel) {
      kernel.messages(mailTexts)
      kernel.provide('mail', mail)
      kernel.preload(async () => writer())
      if (transport) kernel.provide('mailTransport', transport)
    },
  }
}

function templateOf(ctx: AnyContext, name: string): MailTemplate {
  const template = ctx.app.mailTemplates.get(name)
  if (template) return template
  const known = [...ctx.app.mailTemplates.keys()].join(', ') || 'none'
  throw new AuthError(`No plugin has declared the mail "${name}" with kernel.mailTemplate. Declared: ${known}.`)
}
