/** Options of `mailPlugin`, and what all mails share. */
import {
  type Awaitable,
  assertOptions,
  assertTheme,
  AuthError,
  type MailContent,
  type MailTransport,
  type Messages,
  type Theme,
  type WrittenMail,
} from 'authkernel/kernel'

/** What an own template returns. What is absent is as built in. */
export type OwnMail = Partial<Pick<WrittenMail, 'subject' | 'text' | 'html'>>

/** How reports of mailers are checked; name the mailers that you use. */
export interface BouncesOptions {
  /** `secret`: the signing secret of the webhook, `whsec_…`. */
  resend?: { secret: string } | undefined
  /** Name and password that the address of the webhook has: `https://name:password@app.example/auth/mail/bounces/postmark`. */
  postmark?: { username: string; password: string } | undefined
  /** `signingKey`: the HTTP webhook signing key of the account. */
  mailgun?: { signingKey: string } | undefined
  /** `topics`: ARNs of the SNS topics that SES publishes to. Their `SignatureVersion` must be 2. */
  ses?: { topics: readonly string[] } | undefined
}

/** Options of `mailPlugin`. */
export interface MailPluginOptions {
  /** Sender: `Acme <no-reply@acme.example>`. Default: that of the transport, else `no-reply@` and the own host. */
  from?: string | undefined
  /** Carries all mails for which the caller names nothing else; default: the first email provider that sends what it is given. */
  transport?: MailTransport | undefined
  /** Colours. Default: those of `createAuth`. */
  theme?: Theme | undefined
  /** https URL of the logo above each mail, drawn 40 pixels high. Default: the name of the app as text. Mail readers load no `data:` URL. */
  logo?: string | undefined
  /** Text below each mail, such as a postal address: one for all languages, or by language (`{ en: '…', de: '…' }`). Default: none. */
  footer?: string | Readonly<Record<string, string>> | undefined
  /**
   * Own template for all mails, or for some: it gets the texts in the language of the recipient and returns `html`, `text` and `subject`. What it
   * leaves out is as built in; it may look at `mail.template`. In `text` of its input, values of users have zero-width spaces before dots, so that
   * mail readers make no link of them; `html` of its input is markup.
   */
  render?: ((mail: MailContent) => Awaitable<OwnMail | undefined>) | undefined
  /**
   * Takes reports of mailers at `POST <basePath>/mail/bounces/<mailer>`: an address that bounced for good, or whose owner complained, gets no more mails. Needs a store with
   * records. Default: none are taken.
   */
  bounces?: BouncesOptions | undefined
  /** Own template as an element of React, drawn by `@react-email/render` as HTML and as text. `null` leaves a mail as built in. */
  reactEmail?: ((mail: MailContent) => unknown) | undefined
}

/** What all mails have in common. */
export interface MailLayout {
  theme: Theme | undefined
  logo: string | undefined
  render: MailPluginOptions['render']
  reactEmail: MailPluginOptions['reactEmail']
}

/** Options with a checked layout. Throws InvalidOptions for an unknown or unusable one. */
export interface ResolvedOptions {
  from: string | undefined
  transport: MailTransport | undefined
  layout: MailLayout
  messages: Messages
  bounces: BouncesOptions | undefined
}

const owner = 'Plugin "mail"'

/** Checks the options. */
export function resolveOptions(options: MailPluginOptions): ResolvedOptions {
  assertOptions(owner, options, {
    from: true,
    transport: true,
    theme: true,
    logo: true,
    footer: true,
    render: true,
    reactEmail: true,
    bounces: true,
  })
  const { from, transport, theme, logo, footer, render, reactEmail, bounces } = options
  if (bounces) checkBounces(bounces)
  assertTheme(owner, theme)
  if (logo !== undefined && !/^https:\/\//.test(logo)) {
    throw new AuthError(`${owner}: \`logo\` must be an absolute https URL, because mail readers load no other image.`)
  }
  if (render && reactEmail) throw new AuthError(`${owner}: give \`render\` or \`reactEmail\`, not both.`)
  return {
    from,
    transport,
    layout: { theme, logo, render, reactEmail },
    messages: footer === undefined ? {} : footersByLanguage(footer),
    bounces,
  }
}

function footersByLanguage(footer: string | Readonly<Record<string, string>>): Messages {
  const texts = typeof footer === 'string' ? { en: footer, de: footer, fr: footer, es: footer, ja: footer } : footer
  return Object.fromEntries(Object.entries(texts).map(([lang, text]) => [lang, { 'mail.footer': text }]))
}

const secretNames = { resend: 'secret', postmark: 'password', mailgun: 'signingKey', ses: 'topics' } as const

function checkBounces(bounces: BouncesOptions): void {
  assertOptions(owner, bounces, { resend: true, postmark: true, mailgun: true, ses: true }, 'bounces')
  for (const [mailer, name] of Object.entries(secretNames)) {
    const given = bounces[mailer as keyof typeof secretNames] as Record<string, unknown> | undefined
    // A short secret, or one that the environment lacks, would let any visitor stop the mails of another.
    if (given && String(given[name] ?? '').length < 16)
      throw new AuthError(`${owner}: \`bounces.${mailer}.${name}\` must have at least 16 characters.`)
  }
}
