import { describe, expect, it } from 'vitest'
import { createMessage } from '../../plugins/sign-in/email/message.ts'

const query = new URLSearchParams({ callbackUrl: 'https://app.example:8443/?a=1&b=2', token: 't0', email: 'ada@mail.example' })
const url = `https://app.example:8443/auth/callback/nodemailer?${query}`

/** Hexadecimal colour to relative luminance (WCAG 2.2). */
function luminance(hex: string): number {
  const long = hex.length === 4 ? hex.slice(1).replaceAll(/./g, '$&$&') : hex.slice(1)
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => {
    const c = Number.parseInt(long.slice(at, at + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: string, b: string): number => {
  const [x = 0, y = 0] = [luminance(a), luminance(b)].sort((p, q) => q - p)
  return (x + 0.05) / (y + 0.05)
}
const buttonOf = (html: string): { background: string; text: string } => ({
  background: /bgcolor="([^"]*)"/.exec(html)?.[1] ?? '',
  text: /font-weight:\s*600;color:([^;]*);text-decoration:none/.exec(html)?.[1] ?? '',
})

describe('createMessage', () => {
  it('row 227: subject, text and HTML name the host and carry the link', () => {
    const { host, subject, text, html } = createMessage({ url, maxAge: 600 })
    expect(host).toBe('app.example:8443')
    expect(subject).toBe('Sign in to app.example:8443')
    expect(text).toContain(`\n${url}\n`)
    expect(text).toContain('expires in 10 minutes')
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'))
    expect(links).toEqual([url, url])
  })

  it('row 227: the host is not made a link by mail readers', () => {
    const { html, subject } = createMessage({ url })
    expect(html).toContain('Sign in to app&#8203;.example:8443')
    expect(subject).not.toContain('\u200B')
  })

  it('row 227: colours of the theme, with the defaults of Auth.js', () => {
    expect(buttonOf(createMessage({ url }).html)).toEqual({ background: '#346df1', text: '#fff' })
    const themed = createMessage({ url, theme: { brandColor: '#0a7', buttonText: '#FEFEFE' } }).html
    expect(buttonOf(themed)).toEqual({ background: '#0a7', text: '#FEFEFE' })
    expect(buttonOf(createMessage({ url, theme: { brandColor: '#336699cc' } }).html).background).toBe('#336699')
  })

  it.each(['red', '#12', '#12345', '#zzz', '#fff;background:url(https://evil.example)', '"><script>', '#fff"', 'url(x)', ''])(
    'row 284: the theme colour %j does not reach the mail',
    (colour) => {
      const { html } = createMessage({ url, theme: { brandColor: colour, buttonText: colour } })
      expect(buttonOf(html)).toEqual({ background: '#346df1', text: '#fff' })
      expect(html).not.toContain('evil')
      expect(html).not.toContain('<script')
    },
  )

  it('row 227: without a text colour the button can be read on every brand colour', () => {
    for (const brandColor of ['#fc0', '#ffffff', '#000', '#346df1', '#7f7f7f', '#00ff00', '#ff0000', '#0000ff']) {
      const { background, text } = buttonOf(createMessage({ url, theme: { brandColor } }).html)
      expect(contrast(background, text)).toBeGreaterThanOrEqual(3)
    }
  })

  it('row 284, GHSA-pgjx-7f9g-9463: nothing of the link is markup', () => {
    const callbackUrl = encodeURIComponent('"><img src=x onerror=alert(1)>')
    const hostile = `https://app.example/auth/callback/x?callbackUrl=${callbackUrl}&token='"><b>&email=a'b@c.example`
    const { html } = createMessage({ url: hostile })
    expect(html).not.toMatch(/<img|<b>/)
    expect(html).not.toContain("'><")
    expect(html.match(/<a /g)).toHaveLength(2)
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'ftp://app.example/', 'not a url'])('row 227: %j is not a sign-in link', (link) => {
    expect(() => createMessage({ url: link })).toThrow(Error)
  })

  it('row 227: nothing is loaded from outside, dark and light are both drawn', () => {
    const { html } = createMessage({ url })
    expect(html).not.toMatch(/<img|<link|src=|@import|url\(/)
    expect(html).toContain('prefers-color-scheme:dark')
    expect(html).toContain('content="light dark"')
    expect(createMessage({ url, theme: { colorScheme: 'light' } }).html).not.toContain('prefers-color-scheme')
    expect(createMessage({ url, theme: { colorScheme: 'dark' } }).html).toContain('content="dark"')
    expect(createMessage({ url, theme: { colorScheme: 'auto' } }).html).toContain('prefers-color-scheme:dark')
  })

  it('row 227: every layout table is hidden from screen readers, the language is given', () => {
    const { html } = createMessage({ url })
    expect(html.match(/<table /g)?.length).toBe(html.match(/<table role="presentation"/g)?.length)
    expect(html).toContain('<html lang="en"')
    expect(html.match(/<h1/g)).toHaveLength(1)
  })

  it.each([
    [30, 'a minute'],
    [60, 'a minute'],
    [600, '10 minutes'],
    [3600, '60 minutes'],
    [86_400, '24 hours'],
    [604_800, '7 days'],
  ])('row 216: a lifetime of %i seconds is told as %s', (maxAge, words) => {
    expect(createMessage({ url, maxAge }).text).toContain(`expires in ${words}.`)
  })

  it('row 216: no lifetime is made up', () => {
    expect(createMessage({ url }).text).toContain('The link works once.')
    expect(createMessage({ url }).text).not.toContain('expires')
  })
})
