/** The mail with the sign-in link: subject, text and HTML. Tables and inline styles, because that is what mail readers draw. */
import type { Theme } from 'authkernel/kernel'

/** What a mail says. */
export interface MessageOptions {
  /** The sign-in link. */
  url: string
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

interface Palette {
  page: string
  card: string
  text: string
  muted: string
  line: string
}
const light: Palette = { page: '#f4f5f7', card: '#ffffff', text: '#16181d', muted: '#5b6270', line: '#e3e5ea' }
const dark: Palette = { page: '#101216', card: '#1b1e24', text: '#f2f3f5', muted: '#a5acb8', line: '#2e333c' }
const brand = '#346df1'

/** Writes the mail. The link must be an http(s) URL of this library: everything else is refused. */
export function createMessage({ url, theme = {}, maxAge }: MessageOptions): Message {
  const { host, protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('The sign-in link is not an http(s) URL.')
  const validity = maxAge === undefined ? 'The link works once.' : `The link works once and expires in ${duration(maxAge)}.`
  const ignore = 'If you did not ask for this email, you can ignore it: nobody is signed in until the link is used.'
  return {
    host,
    subject: `Sign in to ${host}`,
    text: `Sign in to ${host}\n\n${href}\n\n${validity}\n${ignore}\n`,
    html: page({ host, href, validity, ignore, theme }),
  }
}

interface Parts extends Pick<Message, 'host'> {
  href: string
  validity: string
  ignore: string
  theme: Theme
}

function page({ host, href, validity, ignore, theme }: Parts): string {
  const colours = theme.colorScheme === 'dark' ? dark : light
  const both = theme.colorScheme !== 'dark' && theme.colorScheme !== 'light'
  const scheme = both ? 'light dark' : theme.colorScheme
  const background = hexColour(theme.brandColor) ?? brand
  const foreground = hexColour(theme.buttonText) ?? readableOn(background)
  const link = escapeHtml(href)
  const name = unlinked(host)
  const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
  const border = `1px solid ${colours.line}`
  const table = 'role="presentation" border="0" cellpadding="0" cellspacing="0"'
  const large = `${font};font-size:22px;line-height:30px;font-weight:600`
  const medium = `${font};font-size:14px;line-height:21px;color:${colours.muted}`
  const small = `${font};font-size:12px;line-height:18px;color:${colours.muted}`
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="${scheme}">
<meta name="supported-color-schemes" content="${scheme}">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>Sign in</title>
<style>:root{color-scheme:${scheme}}${both ? darkStyle : ''}</style>
</head>
<body class="page" style="margin:0;padding:0;background:${colours.page}">
<table ${table} width="100%" class="page" style="background:${colours.page}"><tr><td align="center" style="padding:32px 16px">
<table ${table} width="100%" class="card" style="max-width:480px;border:${border};border-radius:12px;background:${colours.card}">
<tr><td align="center" class="text" style="padding:40px 32px 8px;color:${colours.text}">
<h1 style="margin:0;${large}">Sign in to ${name}</h1></td></tr>
<tr><td align="center" style="padding:24px 32px">
<table ${table}><tr><td align="center" bgcolor="${background}" style="border-radius:8px;background:${background}">
<a href="${link}" target="_blank" rel="noopener" style="display:inline-block;padding:14px 32px;${font};font-size:16px;line-height:20px;\
font-weight:600;color:${foreground};text-decoration:none;border-radius:8px">Sign in</a></td></tr></table></td></tr>
<tr><td align="center" class="muted" style="padding:0 32px 24px;${medium}">${validity}</td></tr>
<tr><td class="muted line" style="padding:20px 32px;border-top:${border};${small}">
If the button does not work, open this address in your browser:<br>
<a href="${link}" class="muted" style="color:${colours.muted};word-break:break-all">${link}</a></td></tr>
</table>
<p class="muted" style="max-width:480px;margin:20px auto 0;${small}">${ignore}</p>
</td></tr></table>
</body>
</html>
`
}

// Mail readers that know no media queries draw the inline colours, or their own.
const darkStyle: string = [
  '@media (prefers-color-scheme:dark){',
  `.page{background:${dark.page}!important}`,
  `.card{background:${dark.card}!important;border-color:${dark.line}!important}`,
  `.text{color:${dark.text}!important}`,
  `.muted{color:${dark.muted}!important}`,
  `.line{border-color:${dark.line}!important}}`,
].join('')

/** Seconds in words. */
function duration(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60))
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}

/** Colour as `#rgb` or `#rrggbb`, which is what mail readers know; undefined for anything else, so that a theme cannot write styles. */
function hexColour(value: string | undefined): string | undefined {
  const match = /^#(?:([0-9a-f]{6})(?:[0-9a-f]{2})?|([0-9a-f]{3})[0-9a-f]?)$/i.exec(value ?? '')
  return match ? `#${match[1] ?? match[2]}` : undefined
}

/** White where it can be read (WCAG 2.2, 1.4.3, large text), else black. */
function readableOn(colour: string): string {
  const hex = colour.length === 4 ? colour.slice(1).replaceAll(/./g, '$&$&') : colour.slice(1)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 3 ? '#fff' : '#000'
}

/** Keeps mail readers from making a link of a host: a zero-width space before each dot (row 227). */
function unlinked(text: string): string {
  return escapeHtml(text).replaceAll('.', '&#8203;.')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
