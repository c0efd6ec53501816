/** The service `mail`: templates of plugins, written in the language of whoever reads them, as text and as HTML. */
import {
  type AnyContext,
  AuthError,
  drawMail,
  type Mail,
  type MailMessage,
  MailNotSent,
  type MailOptions,
  type MailTemplate,
  type MailText,
  type MailTransport,
  type MailValue,
  type PageParts,
  type Plugin,
  redactError,
  type Theme,
  unlinked,
  withDeadline,
} from 'authkernel/kernel'
import { makeSpeakers, type Speaker, type Speakers } from './speaker.ts'
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
type Data = Readonly<Record<string, MailValue>>

const speakers = new WeakMap<PageParts, Speakers>()

/** Brings the service `mail`, and `mailTransport` where `transport` is given. */
export function mailPlugin({ from, transport, theme }: MailPluginOptions = {}): Plugin {
  const mail: Mail = {
    write: (ctx, template, data, { lang } = {}) => write(ctx, templateOf(ctx, template), data, speakerFor(ctx, lang), theme),
    async send(ctx, to, name, data, options = {}) {
      const template = templateOf(ctx, name)
      const carrier = options.transport ?? ctx.service('mailTransport')
      try {
        const message = {
          ...write(ctx, template, data, speakerFor(ctx, options.lang), theme),
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

/** The caller's language, else that of the request. */
function speakerFor(ctx: AnyContext, lang: MailOptions['lang']): Speaker {
  const { config, parts } = ctx.app
  let speak = speakers.get(parts)
  // The keys of a mail are those of plugins and of the host: the texts of the pages are not needed.
  if (!speak) speakers.set(parts, (speak = makeSpeakers({}, config.messages, parts.texts)))
  const wanted = lang ?? (ctx.request && (config.locale ? config.locale(ctx.request) : ctx.request.headers.get('accept-language')))
  return speak(wanted)
}

function write(
  ctx: AnyContext,
  template: MailTemplate,
  data: Data,
  speaker: Speaker,
  theme: Theme | undefined,
): Omit<MailMessage, 'from' | 'to'> {
  const { subject, heading = subject, lines, after = [], note } = template
  const values: Record<string, string> = {}
  for (const [key, value] of Object.entries({ site: siteOf(ctx), ...data })) values[key] = worded(value, speaker)
  const named = (key: string): boolean => placeholders(speaker.find(key) ?? '').every((name) => Object.hasOwn(values, name))
  const marked = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, unlinked(value)]))
  const both = (key: string): MailText => ({ text: speaker.find(key, values) ?? '', html: markupOf(speaker.find(key) ?? '', marked) })
  const url = template.button && values[template.button.url]
  const drawn = drawMail({
    lang: speaker.lang,
    dir: speaker.dir,
    subject: speaker.find(subject, values) ?? '',
    heading: both(heading),
    lines: lines.filter(named).map(both),
    after: after.filter(named).map(both),
    code: template.code && values[template.code],
    button:
      template.button && url !== undefined
        ? { label: speaker.find(template.button.text, values) ?? '', url, hint: speaker.find('mail.buttonHint') ?? '' }
        : undefined,
    note: note === undefined ? undefined : both(note),
    theme: { ...ctx.app.config.theme, ...theme },
  })
  return { ...drawn, ...(url !== undefined && { url }) }
}

/** Values come from people and from what browsers send: one line, no characters that turn text around, bounded. Codes and addresses stay whole. */
function worded(value: MailValue, speaker: Speaker): string {
  if (value instanceof Date) return speaker.date(value)
  if (typeof value === 'object') return speaker.duration(value.seconds)
  const text = String(value).replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
  return /^https?:/.test(text) || text.length <= 320 ? text : `${text.slice(0, 320)}…`
}

/** Texts are ours and the host's: escaped too, so that a `&` is one. Values are markup already. */
function markupOf(text: string, values: Readonly<Record<string, string>>): string {
  return text
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith('{') && Object.hasOwn(values, part.slice(1, -1)) ? values[part.slice(1, -1)] : escaped(part)))
    .join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

function originOf(ctx: AnyContext): string {
  return ctx.request ? ctx.origin : ctx.settings.origin
}

/** `appName`, else the host that links lead to. */
function siteOf(ctx: AnyContext): string {
  const { appName } = ctx.app.config
  const origin = originOf(ctx)
  return appName || (origin === '' ? '' : new URL(origin).host)
}

function ownSender(ctx: AnyContext): string {
  const origin = originOf(ctx)
  if (origin === '') throw new Error('a mail of a job has no sender: set AUTH_URL, or give mailPlugin or the email provider `from`')
  return `no-reply@${new URL(origin).hostname}`
}

/** Mailers read a comma or a line break as a second recipient. */
function oneAddress(to: string): string {
  if (to.length <= 320 && /^[^\s@,;:<>()[\]\\"\p{C}]+@[^\s@,;:<>()[\]\\"\p{C}]+$/u.test(to)) return to
  throw new Error('the recipient is not one mail address')
}
