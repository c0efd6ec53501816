/** The mail with the sign-in link, for hosts that send it themselves. */
import { type Theme } from 'authkernel/kernel'
import { drawMail, withoutLinks } from 'authkernel/kernel/mail'
import { en } from './messages.ts'

/** What a mail says. */
export interface MessageOptions {
  /** The sign-in link. */
  url: string
  /** Colours and logo; default: those of authkernel. */
  theme?: Theme | undefined
  /** Lifetime of the link in seconds; left out of the text when unknown. */
  maxAge?: number | undefined
}
/** The three parts of a mail. */
export interface Message {
  /** Host and port that the link leads to. */
  host: string
  subject: string
  text: string
  html: string
}

/** Writes the mail in English. The link must be an http(s) URL of this library: everything else is rejected. */
export function createMessage({ url, theme = {}, maxAge }: MessageOptions): Message {
  const { host } = new URL(url)
  const say = (key: keyof typeof en, values: Readonly<Record<string, string>> = {}): string =>
    en[key].replace(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? '')
  const both = (text: string): { text: string; html: string } => ({ text, html: text })
  const validity = maxAge === undefined ? 'The link works once.' : say('email.link.validity', { duration: formatDuration(maxAge) })
  return {
    host,
    ...drawMail({
      lang: 'en',
      dir: 'ltr',
      subject: say('email.link.subject', { site: host }),
      heading: { text: say('email.link.subject', { site: host }), html: say('email.link.subject', { site: withoutLinks(host) }) },
      lines: [],
      after: [both(validity)],
      button: { label: say('email.link.submit'), url, hint: 'If the button does not work, open this address in your browser:' },
      note: both(say('email.link.ignore')),
      theme,
    }),
  }
}

/** Seconds in words. */
function formatDuration(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60))
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
