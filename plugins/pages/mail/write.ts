/** Mails from templates, in the language of the recipient. */
import {
  type AnyContext,
  type Language,
  type Languages,
  type MailMessage,
  type MailOptions,
  type MailTemplate,
  type MailText,
  type MailValue,
  type PageParts,
  type Theme,
} from 'authkernel/kernel'
import { createLanguages, drawMail, withoutLinks } from 'authkernel/kernel/mail'

/** Values of a mail by name. */
export type Data = Readonly<Record<string, MailValue>>

const languagesByParts = new WeakMap<PageParts, Languages>()

/** The caller's language, else that of the request. */
function languageOf(ctx: AnyContext, lang: MailOptions['lang']): Language {
  const { config, parts } = ctx.app
  let choose = languagesByParts.get(parts)
  // The keys of a mail are those of plugins and of the host: the texts of the pages are not needed.
  if (!choose) languagesByParts.set(parts, (choose = createLanguages({}, config.messages, parts.texts)))
  const wanted = lang ?? (ctx.request && (config.locale ? config.locale(ctx.request) : ctx.request.headers.get('accept-language')))
  return choose(wanted)
}

/** The mail in the language of `lang`, else of the request. `site` stands for the host of a request that nothing names. */
export function writeMail(
  ctx: AnyContext,
  template: MailTemplate,
  data: Data,
  { lang }: Pick<MailOptions, 'lang'>,
  theme: Theme | undefined,
  site?: string,
): Omit<MailMessage, 'from' | 'to'> {
  const language = languageOf(ctx, lang)
  const { subject, heading = subject, lines, after = [], note } = template
  const values: Record<string, string> = {}
  for (const [key, value] of Object.entries({ site: siteOf(ctx, site), ...data })) values[key] = toPlainText(value, language)
  const named = (key: string): boolean => placeholdersOf(language.find(key) ?? '').every((name) => Object.hasOwn(values, name))
  const marked = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, withoutLinks(value)]))
  const both = (key: string): MailText => ({ text: language.find(key, values) ?? '', html: markupOf(language.find(key) ?? '', marked) })
  const url = template.button && values[template.button.url]
  const mail = drawMail({
    lang: language.lang,
    dir: language.dir,
    subject: language.find(subject, values) ?? '',
    heading: both(heading),
    lines: lines.filter(named).map(both),
    after: after.filter(named).map(both),
    code: template.code && values[template.code],
    button:
      template.button && url !== undefined
        ? { label: language.find(template.button.text, values) ?? '', url, hint: language.find('mail.buttonHint') ?? '' }
        : undefined,
    note: note === undefined ? undefined : both(note),
    theme: { ...ctx.app.config.theme, ...theme },
  })
  return { ...mail, ...(url !== undefined && { url }) }
}

/** Values come from users and from what browsers send: one line of at most 320 characters, without those that turn text around. Codes and addresses stay whole. */
function toPlainText(value: MailValue, language: Language): string {
  if (value instanceof Date) return language.date(value)
  if (typeof value === 'object') return language.duration(value.seconds)
  const text = String(value).replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
  return /^https?:/.test(text) || text.length <= 320 ? text : `${text.slice(0, 320)}…`
}

/** Texts are ours and the host's: escaped too, so that a `&` is one. Values are markup already. */
function markupOf(text: string, values: Readonly<Record<string, string>>): string {
  return text
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith('{') && Object.hasOwn(values, part.slice(1, -1)) ? values[part.slice(1, -1)] : escapeText(part)))
    .join('')
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function placeholdersOf(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

function originOf(ctx: AnyContext): string {
  return ctx.request ? ctx.origin : ctx.settings.origin
}

/** `appName`, else the host that links lead to. */
function siteOf(ctx: AnyContext, site: string | undefined): string {
  const { appName } = ctx.app.config
  if (site !== undefined) return appName || site
  const origin = originOf(ctx)
  return appName || (origin === '' ? '' : new URL(origin).host)
}

/** Where neither the plugin nor the transport names one. */
export function ownSender(ctx: AnyContext): string {
  const origin = originOf(ctx)
  if (origin === '') throw new Error('a mail of a job has no sender: set AUTH_URL, or give mailPlugin or the email provider `from`')
  return `no-reply@${new URL(origin).hostname}`
}

/** Mailers read a comma or a line break as a second recipient. */
export function oneAddress(to: string): string {
  if (to.length <= 320 && /^[^\s@,;:<>()[\]\\"\p{C}]+@[^\s@,;:<>()[\]\\"\p{C}]+$/u.test(to)) return to
  throw new Error('the recipient is not one mail address')
}
