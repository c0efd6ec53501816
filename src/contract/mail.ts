/** Mails: templates made of messages, the service that writes them, and what carries them. Types only. */
import type { AnyContext } from './context.ts'
import type { Awaitable, Theme } from './data.ts'

/** What a mail of one kind says: keys of `kernel.messages`. Texts may name `{values}` of `data`, and `{site}`. */
export interface MailTemplate {
  subject: string
  /** Above the text; default: the subject. */
  heading?: string
  /** Paragraphs. One that names a value which `data` lacks is left out. */
  lines: readonly string[]
  /** Paragraphs below code and button. */
  after?: readonly string[]
  /** Name of the value that is a code to type: shown large. */
  code?: string
  /**
   * A button: key of its text, name of the value that is its address. Where the host of the app is known from a request alone, a mail with a link is
   * not sent; with `optional` it goes out without the button.
   */
  button?: { text: string; url: string; optional?: boolean }
  /** In small letters at the end. */
  note?: string
}
/** A value in a mail: text as it is, a moment, or a length of time in words. */
export type MailValue = string | number | Date | { readonly seconds: number }

/** One mail, ready to be carried. */
export interface MailMessage {
  /** One mailbox: `Acme <no-reply@acme.example>`. */
  from: string
  /** One address. */
  to: string
  subject: string
  text: string
  html: string
  /** Address of the button, for mailers with custom templates. */
  url?: string
}
/** What carries mails: nodemailer, an HTTP API, or the host's own. Throws when the mail was not accepted. */
export interface MailTransport {
  /** Sender of mails that it carries; default: `no-reply@` and the own host. */
  readonly from?: string | undefined
  /** Sends one mail. Throws if it was not accepted. */
  send(message: MailMessage, signal: AbortSignal, ctx: AnyContext): Awaitable<void>
  /** Connects and signs in, and sends nothing. Throws when mails could not be sent. */
  verify?(signal: AbortSignal): Awaitable<void>
}
/** How one mail is sent. */
export interface MailOptions {
  /** BCP 47 tag; default: the language of the request, for a job English. */
  lang?: string | undefined
  /** Default: the service `mailTransport`. */
  transport?: MailTransport | undefined
}
/** Writes and sends mails. */
export interface Mail {
  /**
   * Sends one mail within `deadlines.network`. Throws MailNotSent, without the values of `data` in its message, and AuthError for a template
   * that no plugin declared.
   */
  send(ctx: AnyContext, to: string, template: string, data: Readonly<Record<string, MailValue>>, options?: MailOptions): Promise<void>
  /** The same mail without sending it: for previews and tests. */
  write(ctx: AnyContext, template: string, data: Readonly<Record<string, MailValue>>, options?: MailOptions): Promise<WrittenMail>
  /** The mail with invented values, in each of its languages by `lang`: for a page that shows all mails. Throws AuthError as `send` does. */
  preview(ctx: AnyContext, template: string, options?: Pick<MailOptions, 'lang'>): Promise<WrittenMail>
}

/** A text in both forms of a mail. `html` is markup. */
export interface MailText {
  text: string
  html: string
}
/** What a mail is drawn from. Texts are in the language of the recipient. */
export interface MailContent {
  /** Name of the template: `email.link`. */
  template?: string | undefined
  /** BCP 47 tag of the texts. */
  lang: string
  dir: 'ltr' | 'rtl'
  subject: string
  heading: MailText
  lines: readonly MailText[]
  after: readonly MailText[]
  code?: string | undefined
  button?: { label: string; url: string; /** "If the button does not work, …". */ hint: string } | undefined
  note?: MailText | undefined
  /** Name of the app: shown above the text, and instead of a logo that is not loaded. */
  site?: string | undefined
  /** Absolute https URL of the logo. Mail readers load no other image. */
  logo?: string | undefined
  /** Below the mail: an address, a way to reach support. */
  footer?: MailText | undefined
  theme?: Theme | undefined
}
/** A mail that is written, without its sender and recipient. */
export type WrittenMail = Omit<MailMessage, 'from' | 'to'>
