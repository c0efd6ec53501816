/** Writes and sends mails by the names of their templates. */
import {
  type AnyContext,
  AuthError,
  type Mail,
  MailNotSent,
  type MailTemplate,
  redactError,
  type Theme,
  withDeadline,
} from 'authkernel/kernel'
import { oneAddress, ownSender, write } from './write-mail.ts'

/** The service `mail`. */
export function createMail({ from, theme }: { from?: string | undefined; theme?: Theme | undefined }): Mail {
  return {
    write: async (ctx, template, data, options = {}) => write(ctx, templateOf(ctx, template), data, options, theme),
    async send(ctx, to, name, data, options = {}) {
      const template = templateOf(ctx, name)
      const carrier = options.transport ?? ctx.service('mailTransport')
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
}

function templateOf(ctx: AnyContext, name: string): MailTemplate {
  const template = ctx.app.mailTemplates.get(name)
  if (template) return template
  const known = [...ctx.app.mailTemplates.keys()].join(', ') || 'none'
  throw new AuthError(`No plugin has declared the mail "${name}" with kernel.mailTemplate. Declared: ${known}.`)
}
