/** What carries codes to an address: the mails of this library, or a `send` of the host. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type Context, type MailValue } from 'authkernel/kernel'
import type { CodeMessage } from './kind.ts'
import { messages } from './messages.ts'

/** Carries messages. Made by `email()`, or an object with `send`. */
export interface CodeChannel {
  /** Whether messages have a link beside the code; default true. */
  readonly link?: boolean
  /** Sends one message. What it throws is logged, and the code is void. */
  send(message: CodeMessage, ctx: Context): Awaitable<unknown>
}

const mailChannels = new WeakSet<CodeChannel>()

/** Mails of this library, through the service `mail`: code and link in one mail. `link: false` leaves the link out. */
export function email(options: { link?: boolean } = {}): CodeChannel {
  assertOptions('email', options, { link: true })
  const { link = true } = options
  const channel: CodeChannel = { link, send: ({ to, code, url, expires }, ctx) => sendCodeMail(ctx, to, { code, url, expires }) }
  mailChannels.add(channel)
  return channel
}

/** Whether a channel needs the service `mail`. */
export function isMail(channel: CodeChannel): boolean {
  return mailChannels.has(channel)
}

/** Throws AuthError for a channel without `send`. */
export function checkChannel(plugin: string, channel: CodeChannel): CodeChannel {
  if (typeof channel?.send === 'function') return channel
  throw new AuthError(`Plugin "${plugin}": \`via\` must be email(), or an object with a function \`send(message)\`.`)
}

/** The message as plain text, in the language of the visitor. `bound`: with the last line that phones read. */
export function messageText(ctx: Context, { code, url }: Omit<CodeMessage, 'text'>, bound: boolean): string {
  const site = ctx.app.config.appName || new URL(ctx.origin).host
  const say = (key: keyof typeof messages.en): string =>
    textInLanguage(ctx, key)
      .replace('{site}', site)
      .replace('{code}', code ?? '')
  const lines = [code !== undefined && say('codes.text'), url !== undefined && `${say('codes.text-link')} ${url}`, say('codes.never-tell')]
  // Origin-bound one-time codes: `@host #123456` fills in on this host alone.
  if (bound && code !== undefined) lines.push(`\n@${new URL(ctx.origin).hostname} #${code}`)
  return lines.filter(Boolean).join('\n')
}

async function sendCodeMail(
  ctx: Context,
  to: string,
  { code, url, expires }: Pick<CodeMessage, 'code' | 'url' | 'expires'>,
): Promise<void> {
  const device = deviceOf(ctx.facts.userAgent)
  const { address } = ctx.facts
  const data: Record<string, MailValue> = {
    left: { seconds: Math.round((expires.getTime() - ctx.now.getTime()) / 1000) },
    ...(code !== undefined && { code }),
    ...(url !== undefined && { url }),
    ...(device !== undefined && { device }),
    ...(address !== undefined && { address }),
  }
  await ctx.service('mail').send(ctx, to, code === undefined ? 'codes.link' : url === undefined ? 'codes.code' : 'codes.both', data)
}

function textInLanguage(ctx: AnyContext & Context, key: keyof typeof messages.en): string {
  const { config } = ctx.app
  const wanted = config.locale ? config.locale(ctx.request) : (ctx.request.headers.get('accept-language') ?? '')
  const lang = wanted.split(/[,;-]/, 1)[0]?.trim().toLowerCase() ?? ''
  const own = config.messages?.[lang] as Readonly<Record<string, string>> | undefined
  const known = (messages as Readonly<Record<string, Readonly<Record<string, string>>>>)[lang]
  return own?.[key] ?? known?.[key] ?? messages.en[key]
}

const browsers: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** The browser that asked, in words, so that the owner of the mailbox sees whether it was theirs: `Firefox, Linux`; undefined: unknown. */
export function deviceOf(userAgent = ''): string | undefined {
  const find = (names: readonly [RegExp, string][]): string | undefined => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  const found = [find(browsers), find(systems)].filter(Boolean)
  return found.length > 0 ? found.join(', ') : undefined
}
