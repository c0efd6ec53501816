/** Mails from templates, in the language of the recipient. */
import {
  type AnyContext,
  type Language,
  type Languages,
  type MailContent,
  type MailOptions,
  type MailTemplate,
  type MailText,
  type MailValue,
  type PageParts,
  type WrittenMail,
} from 'authkernel/kernel'
import { breakLinks, createLanguages, drawMail, withoutLinks } from 'authkernel/kernel/mail'
import type { MailLayout, OwnMail } from './options.ts'

/** Values of a mail by name. */
export type Data = Readonly<Record<string, MailValue>>

const languagesByParts = new WeakMap<PageParts, Languages>()

/** The caller's language, else that of the request. */
export function languageOf(ctx: AnyContext, lang: MailOptions['lang']): Language {
  const { config, parts } = ctx.app
  let choose = languagesByParts.get(parts)
  // The keys of a mail are those of plugins and of the host: the texts of the pages are not needed.
  if (!choose) languagesByParts.set(parts, (choose = createLanguages({}, config.messages, parts.texts)))
  const wanted = lang ?? (ctx.request && (config.locale ? config.locale(ctx.request) : ctx.request.headers.get('accept-language')))
  return choose(wanted)
}

/** A template, its name and the layout of all mails. */
export interface MailForm {
  name: string
  template: MailTemplate
  layout: MailLayout
}

/**
 * The mail in the language of `lang`, else of the request, by the host's own template where there is one. `site` stands for the host of a
 * request that nothing names.
 */
export async function writeMail(
  ctx: AnyContext,
  form: MailForm,
  data: Data,
  { lang }: Pick<MailOptions, 'lang'>,
  site?: string,
): Promise<WrittenMail> {
  const language = languageOf(ctx, lang)
  const values: Record<string, string> = {}
  for (const [key, value] of Object.entries({ site: siteOf(ctx, site), ...data })) values[key] = toPlainText(value, language)
  const content = fillIn(ctx, form, values, language)
  const mail = drawMail(content((key) => language.find(key, values) ?? ''))
  const url = content(() => '').button?.url
  // Templates of the host make a link of no value either, whatever they do with the text.
  const broken = mapValues(values, breakLinks)
  const own = await drawOwn(
    form.layout,
    content((key) => language.find(key, broken) ?? ''),
  )
  return { ...mail, ...own, ...(url !== undefined && { url }) }
}

/** By the template of the host; undefined: it has none for this mail. */
async function drawOwn({ render, reactEmail }: MailLayout, content: MailContent): Promise<OwnMail | undefined> {
  if (render) return render(content)
  const element = reactEmail?.(content)
  if (element === null || element === undefined) return undefined
  const { renderElement } = await import('./react-email.ts')
  return renderElement(element)
}

/** What the template says with these values; `say` finds a text. A paragraph with a missing value is left out. */
function fillIn(
  ctx: AnyContext,
  { name, template, layout }: MailForm,
  values: Readonly<Record<string, string>>,
  language: Language,
): (say: (key: string) => string) => MailContent {
  const { subject, heading = subject, lines, after = [], note, code, button } = template
  const isComplete = (key: string): boolean => placeholdersOf(language.find(key) ?? '').every((value) => Object.hasOwn(values, value))
  const marked = mapValues(values, withoutLinks)
  const url = button && values[button.url]
  const footer = language.find('mail.footer')
  return (say) => {
    const both = (key: string): MailText => ({ text: say(key), html: markupOf(language.find(key) ?? '', marked) })
    return {
      template: name,
      lang: language.lang,
      dir: language.dir,
      subject: say(subject),
      heading: both(heading),
      lines: lines.filter(isComplete).map(both),
      after: after.filter(isComplete).map(both),
      code: code && values[code],
      button: button && url !== undefined ? { label: say(button.text), url, hint: language.find('mail.buttonHint') ?? '' } : undefined,
      note: note === undefined ? undefined : both(note),
      site: values.site,
      logo: layout.logo,
      footer: footer ? both('mail.footer') : undefined,
      theme: { ...ctx.app.config.theme, ...layout.theme },
    }
  }
}

function mapValues(values: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
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

/** Names of the values that a text shows. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

function originOf(ctx: AnyContext): string {
  return ctx.request ? ctx.origin : ctx.settings.origin
}

/** `appName`, else the host that links lead to. */
export function siteOf(ctx: AnyContext, site: string | undefined): string {
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
