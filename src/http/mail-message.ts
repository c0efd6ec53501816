/** What a mail looks like: text, and HTML with tables and inline styles, because that is what mail readers draw. */
import type { MailContent, MailText } from '../contract/mail.ts'

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

/** Draws a mail. `html` of its texts is markup already; everything else is escaped. The button leads to an http(s) URL, everything else is rejected. */
export function drawMail(content: MailContent): { subject: string; text: string; html: string } {
  const { subject, heading, lines, after, code, button, note, footer } = content
  const url = button && linkText(button.url)
  const paragraphs = (list: readonly MailText[]): string => list.map(({ text }) => text).join('\n')
  const parts = [heading.text, paragraphs(lines), code, url, [paragraphs(after), note?.text].filter(Boolean).join('\n'), footer?.text]
  return { subject, text: `${parts.filter(Boolean).join('\n\n')}\n`, html: drawPage(content, url) }
}

/** Keeps mail readers from making a link of a host or a name: a zero-width space before each dot, and none of it is markup. */
export function withoutLinks(text: string): string {
  return escapeHtml(text).replaceAll('.', '&#8203;.')
}

/** The same as text, for templates that escape by themselves. */
export function breakLinks(text: string): string {
  return text.replaceAll('.', '\u200B.')
}

function linkText(url: string): string {
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('The link of the mail is not an http(s) URL.')
  return href
}

function drawPage(content: MailContent, url: string | undefined): string {
  const { lang, dir, heading, lines, after, code, button, note, footer, theme = {} } = content
  const colours = theme.colorScheme === 'dark' ? dark : light
  const both = theme.colorScheme !== 'dark' && theme.colorScheme !== 'light'
  const scheme = both ? 'light dark' : theme.colorScheme
  const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
  const border = `1px solid ${colours.line}`
  const large = `${font};font-size:22px;line-height:30px;font-weight:600`
  const medium = `${font};font-size:14px;line-height:21px;color:${colours.muted}`
  const small = `${font};font-size:12px;line-height:18px;color:${colours.muted}`
  const rows = [
    `<tr><td align="center" class="text" style="padding:40px 32px 8px;color:${colours.text}">
<h1 style="margin:0;${large}">${heading.html}</h1></td></tr>`,
    ...lines.map(
      ({ html }) =>
        `<tr><td align="center" class="text" style="padding:12px 32px 0;${font};font-size:15px;line-height:23px;color:${colours.text}">${html}</td></tr>`,
    ),
    code !== undefined &&
      `<tr><td align="center" class="text" style="padding:24px 32px 0;color:${colours.text}">
<span style="font-family:ui-monospace,Menlo,Consolas,monospace;font-size:32px;line-height:40px;font-weight:600;letter-spacing:6px">${escapeHtml(code)}</span></td></tr>`,
    button && drawButton(button.label, url as string, theme, font),
    !button && `<tr><td style="padding:0 0 24px"></td></tr>`,
    ...after.map(({ html }) => `<tr><td align="center" class="muted" style="padding:0 32px 24px;${medium}">${html}</td></tr>`),
    button &&
      `<tr><td class="muted line" style="padding:20px 32px;border-top:${border};${small}">
${escapeHtml(button.hint)}<br>
<a href="${escapeHtml(url as string)}" class="muted" style="color:${colours.muted};word-break:break-all">${escapeHtml(url as string)}</a></td></tr>`,
  ]
  return `<!doctype html>
<html lang="${escapeHtml(lang)}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="${scheme}">
<meta name="supported-color-schemes" content="${scheme}">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${escapeHtml(heading.text)}</title>
<style>:root{color-scheme:${scheme}}${both ? darkStyle : ''}</style>
</head>
<body class="page" style="margin:0;padding:0;background:${colours.page}">
<table ${table} width="100%" class="page" style="background:${colours.page}"><tr><td align="center" style="padding:32px 16px">
${drawHeader(content, `${font};font-size:16px;line-height:24px;font-weight:600;color:${colours.text}`)}<table ${table} width="100%" class="card" style="max-width:480px;border:${border};border-radius:12px;background:${colours.card}">
${rows.filter(Boolean).join('\n')}
</table>
${[note, footer].map((text) => (text ? `<p class="muted" style="max-width:480px;margin:20px auto 0;${small}">${text.html}</p>\n` : '')).join('')}\
</td></tr></table>
</body>
</html>
`
}

/** The logo of the app, else its name. Mail readers show the name until a reader allows images. */
function drawHeader({ site = '', logo }: MailContent, style: string): string {
  const name = withoutLinks(site)
  if (logo !== undefined) {
    return `<p style="margin:0 0 20px"><img src="${escapeHtml(logo)}" alt="${name}" height="40" style="height:40px;max-width:240px;border:0;${style}"></p>\n`
  }
  return site === '' ? '' : `<p class="text" style="margin:0 0 20px;${style}">${name}</p>\n`
}

const table = 'role="presentation" border="0" cellpadding="0" cellspacing="0"'

function drawButton(label: string, url: string, theme: NonNullable<MailContent['theme']>, font: string): string {
  const background = hexColour(theme.brandColor) ?? brand
  const foreground = hexColour(theme.buttonText) ?? readableOn(background)
  return `<tr><td align="center" style="padding:24px 32px">
<table ${table}><tr><td align="center" bgcolor="${background}" style="border-radius:8px;background:${background}">
<a href="${escapeHtml(url)}" target="_blank" rel="noopener" style="display:inline-block;padding:14px 32px;${font};font-size:16px;line-height:20px;\
font-weight:600;color:${foreground};text-decoration:none;border-radius:8px">${escapeHtml(label)}</a></td></tr></table></td></tr>`
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

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
