/** Writes and sends mails by the names of their templates. */
import { type AnyContext, AuthError, type Mail, MailNotSent, type MailTemplate } from 'authkernel/kernel'
import { mailedHostFault } from 'authkernel/kernel/mail'
import { redactError, withDeadline } from 'authkernel/kernel/protocols'
import { findBounce } from './bounces.ts'
import type { ResolvedOptions } from './options.ts'
import { inventValues } from './preview.ts'
import { type Data, type MailForm, oneAddress, ownSender, writeMail } from './write.ts'

/** The service `mail`. */
export function createMail({ from, layout, bounces }: Pick<ResolvedOptions, 'from' | 'layout' | 'bounces'>): Mail {
  const findForm = (ctx: AnyContext, name: string): MailForm => ({ name, template: findTemplate(ctx, name), layout })
  return {
    write: async (ctx, name, data, options = {}) => writeMail(ctx, findForm(ctx, name), data, options),
    async preview(ctx, name, options = {}) {
      const form = findForm(ctx, name)
      return writeMail(ctx, form, inventValues(ctx, form.template, options.lang), options)
    },
    async send(ctx, to, name, data, options = {}) {
      const form = findForm(ctx, name)
      const bounce = bounces && (await findBounce(ctx, to))
      // To the caller it was sent: who asks for a mail must not learn what happened to an address.
      if (bounce)
        return void (await ctx.emit('noted', {
          name: 'mail.suppressed',
          outcome: 'denied',
          reason: bounce.reason,
          details: { template: name },
        }))
      const carrier = options.transport ?? ctx.service('mailTransport')
      try {
        const fault = mailedHostFault(ctx)
        const sender = from ?? carrier.from
        if (fault && sender === undefined) throw fault
        const usable = fault ? withoutLinks(form.template, data, fault) : data
        const message = {
          ...(await writeMail(ctx, form, usable, options, fault && siteNameOf(sender ?? ''))),
          to: oneAddress(to),
          from: sender ?? ownSender(ctx),
        }
        const { network } = ctx.app.config.deadlines
        await withDeadline(
          network,
          [ctx.signal],
          async (signal) => carrier.send(message, signal, ctx),
          (aborted) => new Error(aborted ? 'the request was given up' : `no answer within ${network} ms (deadlines.network)`),
        )
      } catch (error) {
        const err = redactError(error, [to, ...Object.values(data).filter((value) => typeof value === 'string')])
        throw new MailNotSent(`The mail "${name}" could not be sent: ${err.message}`, { cause: { err, template: name } })
      }
    },
  }
}

/** Without the address of a button that the mail can do without. Throws the fault for any other link. */
function withoutLinks({ button }: MailTemplate, data: Data, fault: Error): Data {
  const rest = Object.entries(data).filter(([name]) => !(button?.optional && name === button.url))
  if (rest.some(([, value]) => typeof value === 'string' && /^\w+:\/\//.test(value))) throw fault
  return Object.fromEntries(rest)
}

/** `Acme` of `Acme <no-reply@acme.example>`, else the domain: how the host app calls itself. */
function siteNameOf(sender: string): string {
  const bracket = sender.lastIndexOf('<')
  const name = sender.slice(0, Math.max(0, bracket)).replaceAll('"', '').trim()
  const domain = sender
    .slice(sender.lastIndexOf('@') + 1)
    .replaceAll('>', '')
    .trim()
  return name || domain
}

function findTemplate(ctx: AnyContext, name: string): MailTemplate {
  const template = ctx.app.mailTemplates.get(name)
  if (template) return template
  const known = [...ctx.app.mailTemplates.keys()].join(', ') || 'none'
  throw new AuthError(`No plugin has declared the mail "${name}" with kernel.mailTemplate. Declared: ${known}.`)
}
